// What Warpbook's kernels may use without the CUDA toolkit's headers. NVRTC
// includes this file before every source. Names of the toolkit keep their
// meaning; what is Warpbook's own is in namespace warpbook.
#pragma once

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef unsigned long size_t;
typedef unsigned long uintptr_t;

#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#define CUDART_INF_F INFINITY
#define CUDART_NAN_F NAN
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)

#define WB_FN __device__ __forceinline__

// 16-bit floats: binary16 and bfloat16.

struct __align__(2) __half {
  unsigned short x;
  __half() = default;
  WB_FN __half(float v) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(x) : "f"(v)); }
  WB_FN explicit __half(double v) { asm("cvt.rn.f16.f64 %0, %1;" : "=h"(x) : "d"(v)); }
  WB_FN explicit __half(int v) : __half((float)v) {}
  WB_FN operator float() const { float f; asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(x)); return f; }
  WB_FN __half& operator=(float v) { return *this = __half(v); }
};

struct __align__(2) __nv_bfloat16 {
  unsigned short x;
  __nv_bfloat16() = default;
  WB_FN __nv_bfloat16(float v) { asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(x) : "f"(v)); }
  WB_FN explicit __nv_bfloat16(double v) : __nv_bfloat16((float)v) {}
  WB_FN explicit __nv_bfloat16(int v) : __nv_bfloat16((float)v) {}
  WB_FN operator float() const { return __int_as_float((int)x << 16); }
  WB_FN __nv_bfloat16& operator=(float v) { return *this = __nv_bfloat16(v); }
};

struct __align__(4) __half2 { __half x, y; };
struct __align__(4) __nv_bfloat162 { __nv_bfloat16 x, y; };
typedef __half half;
typedef __half2 half2;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

WB_FN float __half2float(__half h) { return (float)h; }
WB_FN __half __float2half(float f) { return __half(f); }
WB_FN __half __float2half_rn(float f) { return __half(f); }
WB_FN __half __ushort_as_half(unsigned short v) { __half h; h.x = v; return h; }
WB_FN unsigned short __half_as_ushort(__half h) { return h.x; }
WB_FN float __bfloat162float(__nv_bfloat16 h) { return (float)h; }
WB_FN __nv_bfloat16 __float2bfloat16(float f) { return __nv_bfloat16(f); }
WB_FN __nv_bfloat16 __float2bfloat16_rn(float f) { return __nv_bfloat16(f); }
WB_FN __nv_bfloat16 __ushort_as_bfloat16(unsigned short v) { __nv_bfloat16 h; h.x = v; return h; }
WB_FN unsigned short __bfloat16_as_ushort(__nv_bfloat16 h) { return h.x; }

WB_FN __half2 __halves2half2(__half a, __half b) { __half2 h; h.x = a; h.y = b; return h; }
WB_FN __half2 __floats2half2_rn(float a, float b) { return __halves2half2(__half(a), __half(b)); }
WB_FN __half2 __float2half2_rn(float a) { return __halves2half2(__half(a), __half(a)); }
WB_FN __half __low2half(__half2 h) { return h.x; }
WB_FN __half __high2half(__half2 h) { return h.y; }
WB_FN float __low2float(__half2 h) { return (float)h.x; }
WB_FN float __high2float(__half2 h) { return (float)h.y; }
WB_FN float2 __half22float2(__half2 h) { return make_float2((float)h.x, (float)h.y); }
WB_FN __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { __nv_bfloat162 h; h.x = a; h.y = b; return h; }
WB_FN __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return __halves2bfloat162(__nv_bfloat16(a), __nv_bfloat16(b)); }
WB_FN float __low2float(__nv_bfloat162 h) { return (float)h.x; }
WB_FN float __high2float(__nv_bfloat162 h) { return (float)h.y; }
WB_FN float2 __bfloat1622float2(__nv_bfloat162 h) { return make_float2((float)h.x, (float)h.y); }

// Arithmetic in the type's own precision, rounded once an operation.
#define WB_HALF_BINARY(name, op) \
  WB_FN __half name(__half a, __half b) { __half r; asm(op ".f16 %0, %1, %2;" : "=h"(r.x) : "h"(a.x), "h"(b.x)); return r; }
WB_HALF_BINARY(__hadd, "add.rn")
WB_HALF_BINARY(__hsub, "sub.rn")
WB_HALF_BINARY(__hmul, "mul.rn")
WB_HALF_BINARY(__hmax, "max")
WB_HALF_BINARY(__hmin, "min")
WB_FN __half __hfma(__half a, __half b, __half c) { __half r; asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(r.x) : "h"(a.x), "h"(b.x), "h"(c.x)); return r; }
WB_FN __half __hneg(__half a) { a.x ^= 0x8000; return a; }
WB_FN __half __habs(__half a) { a.x &= 0x7fff; return a; }
WB_FN __half __hdiv(__half a, __half b) { return __half((float)a / (float)b); }

WB_FN __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) { __nv_bfloat16 r; asm("fma.rn.bf16 %0, %1, %2, %3;" : "=h"(r.x) : "h"(a.x), "h"(b.x), "h"(c.x)); return r; }
WB_FN __nv_bfloat16 __hadd(__nv_bfloat16 a, __nv_bfloat16 b) { return __hfma(a, __ushort_as_bfloat16(0x3f80), b); }
WB_FN __nv_bfloat16 __hsub(__nv_bfloat16 a, __nv_bfloat16 b) { return __hfma(b, __ushort_as_bfloat16(0xbf80), a); }
WB_FN __nv_bfloat16 __hmul(__nv_bfloat16 a, __nv_bfloat16 b) { return __hfma(a, b, __ushort_as_bfloat16(0x8000)); }
WB_FN __nv_bfloat16 __hmax(__nv_bfloat16 a, __nv_bfloat16 b) { __nv_bfloat16 r; asm("max.bf16 %0, %1, %2;" : "=h"(r.x) : "h"(a.x), "h"(b.x)); return r; }
WB_FN __nv_bfloat16 __hmin(__nv_bfloat16 a, __nv_bfloat16 b) { __nv_bfloat16 r; asm("min.bf16 %0, %1, %2;" : "=h"(r.x) : "h"(a.x), "h"(b.x)); return r; }
WB_FN __nv_bfloat16 __hneg(__nv_bfloat16 a) { a.x ^= 0x8000; return a; }
WB_FN __nv_bfloat16 __habs(__nv_bfloat16 a) { a.x &= 0x7fff; return a; }
WB_FN __nv_bfloat16 __hdiv(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((float)a / (float)b); }

#define WB_PAIR_BINARY(name) \
  WB_FN __half2 name##2(__half2 a, __half2 b) { return __halves2half2(name(a.x, b.x), name(a.y, b.y)); } \
  WB_FN __nv_bfloat162 name##2(__nv_bfloat162 a, __nv_bfloat162 b) { return __halves2bfloat162(name(a.x, b.x), name(a.y, b.y)); }
WB_PAIR_BINARY(__hadd)
WB_PAIR_BINARY(__hsub)
WB_PAIR_BINARY(__hmul)
WB_PAIR_BINARY(__hmax)
WB_PAIR_BINARY(__hmin)
WB_FN __half2 __hfma2(__half2 a, __half2 b, __half2 c) { return __halves2half2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)); }
WB_FN __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) { return __halves2bfloat162(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)); }

#define WB_OPERATORS(type) \
  WB_FN type operator+(type a, type b) { return __hadd(a, b); } \
  WB_FN type operator-(type a, type b) { return __hsub(a, b); } \
  WB_FN type operator*(type a, type b) { return __hmul(a, b); } \
  WB_FN type operator/(type a, type b) { return __hdiv(a, b); } \
  WB_FN type operator-(type a) { return __hneg(a); } \
  WB_FN type& operator+=(type& a, type b) { return a = a + b; } \
  WB_FN type& operator-=(type& a, type b) { return a = a - b; } \
  WB_FN type& operator*=(type& a, type b) { return a = a * b; } \
  WB_FN bool operator<(type a, type b) { return (float)a < (float)b; } \
  WB_FN bool operator>(type a, type b) { return (float)a > (float)b; } \
  WB_FN bool operator<=(type a, type b) { return (float)a <= (float)b; } \
  WB_FN bool operator>=(type a, type b) { return (float)a >= (float)b; } \
  WB_FN bool operator==(type a, type b) { return (float)a == (float)b; } \
  WB_FN bool operator!=(type a, type b) { return (float)a != (float)b; } \
  WB_FN bool __hlt(type a, type b) { return a < b; } \
  WB_FN bool __hgt(type a, type b) { return a > b; } \
  WB_FN bool __heq(type a, type b) { return a == b; } \
  WB_FN bool __hisnan(type a) { return a != a; }
WB_OPERATORS(__half)
WB_OPERATORS(__nv_bfloat16)

namespace warpbook {

// to_float and from_float<T> convert between float and float, half or bfloat16.
WB_FN float to_float(float v) { return v; }
WB_FN float to_float(__half v) { return (float)v; }
WB_FN float to_float(__nv_bfloat16 v) { return (float)v; }
template <typename T> WB_FN T from_float(float v) { return T(v); }

// Reductions over the 32 lanes of a warp; every lane gets the result.
WB_FN float warp_max(float v) {
  for (int o = 16; o > 0; o /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, o));
  return v;
}
WB_FN float warp_sum(float v) {
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(0xffffffffu, v, o);
  return v;
}

// Reductions over a block of whole warps; every thread gets the result. The first
// barrier keeps the scratch memory of the reduction before.
WB_FN float block_max(float v) {
  __shared__ float scratch[32];
  v = warp_max(v);
  __syncthreads();
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
  __syncthreads();
  v = scratch[0];
  for (int w = 1; w < (int)blockDim.x / 32; w++) v = fmaxf(v, scratch[w]);
  return v;
}
WB_FN float block_sum(float v) {
  __shared__ float scratch[32];
  v = warp_sum(v);
  __syncthreads();
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
  __syncthreads();
  v = scratch[0];
  for (int w = 1; w < (int)blockDim.x / 32; w++) v += scratch[w];
  return v;
}

// The address of shared memory as instructions want it.
WB_FN unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

// ldmatrix: 8x8 matrices of 16-bit elements from shared memory. Lane i of a group
// of eight gives the address of row i; with _trans each matrix is transposed.
WB_FN void ldmatrix_x4(unsigned (&r)[4], const void* p) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(shared_address(p)) : "memory");
}
WB_FN void ldmatrix_x4_trans(unsigned (&r)[4], const void* p) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(shared_address(p)) : "memory");
}
WB_FN void ldmatrix_x2(unsigned (&r)[2], const void* p) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(shared_address(p)) : "memory");
}
WB_FN void ldmatrix_x2_trans(unsigned (&r)[2], const void* p) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(shared_address(p)) : "memory");
}

// d += a*b for a of 16x16 and b of 16x8 elements, on the tensor cores.
WB_FN void mma_f16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
WB_FN void mma_bf16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
template <typename T> WB_FN void mma(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]);
template <> WB_FN void mma<__half>(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) { mma_f16(d, a, b); }
template <> WB_FN void mma<__nv_bfloat16>(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) { mma_bf16(d, a, b); }

// Two floats rounded to T, the first in the lower half.
template <typename T> WB_FN unsigned pack(float lo, float hi) {
  return (unsigned)T(lo).x | ((unsigned)T(hi).x << 16);
}

// cp.async: 4, 8 or 16 bytes from global to shared memory, in the background.
template <int Bytes> WB_FN void copy_async(void* to_shared, const void* from_global) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(to_shared)), "l"(__cvta_generic_to_global(from_global)), "n"(Bytes) : "memory");
}
WB_FN void copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int Pending> WB_FN void copy_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory"); }

}  // namespace warpbook

// kernel: dispatch
// grid: 1
// block: 64
// arg x: i32[64] = below 100
// arg y: i32[64] = none
// reference: plain
__device__ __noinline__ int twice(int v) { return 2 * v; }
__device__ __noinline__ int square(int v) { return v * v; }
__device__ __noinline__ int negate(int v) { return -v; }
typedef int (*op)(int);
__device__ op table[3] = {twice, square, negate};
__global__ void dispatch(const int* x, int* y) { y[threadIdx.x] = table[threadIdx.x % 3](x[threadIdx.x]); }
__global__ void plain(const int* x, int* y) {
  for (int i = 0; i < 64; i++) y[i] = i % 3 == 0 ? 2 * x[i] : i % 3 == 1 ? x[i] * x[i] : -x[i];
}

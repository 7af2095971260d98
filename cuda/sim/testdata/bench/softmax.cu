using namespace warpbook;
typedef __nv_bfloat16 bfloat16;
// One block a row, in three passes over it: the maximum, the sum of exp(x - max)
// and the quotient. Element (r, c) of x lies at x[r*row_stride + c*column_stride];
// y is contiguous.

// Reduces a value of each thread to one that all threads get. The barrier at
// the start protects the scratch of the reduction before.
template <typename Combine>
__device__ float block_reduce(float v, float identity, Combine combine) {
  __shared__ float scratch[32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  for (int offset = 16; offset > 0; offset /= 2) v = combine(v, __shfl_xor_sync(0xffffffff, v, offset));
  __syncthreads();
  if (lane == 0) scratch[warp] = v;
  __syncthreads();
  v = identity;
  for (int w = 0; w < warps; w++) v = combine(v, scratch[w]);
  return v;
}
struct Max { __device__ float operator()(float a, float b) const { return fmaxf(a, b); } };
struct Sum { __device__ float operator()(float a, float b) const { return a + b; } };

template <typename T>
__device__ void softmax(const T* x, T* y, int columns, int row_stride, int column_stride) {
  const T* row = x + (long long)blockIdx.x * row_stride;
  T* out = y + (long long)blockIdx.x * columns;

  float top = -INFINITY;
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    top = fmaxf(top, to_float(row[(long long)c * column_stride]));
  top = block_reduce(top, -INFINITY, Max());

  float sum = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    sum += expf(to_float(row[(long long)c * column_stride]) - top);
  sum = block_reduce(sum, 0, Sum());

  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    out[c] = from_float<T>(expf(to_float(row[(long long)c * column_stride]) - top) / sum);
}

extern "C" __global__ void softmax_f32(const float* x, float* y, int columns, int row_stride, int column_stride) { softmax(x, y, columns, row_stride, column_stride); }
extern "C" __global__ void softmax_f16(const half* x, half* y, int columns, int row_stride, int column_stride) { softmax(x, y, columns, row_stride, column_stride); }
extern "C" __global__ void softmax_bf16(const bfloat16* x, bfloat16* y, int columns, int row_stride, int column_stride) { softmax(x, y, columns, row_stride, column_stride); }

// y = softmax of each row of x, which may be any view: element (r, c) of x lies at
// x[r * row_stride + c * column_stride]. y is contiguous.
//
// One block makes one row. It reads the row once, into shared memory as float, and
// goes over it there: the maximum, the sum of exp(x - max), and the quotient. The
// maximum comes first so that no exponent is above 0: exp(1000) would be infinite.
using namespace warpbook;

template <typename T>
__device__ void softmax(const T* x, T* y, int columns, int row_stride, int column_stride) {
  extern __shared__ float row[];  // columns elements
  const T* in = x + (long long)blockIdx.x * row_stride;
  T* out = y + (long long)blockIdx.x * columns;

  // Each thread reads again only what it wrote itself, so no barrier is needed for
  // row; block_max and block_sum have their own.
  float top = -INFINITY;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    row[c] = to_float(in[(long long)c * column_stride]);
    top = fmaxf(top, row[c]);
  }
  top = block_max(top);

  float sum = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    row[c] = expf(row[c] - top);
    sum += row[c];
  }
  sum = block_sum(sum);

  for (int c = threadIdx.x; c < columns; c += blockDim.x) out[c] = from_float<T>(row[c] / sum);
}

extern "C" __global__ void softmax_f32(const float* x, float* y, int columns, int row_stride, int column_stride) {
  softmax(x, y, columns, row_stride, column_stride);
}
extern "C" __global__ void softmax_f16(const half* x, half* y, int columns, int row_stride, int column_stride) {
  softmax(x, y, columns, row_stride, column_stride);
}
extern "C" __global__ void softmax_bf16(const nv_bfloat16* x, nv_bfloat16* y, int columns, int row_stride, int column_stride) {
  softmax(x, y, columns, row_stride, column_stride);
}

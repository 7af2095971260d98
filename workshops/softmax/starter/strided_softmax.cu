// y = softmax of each row of x. Element (r, c) of x lies at
// x[r * row_stride + c * column_stride]; y is contiguous.
using namespace warpbook;

template <typename T>
__device__ void softmax(const T* x, T* y, int columns, int row_stride, int column_stride) {
  // TODO. One block makes one row: its number is blockIdx.x.
  //
  // 1. Where does the row begin in x, and where in y? A product of two int may not
  //    fit an int: make one of them long long.
  // 2. The maximum. Each thread looks at columns threadIdx.x, threadIdx.x + blockDim.x,
  //    and so on; block_max(v) then gives every thread the greatest v of the block.
  //    A thread that has no column gives -INFINITY, which changes no maximum.
  // 3. The sum of expf(to_float(element) - maximum), with block_sum.
  // 4. The quotient, as from_float<T>(value).
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

// dx = y * (g - sum(y * g)) for each row, with y the softmax that was computed before
// and g the gradient of the loss by y. Both may be any view: element (r, c) lies at
// r * row_stride + c * column_stride. dx is contiguous.
//
// One block makes one row, in two passes over it. The softmax's derivative is
// diag(y) - y y', so that its product with g needs nothing but one sum a row.
using namespace warpbook;

struct Strides { int row, column; };

template <typename T>
__device__ void backward(const T* y, const T* g, T* dx, int columns, Strides ys, Strides gs) {
  const T* y_row = y + (long long)blockIdx.x * ys.row;
  const T* g_row = g + (long long)blockIdx.x * gs.row;
  T* out = dx + (long long)blockIdx.x * columns;

  float sum = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    sum += to_float(y_row[(long long)c * ys.column]) * to_float(g_row[(long long)c * gs.column]);
  sum = block_sum(sum);

  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    float p = to_float(y_row[(long long)c * ys.column]);
    out[c] = from_float<T>(p * (to_float(g_row[(long long)c * gs.column]) - sum));
  }
}

extern "C" __global__ void backward_f32(const float* y, const float* g, float* dx, int columns, int y_row, int y_column, int g_row, int g_column) {
  backward(y, g, dx, columns, Strides{y_row, y_column}, Strides{g_row, g_column});
}
extern "C" __global__ void backward_f16(const half* y, const half* g, half* dx, int columns, int y_row, int y_column, int g_row, int g_column) {
  backward(y, g, dx, columns, Strides{y_row, y_column}, Strides{g_row, g_column});
}
extern "C" __global__ void backward_bf16(const nv_bfloat16* y, const nv_bfloat16* g, nv_bfloat16* dx, int columns, int y_row, int y_column, int g_row, int g_column) {
  backward(y, g, dx, columns, Strides{y_row, y_column}, Strides{g_row, g_column});
}

// dx = y * (g - sum(y * g)) for each row. Element (r, c) of y lies at
// y[r * y_row + c * y_column], that of g at g[r * g_row + c * g_column]; dx is
// contiguous.
using namespace warpbook;

struct Strides { int row, column; };

template <typename T>
__device__ void backward(const T* y, const T* g, T* dx, int columns, Strides ys, Strides gs) {
  // TODO. One block makes one row: its number is blockIdx.x.
  //
  // 1. Where does the row begin in y, in g (each has strides of its own), in dx?
  // 2. The sum of y * g over the row, in float, with block_sum.
  // 3. y * (g - sum) for each element, as from_float<T>(value).
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

// The kernels of package portfolio. Element (r, c) of a matrix lies at r * row stride +
// c * column stride; a vector has one stride. Outputs are contiguous. Whatever the
// element type, kernels compute in float and round once, at the end.
//
// Where a kernel works on rows, one block has one row and goes over it in loops, from
// threadIdx.x in steps of blockDim.x: so one kernel serves all widths. All loops of a
// kernel have this form, so that a thread reads again only what it wrote itself.
using namespace warpbook;

// A row of a matrix, read as float.
template <typename T>
struct Row {
  const T* first;
  int stride;
  WB_FN Row(const T* x, int row, int row_stride, int stride) : first(x + (long long)row * row_stride), stride(stride) {}
  WB_FN float operator[](int c) const { return to_float(first[(long long)c * stride]); }
};

// y = a + b.
template <typename T>
__global__ void add(const T* a, const T* b, T* y, int n, int a_stride, int b_stride) {
  // In 64 bits: the last step goes beyond n.
  long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
    y[i] = from_float<T>(to_float(a[i * a_stride]) + to_float(b[i * b_stride]));
}

// y[r * chunks + p] = the sum of chunk p of row r: the columns from p * chunk on. A row
// of many columns is split, and the sums of its chunks are summed by a second launch.
// Without a column the sum is 0.
template <typename T>
__global__ void row_sum(const T* x, float* y, int columns, int chunk, int chunks, int x_row, int x_column) {
  Row<T> row(x, blockIdx.x / chunks, x_row, x_column);
  int begin = blockIdx.x % chunks * chunk, end = min(columns, begin + chunk);
  float sum = 0;
  for (int c = begin + threadIdx.x; c < end; c += blockDim.x) sum += row[c];
  sum = block_sum(sum);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

// y = exp(x - max) / sum(exp(x - max)) for each row. A masked element is -inf, and its
// exp is 0. In a row of nothing else the sum is 0, and so is all of y; there the maximum
// must not be subtracted, as -inf - -inf is NaN. fmaxf passes over NaN, the sum does not.
template <typename T>
__global__ void softmax(const T* x, T* y, int columns, int x_row, int x_column) {
  Row<T> row(x, blockIdx.x, x_row, x_column);
  T* out = y + (long long)blockIdx.x * columns;

  float top = -INFINITY;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) top = fmaxf(top, row[c]);
  top = block_max(top);
  if (top == -INFINITY) top = 0;

  float sum = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += expf(row[c] - top);
  sum = block_sum(sum);

  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    out[c] = from_float<T>(sum == 0 ? 0.0f : expf(row[c] - top) / sum);
}

// dx = y * (g - sum(y * g)) for each row.
template <typename T>
__global__ void softmax_backward(const T* y, const T* g, T* dx, int columns, int y_row, int y_column, int g_row, int g_column) {
  Row<T> p(y, blockIdx.x, y_row, y_column), up(g, blockIdx.x, g_row, g_column);
  T* out = dx + (long long)blockIdx.x * columns;

  float sum = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += p[c] * up[c];
  sum = block_sum(sum);

  for (int c = threadIdx.x; c < columns; c += blockDim.x) out[c] = from_float<T>(p[c] * (up[c] - sum));
}

// The square root of mean(h * h) + eps over a row. Squares of what is beyond 2^64 are
// infinite as floats, so the row is divided by its largest element first, and hypotf adds
// eps without squaring.
template <typename T>
__device__ float root_mean_square(const Row<T>& h, int columns, float root_eps) {
  float top = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) top = fmaxf(top, fabsf(h[c]));
  top = block_max(top);

  float unit = top > 0 ? top : 1, sum = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    float v = h[c] / unit;
    sum += v * v;
  }
  sum = block_sum(sum);
  return hypotf(unit * sqrtf(sum / columns), root_eps);
}

// h = x + residual, rounded, and y = h / rms(h) * weight, for each row. The norm is of
// the rounded h, as that is what the backward pass gets.
template <typename T>
__global__ void rms_norm(const T* x, const T* residual, const T* weight, T* y, T* h, int columns, float root_eps,
                         int x_row, int x_column, int residual_row, int residual_column, int weight_stride) {
  Row<T> in(x, blockIdx.x, x_row, x_column), skip(residual, blockIdx.x, residual_row, residual_column), w(weight, 0, 0, weight_stride);
  T* sum = h + (long long)blockIdx.x * columns;
  T* out = y + (long long)blockIdx.x * columns;

  for (int c = threadIdx.x; c < columns; c += blockDim.x) sum[c] = from_float<T>(in[c] + skip[c]);
  Row<T> row(h, blockIdx.x, columns, 1);
  float rms = root_mean_square(row, columns, root_eps);
  for (int c = threadIdx.x; c < columns; c += blockDim.x) out[c] = from_float<T>(row[c] / rms * w[c]);
}

// With n = h / rms: dh = (weight * g - n * mean(weight * g * n)) / rms for each row. The
// rms of each row is kept for the weight's gradient.
template <typename T>
__global__ void rms_norm_backward(const T* g, const T* h, const T* weight, T* dh, float* kept, int columns, float root_eps,
                                  int g_row, int g_column, int h_row, int h_column, int weight_stride) {
  Row<T> up(g, blockIdx.x, g_row, g_column), row(h, blockIdx.x, h_row, h_column), w(weight, 0, 0, weight_stride);
  T* out = dh + (long long)blockIdx.x * columns;
  float rms = root_mean_square(row, columns, root_eps);
  if (threadIdx.x == 0) kept[blockIdx.x] = rms;

  float sum = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += w[c] * up[c] * (row[c] / rms);
  float mean = block_sum(sum) / columns;

  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    out[c] = from_float<T>((w[c] * up[c] - row[c] / rms * mean) / rms);
}

// dweight[c] = the sum of g * h / rms over the rows. One thread has one column, and adds
// the rows in their order: neighbours read neighbours, and every run gives the same sum.
template <typename T>
__global__ void rms_norm_weight(const T* g, const T* h, const float* kept, T* dweight, int rows, int columns,
                                int g_row, int g_column, int h_row, int h_column) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= columns) return;
  float sum = 0;
  for (int r = 0; r < rows; r++)
    sum += Row<T>(g, r, g_row, g_column)[c] * (Row<T>(h, r, h_row, h_column)[c] / kept[r]);
  dweight[c] = from_float<T>(sum);
}

// y = a * b for a of m x k and b of k x n. One block of TILE x TILE threads has one tile
// of y and goes along k a tile of a and one of b at a time. What is beyond the edges
// counts as 0. One column more a row keeps the banks of shared memory apart.
constexpr int TILE = 16;

template <typename T>
__global__ void matmul(const T* a, const T* b, T* y, int m, int n, int k, int a_row, int a_column, int b_row, int b_column) {
  __shared__ float a_tile[TILE][TILE + 1], b_tile[TILE][TILE + 1];
  int across = (n + TILE - 1) / TILE, tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.x / across * TILE + ty, column = blockIdx.x % across * TILE + tx;

  float sum = 0;
  for (int at = 0; at < k; at += TILE) {
    a_tile[ty][tx] = row < m && at + tx < k ? Row<T>(a, row, a_row, a_column)[at + tx] : 0.0f;
    b_tile[ty][tx] = column < n && at + ty < k ? Row<T>(b, at + ty, b_row, b_column)[column] : 0.0f;
    __syncthreads();
    for (int i = 0; i < TILE; i++) sum = fmaf(a_tile[ty][i], b_tile[i][tx], sum);
    __syncthreads();
  }
  if (row < m && column < n) y[(long long)row * n + column] = from_float<T>(sum);
}

// Every kernel for every element type.
#define KERNEL(name, T) template __global__ decltype(name<T>) name<T>;
#define KERNELS(T) \
  KERNEL(add, T) \
  KERNEL(row_sum, T) \
  KERNEL(softmax, T) \
  KERNEL(softmax_backward, T) \
  KERNEL(rms_norm, T) \
  KERNEL(rms_norm_backward, T) \
  KERNEL(rms_norm_weight, T) \
  KERNEL(matmul, T)
KERNELS(float)
KERNELS(half)
KERNELS(nv_bfloat16)

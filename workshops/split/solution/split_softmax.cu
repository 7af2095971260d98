// y = softmax of each row of x, contiguous, for rows that are too wide for one block.
//
// Three launches, one after the other on one stream. The first gives each chunk of a
// row to a block, which leaves the chunk's maximum and its sum of exp(x - maximum) in
// scratch memory. The second merges the chunks of a row: a sum counts in units of
// exp(its maximum), so it is rescaled to the row's maximum first. The third divides.
// A launch begins when the one before has ended, so no block waits for another.
using namespace warpbook;

template <typename T>
__device__ void summarize(const T* x, float* top, float* sum, int columns, int chunk, int chunks) {
  int row = blockIdx.x / chunks, first = blockIdx.x % chunks * chunk;
  int last = min(first + chunk, columns);  // the last chunk may be short
  const T* in = x + (long long)row * columns;

  float m = -INFINITY;
  for (int c = first + threadIdx.x; c < last; c += blockDim.x) m = fmaxf(m, to_float(in[c]));
  m = block_max(m);

  // A chunk that is masked out, all -inf, adds nothing; -inf - -inf would be no number.
  float s = 0;
  if (m != -INFINITY)
    for (int c = first + threadIdx.x; c < last; c += blockDim.x) s += expf(to_float(in[c]) - m);
  s = block_sum(s);
  if (threadIdx.x == 0) {
    top[blockIdx.x] = m;
    sum[blockIdx.x] = s;
  }
}

// Leaves the row's maximum and sum where its first chunk's were.
extern "C" __global__ void merge(float* top, float* sum, int chunks) {
  float* tops = top + (long long)blockIdx.x * chunks;
  float* sums = sum + (long long)blockIdx.x * chunks;

  float m = -INFINITY;
  for (int i = threadIdx.x; i < chunks; i += blockDim.x) m = fmaxf(m, tops[i]);
  m = block_max(m);

  float s = 0;
  for (int i = threadIdx.x; i < chunks; i += blockDim.x) s += sums[i] * expf(tops[i] - m);
  s = block_sum(s);  // its barriers also come after every thread has read tops[0]
  if (threadIdx.x == 0) {
    tops[0] = m;
    sums[0] = s;
  }
}

template <typename T>
__device__ void normalize(const T* x, T* y, const float* top, const float* sum, int columns, int chunk, int chunks) {
  int row = blockIdx.x / chunks, first = blockIdx.x % chunks * chunk;
  int last = min(first + chunk, columns);
  float m = top[(long long)row * chunks], s = sum[(long long)row * chunks];
  for (int c = first + threadIdx.x; c < last; c += blockDim.x) {
    long long at = (long long)row * columns + c;
    y[at] = from_float<T>(expf(to_float(x[at]) - m) / s);
  }
}

#define KERNELS(T, name)                                                                                              \
  extern "C" __global__ void summarize_##name(const T* x, float* top, float* sum, int columns, int chunk, int chunks) { \
    summarize(x, top, sum, columns, chunk, chunks);                                                                   \
  }                                                                                                                   \
  extern "C" __global__ void normalize_##name(const T* x, T* y, const float* top, const float* sum, int columns,      \
                                              int chunk, int chunks) {                                                \
    normalize(x, y, top, sum, columns, chunk, chunks);                                                                \
  }
KERNELS(float, f32)
KERNELS(half, f16)
KERNELS(nv_bfloat16, bf16)

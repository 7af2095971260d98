// y = softmax of each row of x, contiguous, in three launches: chunks, rows, chunks.
using namespace warpbook;

template <typename T>
__device__ void summarize(const T* x, float* top, float* sum, int columns, int chunk, int chunks) {
  // TODO. One block has one chunk of one row: row blockIdx.x / chunks, chunk
  // blockIdx.x % chunks. Leave the maximum of the chunk in top[blockIdx.x] and its sum
  // of expf(x - maximum) in sum[blockIdx.x]. The last chunk of a row may be short.
}

extern "C" __global__ void merge(float* top, float* sum, int chunks) {
  // TODO. One block has one row, with chunks entries of top and sum.
  //
  // 1. The row's maximum is the greatest of its chunks'.
  // 2. A sum counts in units of exp(its own maximum): rescale it by
  //    expf(its maximum - the row's maximum) before you add it.
  // 3. Leave both where the row's first chunk had its own, after every thread has read
  //    what was there.
}

template <typename T>
__device__ void normalize(const T* x, T* y, const float* top, const float* sum, int columns, int chunk, int chunks) {
  // TODO. One block has one chunk again: expf(x - maximum) / sum, with the row's.
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

// O = softmax(Q*K' / sqrt(D)) * V for Q, K, V[N,D], without the N x N scores.
//
// A block of four warps has 64 queries, 16 a warp. It walks along the keys in steps of
// BLOCK_N. A query keeps the largest score so far, the sum of exp(score - largest), and
// the weighted sum of V's rows; when a step brings a larger score, the sum and the
// weighted sum are scaled down to it. Scores and sums are float; the weights are rounded
// to the type of V before the tensor cores multiply them.
using namespace warpbook;

template <typename T, int D, int BLOCK_N>
__device__ void attention(const T* q, const T* k, const T* v, T* o, int n, float scale, int causal) {
  const int PAD = 8, ROWS = 64;
  __shared__ __align__(16) T keys[BLOCK_N][D + PAD];
  __shared__ __align__(16) T values[BLOCK_N][D + PAD];
  __shared__ __align__(16) T queries[ROWS][D + PAD];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int row0 = blockIdx.x * ROWS, mine = row0 + warp * 16 + lane / 4;  // and mine + 8
  T zero = from_float<T>(0);

  for (int i = threadIdx.x; i < ROWS * D; i += blockDim.x)
    queries[i / D][i % D] = row0 + i / D < n ? q[(long long)row0 * D + i] : zero;
  __syncthreads();
  unsigned query[D / 16][4];
  for (int d = 0; d < D / 16; d++) ldmatrix_x4(query[d], &queries[warp * 16 + lane % 16][d * 16 + lane / 16 * 8]);

  float out[D / 8][4] = {};
  float top[2] = {-INFINITY, -INFINITY}, sum[2] = {0, 0};
  int end = causal ? min(n, row0 + ROWS) : n;
  for (int key0 = 0; key0 < end; key0 += BLOCK_N) {
    __syncthreads();  // before the tiles are overwritten
    for (int i = threadIdx.x; i < BLOCK_N * D; i += blockDim.x) {
      bool inside = key0 + i / D < n;
      keys[i / D][i % D] = inside ? k[(long long)key0 * D + i] : zero;
      values[i / D][i % D] = inside ? v[(long long)key0 * D + i] : zero;
    }
    __syncthreads();

    float score[BLOCK_N / 8][4] = {};
    for (int j = 0; j < BLOCK_N / 8; j++)
      for (int d = 0; d < D / 16; d++) {
        unsigned key[2];
        ldmatrix_x2(key, &keys[j * 8 + lane % 8][d * 16 + lane / 8 % 2 * 8]);
        mma<T>(score[j], query[d], key);
      }

    float larger[2] = {top[0], top[1]};
    for (int j = 0; j < BLOCK_N / 8; j++)
      for (int e = 0; e < 4; e++) {
        int key = key0 + j * 8 + lane % 4 * 2 + e % 2, row = mine + e / 2 * 8;
        bool visible = key < n && (!causal || key <= row);
        score[j][e] = visible ? score[j][e] * scale : -INFINITY;
        larger[e / 2] = fmaxf(larger[e / 2], score[j][e]);
      }
    for (int h = 0; h < 2; h++) {  // four lanes share a row
      larger[h] = fmaxf(larger[h], __shfl_xor_sync(0xffffffff, larger[h], 1));
      larger[h] = fmaxf(larger[h], __shfl_xor_sync(0xffffffff, larger[h], 2));
      // A row that has seen no key yet has nothing to scale, and exp(-inf - -inf) is no number.
      float fix = larger[h] == -INFINITY ? 1 : expf(top[h] - larger[h]);
      top[h] = larger[h];
      sum[h] *= fix;
      for (int d = 0; d < D / 8; d++) { out[d][2 * h] *= fix; out[d][2 * h + 1] *= fix; }
    }
    for (int j = 0; j < BLOCK_N / 8; j++)
      for (int e = 0; e < 4; e++) {
        score[j][e] = top[e / 2] == -INFINITY ? 0 : expf(score[j][e] - top[e / 2]);
        sum[e / 2] += score[j][e];
      }
    // Two neighbouring 16x8 tiles of scores are one 16x16 left operand, as they lie.
    for (int j = 0; j < BLOCK_N / 16; j++) {
      float* lo = score[2 * j]; float* hi = score[2 * j + 1];
      unsigned p[4] = {pack<T>(lo[0], lo[1]), pack<T>(lo[2], lo[3]), pack<T>(hi[0], hi[1]), pack<T>(hi[2], hi[3])};
      for (int d = 0; d < D / 8; d++) {
        unsigned value[2];
        ldmatrix_x2_trans(value, &values[j * 16 + lane % 16][d * 8]);
        mma<T>(out[d], p, value);
      }
    }
  }
  for (int h = 0; h < 2; h++) {
    sum[h] += __shfl_xor_sync(0xffffffff, sum[h], 1);
    sum[h] += __shfl_xor_sync(0xffffffff, sum[h], 2);
  }
  for (int d = 0; d < D / 8; d++)
    for (int e = 0; e < 4; e++) {
      int row = mine + e / 2 * 8;
      if (row < n) o[(long long)row * D + d * 8 + lane % 4 * 2 + e % 2] = from_float<T>(out[d][e] / sum[e / 2]);
    }
}

#define KERNEL(T, name, d, block_n)                                                                                \
  extern "C" __global__ void attention_##name##_##d##_##block_n(const T* q, const T* k, const T* v, T* o, int n, \
                                                                float scale, int causal) {                        \
    attention<T, d, block_n>(q, k, v, o, n, scale, causal);                                                        \
  }
#define KERNELS(T, name) \
  KERNEL(T, name, 16, 32) KERNEL(T, name, 32, 32) KERNEL(T, name, 64, 32) \
  KERNEL(T, name, 16, 64) KERNEL(T, name, 32, 64) KERNEL(T, name, 64, 64)
KERNELS(half, f16)
KERNELS(nv_bfloat16, bf16)

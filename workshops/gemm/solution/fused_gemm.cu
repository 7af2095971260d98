// C = relu(A*B + bias) for A[M,K], B[K,N] and bias[N], all contiguous.
//
// A block of four warps makes a tile of TILE_M x 64 elements of C; each warp has 16 of
// its columns. The block walks along K in steps of 32: it copies a piece of A and of B
// to shared memory, with zeros where the matrix ends, and multiplies them on the tensor
// cores, 16x8x16 at a time, into accumulators of float. Bias and ReLU are applied to the
// accumulators, so that the result is rounded only once.
using namespace warpbook;

const int TILE_N = 64, TILE_K = 32;
// Eight elements more a row put the rows that ldmatrix reads into different banks.
const int PAD = 8;

template <typename T, int TILE_M>
__device__ void gemm(const T* a, const T* b, const T* bias, T* c, int m, int n, int k, int group_m) {
  __shared__ __align__(16) T tile_a[TILE_M][TILE_K + PAD];
  __shared__ __align__(16) T tile_b[TILE_K][TILE_N + PAD];

  // Blocks that run at the same time should share rows of A and columns of B:
  // group_m tiles below each other come first, then the next column of tiles.
  int tiles_m = (m + TILE_M - 1) / TILE_M, tiles_n = (n + TILE_N - 1) / TILE_N;
  int group = blockIdx.x / (group_m * tiles_n), first = group * group_m;
  int rows = min(group_m, tiles_m - first);  // the last group may be smaller
  int within = blockIdx.x % (group_m * tiles_n);
  int row0 = (first + within % rows) * TILE_M, col0 = within / rows * TILE_N;

  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float acc[TILE_M / 16][2][4] = {};
  T zero = from_float<T>(0);

  for (int k0 = 0; k0 < k; k0 += TILE_K) {
    for (int i = threadIdx.x; i < TILE_M * TILE_K; i += blockDim.x) {
      int r = i / TILE_K, q = i % TILE_K;
      tile_a[r][q] = row0 + r < m && k0 + q < k ? a[(long long)(row0 + r) * k + k0 + q] : zero;
    }
    for (int i = threadIdx.x; i < TILE_K * TILE_N; i += blockDim.x) {
      int q = i / TILE_N, s = i % TILE_N;
      tile_b[q][s] = k0 + q < k && col0 + s < n ? b[(long long)(k0 + q) * n + col0 + s] : zero;
    }
    __syncthreads();
    for (int kk = 0; kk < TILE_K; kk += 16) {
      unsigned right[2][2];
      for (int j = 0; j < 2; j++)
        ldmatrix_x2_trans(right[j], &tile_b[kk + lane % 16][warp * 16 + j * 8]);
      for (int i = 0; i < TILE_M / 16; i++) {
        unsigned left[4];
        ldmatrix_x4(left, &tile_a[i * 16 + lane % 16][kk + lane / 16 * 8]);
        for (int j = 0; j < 2; j++) mma<T>(acc[i][j], left, right[j]);
      }
    }
    __syncthreads();  // before the tiles are overwritten
  }

  // Element e of an accumulator is in row lane/4 (+8 for the upper two) and
  // column lane%4*2 (+1) of its 16x8 tile.
  for (int i = 0; i < TILE_M / 16; i++)
    for (int j = 0; j < 2; j++)
      for (int e = 0; e < 4; e++) {
        int r = row0 + i * 16 + lane / 4 + e / 2 * 8, s = col0 + warp * 16 + j * 8 + lane % 4 * 2 + e % 2;
        if (r < m && s < n)
          c[(long long)r * n + s] = from_float<T>(fmaxf(acc[i][j][e] + to_float(bias[s]), 0.0f));
      }
}

#define KERNEL(T, name, tile_m)                                                                          \
  extern "C" __global__ void gemm_##name##_##tile_m(const T* a, const T* b, const T* bias, T* c, int m, \
                                                    int n, int k, int group_m) {                         \
    gemm<T, tile_m>(a, b, bias, c, m, n, k, group_m);                                                    \
  }
KERNEL(half, f16, 16)
KERNEL(half, f16, 32)
KERNEL(half, f16, 64)
KERNEL(nv_bfloat16, bf16, 16)
KERNEL(nv_bfloat16, bf16, 32)
KERNEL(nv_bfloat16, bf16, 64)

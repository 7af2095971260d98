// C = relu(A*B + bias) for A[M,K], B[K,N] and bias[N], all contiguous.
using namespace warpbook;

const int TILE_N = 64, TILE_K = 32;
const int PAD = 8;  // elements more a row of shared memory, against bank conflicts

template <typename T, int TILE_M>
__device__ void gemm(const T* a, const T* b, const T* bias, T* c, int m, int n, int k, int group_m) {
  __shared__ __align__(16) T tile_a[TILE_M][TILE_K + PAD];
  __shared__ __align__(16) T tile_b[TILE_K][TILE_N + PAD];
  // TODO. One block of four warps makes TILE_M x TILE_N elements of C.
  //
  // 1. Which tile? Number the tiles so that group_m of them below each other come first,
  //    then the next column of tiles. The last group may have fewer rows of tiles.
  // 2. Accumulators: float acc[TILE_M / 16][2][4] for the warp's 16 columns.
  // 3. Walk along K in steps of TILE_K. Copy the pieces of A and B to shared memory,
  //    zeros where the matrix ends (from_float<T>(0)), then __syncthreads().
  // 4. For each 16 of K: ldmatrix_x2_trans for B, ldmatrix_x4 for A, mma<T>.
  //    __syncthreads() again before the tiles are overwritten.
  // 5. Element e of an accumulator is in row lane/4 (+8 for e >= 2) and column
  //    lane%4*2 (+1 for odd e) of its 16x8 tile. Add the bias, take the greater of that
  //    and 0, and round once.
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

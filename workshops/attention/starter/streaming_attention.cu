// O = softmax(Q*K' / sqrt(D)) * V for Q, K, V[N,D], without the N x N scores.
using namespace warpbook;

template <typename T, int D, int BLOCK_N>
__device__ void attention(const T* q, const T* k, const T* v, T* o, int n, float scale, int causal) {
  // TODO. One block of four warps has 64 queries, 16 a warp.
  //
  // 1. Copy the block's queries to shared memory, zeros behind the end, and from there
  //    into registers with ldmatrix_x4: a 16x16 operand for each 16 of D.
  // 2. Walk along the keys in steps of BLOCK_N; copy the step's rows of K and V to shared
  //    memory. With causal, keys behind the block's last query need no step.
  // 3. Scores: mma<T> of the queries and K (ldmatrix_x2: K's rows are columns of K').
  //    Scale them. -INFINITY for keys behind the end, and for keys > query with causal.
  // 4. The greatest score of a query so far; four lanes share a row (__shfl_xor_sync with
  //    1 and 2). Rescale the sum and the output by exp(old - new). Beware of -inf - -inf.
  // 5. Weights exp(score - greatest): add them to the sum, round them to T with
  //    pack<T>(lo, hi), and mma<T> them with V (ldmatrix_x2_trans).
  // 6. Divide by the sum of all lanes of the row, and store rows that exist.
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

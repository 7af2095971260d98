// Lanes leave nested loops at different times and meet again for a shuffle.
// kernel: collatz
// grid: 1
// block: 64
// arg x: i32[64] = below 30
// arg y: i32[64] = none
// reference: plain
__device__ int steps(int v) {
  int n = 0;
  for (int k = 1; k <= v % 3 + 1; k++)
    for (int u = v + k; u > 1; n++) u = u & 1 ? 3 * u + 1 : u / 2;
  return n;
}
__global__ void collatz(const int* x, int* y) {
  int n = steps(x[threadIdx.x]);
  y[threadIdx.x] = n + __shfl_xor_sync(~0u, n, 1);
}
__global__ void plain(const int* x, int* y) { for (int i = 0; i < 64; i++) y[i] = steps(x[i]) + steps(x[i ^ 1]); }

// kernel: tree
// grid: 4
// block: 128
// arg x: i32[512] = below 1000
// arg sums: i32[4] = none
// reference: plain
__global__ void tree(const int* x, int* sums) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 128 + t];
  __syncthreads();
  for (int d = 64; d > 0; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = s[0];
}
__global__ void plain(const int* x, int* sums) {
  for (int b = 0; b < 4; b++) { sums[b] = 0; for (int i = 0; i < 128; i++) sums[b] += x[b * 128 + i]; }
}

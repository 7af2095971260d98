// kernel: k
// grid: 1
// block: 64
// arg x: i32[64] = iota
__global__ void k(int* x) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  for (int d = 1; d < 64; d <<= 1) {
    if (t >= d) s[t] += s[t - d];  // want: shared-memory race
    __syncthreads();
  }
  x[t] = s[t];
}

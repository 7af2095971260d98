// kernel: k
// grid: 1
// block: 128
// arg x: i32[128] = iota
// arg y: i32[1] = none
__global__ void k(const int* x, int* y) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  for (int d = 64; d > 0; d >>= 1) {
    if (t < d) s[t] += s[t + d];  // want: shared-memory race
  }
  __syncthreads();
  if (t == 0) *y = s[0];
}

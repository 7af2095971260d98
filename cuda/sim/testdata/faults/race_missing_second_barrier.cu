// The tile is refilled while others still read it.
// kernel: k
// grid: 1
// block: 64
// arg x: i32[256] = iota
// arg y: i32[64] = zero
__global__ void k(const int* x, int* y) {
  __shared__ int s[64];
  int sum = 0;
  for (int i = 0; i < 4; i++) {
    s[threadIdx.x] = x[i * 64 + threadIdx.x];  // want: shared-memory race
    __syncthreads();
    sum += s[63 - threadIdx.x];
  }
  y[threadIdx.x] = sum;
}

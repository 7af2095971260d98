// kernel: widest
// grid: 2
// block: 128
// arg x: i32[256] = below 100000
// arg y: i32[2] = none
// reference: plain
__global__ void widest(const int* x, int* y) {
  __shared__ int m;
  if (threadIdx.x == 0) m = -1;
  __syncthreads();
  atomicMax(&m, x[blockIdx.x * 128 + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = m;
}
__global__ void plain(const int* x, int* y) {
  for (int b = 0; b < 2; b++) { y[b] = -1; for (int i = 0; i < 128; i++) y[b] = max(y[b], x[b * 128 + i]); }
}

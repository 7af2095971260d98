// kernel: k
// grid: 1
// block: 64
// arg x: i32[64] = below 4
// arg y: i32[4] = none
__global__ void k(const int* x, int* y) {
  __shared__ int bins[4];
  if (threadIdx.x < 4) bins[threadIdx.x] = 0;
  __syncthreads();
  bins[x[threadIdx.x]]++;  // want: shared-memory race
  __syncthreads();
  if (threadIdx.x < 4) y[threadIdx.x] = bins[threadIdx.x];
}

// kernel: k
// grid: 1
// block: 64
// arg y: i32[64] = none
__global__ void k(int* y) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  if (threadIdx.x < 16) {
    __syncthreads();  // want: barrier in divergent code
    s[threadIdx.x]++;
  }
  y[threadIdx.x] = s[threadIdx.x];
}

// kernel: k
// grid: 1
// block: 32
// arg y: i32[1] = none
__global__ void k(int* y) {
  __shared__ int s;
  s = threadIdx.x;  // want: shared-memory race
  __syncthreads();
  *y = s;
}

// One warp reads the counter while another one still adds to it.
// kernel: k
// grid: 1
// block: 64
// arg y: i32[1] = none
__global__ void k(int* y) {
  __shared__ int n;
  if (threadIdx.x == 0) n = 0;
  __syncthreads();
  atomicAdd(&n, 1);
  if (threadIdx.x == 40) *y = n;  // want: shared-memory race
}

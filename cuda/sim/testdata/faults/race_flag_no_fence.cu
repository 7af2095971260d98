// A flag in shared memory says that data is there; without a fence before it, it may come first.
// kernel: k
// grid: 1
// block: 64
// arg y: i32[32] = none
// also: read of memory that nothing wrote
__global__ void k(int* y) {
  __shared__ int data[32];
  __shared__ int flag;
  int t = threadIdx.x;
  if (t == 0) flag = 0;
  __syncthreads();
  if (t < 32) {
    data[t] = t * t;
    __syncwarp();
    if (t == 0) atomicExch(&flag, 1);
  } else {
    while (atomicAdd(&flag, 0) == 0) {}
    __threadfence_block();
    y[t - 32] = data[63 - t];  // want: shared-memory race
  }
}

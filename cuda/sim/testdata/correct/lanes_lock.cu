// Lanes of one warp take a lock by turns, which needs independent lanes.
// kernel: lanes
// grid: 1
// block: 32
// arg value: i32[1] = zero
// reference: plain
__global__ void lanes(int* value) {
  __shared__ int lock, sum;
  if (threadIdx.x == 0) lock = sum = 0;
  __syncwarp();
  bool done = false;
  while (!done) {
    if (atomicCAS(&lock, 0, 1) == 0) {
      atomicAdd(&sum, (int)threadIdx.x);
      __threadfence_block();
      atomicExch(&lock, 0);
      done = true;
    }
  }
  __syncwarp();
  if (threadIdx.x == 0) *value = sum;
}
__global__ void plain(int* value) { *value = 496; }

// A lock in shared memory guards plain variables, taken by a thread of each warp.
// kernel: locked
// grid: 2
// block: 256
// arg y: i32[4] = none
// reference: plain
__global__ void locked(int* y) {
  __shared__ int lock;
  __shared__ volatile int count, sum;
  if (threadIdx.x == 0) lock = count = sum = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(&lock, 0, 1) != 0) {}
    __threadfence_block();
    count = count + 1;
    sum = sum + threadIdx.x;
    __threadfence_block();
    atomicExch(&lock, 0);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    y[blockIdx.x * 2] = count;
    y[blockIdx.x * 2 + 1] = sum;
  }
}
__global__ void plain(int* y) { for (int b = 0; b < 2; b++) { y[2 * b] = 8; y[2 * b + 1] = 896; } }

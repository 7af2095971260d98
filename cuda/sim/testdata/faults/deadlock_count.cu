// The barrier counts more threads than the block has.
// kernel: k
// grid: 1
// block: 64
// arg y: i32[64] = none
__global__ void k(int* y) {
  y[threadIdx.x] = 1;
  asm volatile("bar.sync 1, 96;" ::: "memory");  // want: deadlock
  y[threadIdx.x] = 2;
}

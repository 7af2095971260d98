// The second warp waits at another barrier.
// kernel: k
// grid: 1
// block: 64
// arg y: i32[64] = none
__global__ void k(int* y) {
  y[threadIdx.x] = 1;
  if (threadIdx.x < 32)
    asm volatile("bar.sync 1, 64;" ::: "memory");  // want: deadlock
  else
    asm volatile("bar.sync 2, 64;" ::: "memory");
}

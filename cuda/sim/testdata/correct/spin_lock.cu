// A lock for each bin, taken by one thread a block.
// kernel: locked
// grid: 6
// block: 32
// arg lock: i32[1] = zero
// arg value: i32[2] = zero
// reference: plain
__global__ void locked(int* lock, volatile int* value) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    value[0] = value[0] + 1;
    value[1] = value[1] + value[0];
    __threadfence();
    atomicExch(lock, 0);
  }
}
__global__ void plain(int* lock, int* value) { for (int i = 0; i < 6; i++) { value[0]++; value[1] += value[0]; } }

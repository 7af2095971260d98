// The lock is never given back.
// kernel: k
// grid: 2
// block: 32
// budget: 200000
// arg lock: i32[1] = zero
// arg y: i32[1] = zero
__global__ void k(int* lock, int* y) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {}  // want: endless loop
    atomicAdd(y, 1);
  }
}

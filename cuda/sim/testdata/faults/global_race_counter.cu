// kernel: k
// grid: 8
// block: 32
// arg n: i32[1] = zero
__global__ void k(int* n) {
  if (threadIdx.x == 0) *n = *n + 1;  // want: global-memory race between blocks
}

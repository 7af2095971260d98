// kernel: k
// grid: 4
// block: 32
// arg y: i32[32] = zero
__global__ void k(int* y) {
  y[threadIdx.x] = blockIdx.x;  // want: global-memory race between blocks
}

// kernel: k
// grid: 4
// block: 32
// arg x: i32[128] = below 1000
// arg m: i32[1] = zero
__global__ void k(const int* x, int* m) {
  int v = __reduce_max_sync(~0u, x[blockIdx.x * 32 + threadIdx.x]);
  if (threadIdx.x == 0 && v > *m) *m = v;  // want: global-memory race between blocks
}

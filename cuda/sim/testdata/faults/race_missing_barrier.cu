// kernel: k
// grid: 1
// block: 64
// arg x: i32[64] = iota
// arg y: i32[64] = none
__global__ void k(const int* x, int* y) {
  __shared__ int s[64];
  s[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = s[63 - threadIdx.x];  // want: shared-memory race
}
// also: read of memory that nothing wrote

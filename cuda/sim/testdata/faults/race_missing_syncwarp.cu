// kernel: k
// grid: 1
// block: 32
// arg x: i32[32] = iota
// arg y: i32[32] = none
__global__ void k(const int* x, int* y) {
  __shared__ int s[32];
  s[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = s[31 - threadIdx.x];  // want: shared-memory race
}

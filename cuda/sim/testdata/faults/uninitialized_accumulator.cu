// kernel: k
// grid: 2
// block: 64
// arg x: i32[128] = iota
// arg sum: i32[1] = none
__global__ void k(const int* x, int* sum) {
  int v = x[blockIdx.x * 64 + threadIdx.x];
  atomicAdd(sum, v);  // want: read of memory that nothing wrote
}

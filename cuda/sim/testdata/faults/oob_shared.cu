// kernel: k
// grid: 1
// block: 64
// arg x: i32[64] = iota
// arg y: i32[64] = none
__global__ void k(const int* x, int* y) {
  __shared__ int s[64];
  int i = threadIdx.x;
  s[i] = x[i];
  __syncthreads();
  y[i] = s[i + x[1]];  // want: out-of-bounds access
}

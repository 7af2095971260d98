// kernel: k
// grid: 1
// block: 64
// arg x: i32[64] = iota
// arg y: i32[64] = none
__global__ void k(const int* x, int* y) {
  volatile __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  if (t % 2 == 0) {
    __syncthreads();  // want: barrier in divergent code
    y[t] = s[t] + 1;
  } else {
    __syncthreads();  // want: barrier in divergent code
    y[t] = s[t] - 1;
  }
}

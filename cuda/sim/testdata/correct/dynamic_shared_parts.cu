// One dynamic array is cut into two of different types.
// kernel: parts
// grid: 1
// block: 32
// shared: 384
// arg x: f64[32] = normal
// arg y: f64[32] = none
// reference: plain
extern __shared__ double memory[];
__global__ void parts(const double* x, double* y) {
  double* d = memory;
  int* order = (int*)(memory + 32);
  int t = threadIdx.x;
  d[t] = x[t];
  order[t] = (t * 5) % 32;
  __syncthreads();
  y[t] = d[order[t]];
}
__global__ void plain(const double* x, double* y) { for (int t = 0; t < 32; t++) y[t] = x[t * 5 % 32]; }

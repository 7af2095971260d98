// kernel: scan
// grid: 1
// block: 128
// arg x: i32[128] = below 100
// arg y: i32[128] = none
// reference: plain
__global__ void scan(const int* x, int* y) {
  __shared__ int s[2][128];
  int t = threadIdx.x, in = 0;
  s[0][t] = x[t];
  __syncthreads();
  for (int d = 1; d < 128; d <<= 1) {
    s[1 - in][t] = s[in][t] + (t >= d ? s[in][t - d] : 0);
    in = 1 - in;
    __syncthreads();
  }
  y[t] = s[in][t];
}
__global__ void plain(const int* x, int* y) { int s = 0; for (int i = 0; i < 128; i++) y[i] = s += x[i]; }

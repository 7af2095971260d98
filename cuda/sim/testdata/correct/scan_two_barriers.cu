// kernel: scan
// grid: 2
// block: 64
// arg x: i32[128] = below 100
// arg y: i32[128] = none
// reference: plain
__global__ void scan(const int* x, int* y) {
  __shared__ int s[64];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  s[t] = x[i];
  __syncthreads();
  for (int d = 1; d < 64; d <<= 1) {
    int v = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  y[i] = s[t];
}
__global__ void plain(const int* x, int* y) {
  for (int b = 0; b < 2; b++) { int s = 0; for (int i = 0; i < 64; i++) y[b * 64 + i] = s += x[b * 64 + i]; }
}

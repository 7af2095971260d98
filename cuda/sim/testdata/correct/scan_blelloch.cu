// kernel: blelloch
// grid: 1
// block: 64
// arg x: i32[128] = below 100
// arg y: i32[128] = none
// reference: plain
__global__ void blelloch(const int* x, int* y) {
  __shared__ int s[128];
  int t = threadIdx.x, d = 1;
  s[2 * t] = x[2 * t];
  s[2 * t + 1] = x[2 * t + 1];
  for (int n = 64; n > 0; n >>= 1, d <<= 1) {
    __syncthreads();
    if (t < n) s[d * (2 * t + 2) - 1] += s[d * (2 * t + 1) - 1];
  }
  if (t == 0) s[127] = 0;
  for (int n = 1; n < 128; n <<= 1) {
    d >>= 1;
    __syncthreads();
    if (t < n) {
      int a = d * (2 * t + 1) - 1, b = d * (2 * t + 2) - 1, v = s[a];
      s[a] = s[b];
      s[b] += v;
    }
  }
  __syncthreads();
  y[2 * t] = s[2 * t];
  y[2 * t + 1] = s[2 * t + 1];
}
__global__ void plain(const int* x, int* y) { int s = 0; for (int i = 0; i < 128; i++) { y[i] = s; s += x[i]; } }

// One pass: each thread keeps a maximum and a sum, which are merged in pairs.
// kernel: online
// grid: 3
// block: 64
// arg x: f16[900] = normal
// arg y: f16[900] = none
// arg n: i32 = 300
// reference: plain
// tolerance: 1e-3
__global__ void online(const __half* x, __half* y, int n) {
  __shared__ float ms[64], ss[64];
  int t = threadIdx.x;
  float m = -INFINITY, s = 0;
  for (int i = t; i < n; i += 64) {
    float v = __half2float(x[blockIdx.x * n + i]), k = fmaxf(m, v);
    s = s * expf(m - k) + expf(v - k);
    m = k;
  }
  ms[t] = m;
  ss[t] = s;
  __syncthreads();
  for (int d = 32; d > 0; d >>= 1) {
    if (t < d) {
      float k = fmaxf(ms[t], ms[t + d]);
      ss[t] = ss[t] * expf(ms[t] - k) + ss[t + d] * expf(ms[t + d] - k);
      ms[t] = k;
    }
    __syncthreads();
  }
  for (int i = t; i < n; i += 64) y[blockIdx.x * n + i] = __float2half(expf(__half2float(x[blockIdx.x * n + i]) - ms[0]) / ss[0]);
}
__global__ void plain(const __half* x, __half* y, int n) {
  for (int r = 0; r < 3; r++) {
    float m = -INFINITY, s = 0;
    for (int i = 0; i < n; i++) m = fmaxf(m, __half2float(x[r * n + i]));
    for (int i = 0; i < n; i++) s += expf(__half2float(x[r * n + i]) - m);
    for (int i = 0; i < n; i++) y[r * n + i] = __float2half(expf(__half2float(x[r * n + i]) - m) / s);
  }
}

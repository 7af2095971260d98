// kernel: softmax
// grid: 2
// block: 128
// arg x: f32[800] = normal
// arg y: f32[800] = none
// arg rows: i32 = 8
// arg n: i32 = 100
// reference: plain
// tolerance: 1e-5
__global__ void softmax(const float* x, float* y, int rows, int n) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float v[4], m = -INFINITY, s = 0;
  for (int k = 0; k < 4; k++) {
    int i = lane + 32 * k;
    v[k] = i < n ? x[row * n + i] : -INFINITY;
    m = fmaxf(m, v[k]);
  }
  for (int d = 16; d > 0; d >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
  for (int k = 0; k < 4; k++) s += v[k] = expf(v[k] - m);
  for (int d = 16; d > 0; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
  for (int k = 0; k < 4; k++)
    if (lane + 32 * k < n) y[row * n + lane + 32 * k] = v[k] / s;
}
__global__ void plain(const float* x, float* y, int rows, int n) {
  for (int r = 0; r < rows; r++) {
    float m = -INFINITY, s = 0;
    for (int i = 0; i < n; i++) m = fmaxf(m, x[r * n + i]);
    for (int i = 0; i < n; i++) s += expf(x[r * n + i] - m);
    for (int i = 0; i < n; i++) y[r * n + i] = expf(x[r * n + i] - m) / s;
  }
}

// kernel: stencil
// grid: 4
// block: 64
// arg x: f32[250] = normal
// arg y: f32[250] = none
// arg n: i32 = 250
// reference: plain
// tolerance: 1e-5
#define R 3
__global__ void stencil(const float* x, float* y, int n) {
  __shared__ float s[64 + 2 * R];
  int i = blockIdx.x * 64 + threadIdx.x, t = threadIdx.x + R;
  s[t] = i < n ? x[i] : 0;
  if (threadIdx.x < R) {
    s[t - R] = i >= R ? x[i - R] : 0;
    s[t + 64] = i + 64 < n ? x[i + 64] : 0;
  }
  __syncthreads();
  if (i >= n) return;
  float v = 0;
  for (int d = -R; d <= R; d++) v += s[t + d];
  y[i] = v;
}
__global__ void plain(const float* x, float* y, int n) {
  for (int i = 0; i < n; i++) {
    float v = 0;
    for (int d = -R; d <= R; d++) if (i + d >= 0 && i + d < n) v += x[i + d];
    y[i] = v;
  }
}

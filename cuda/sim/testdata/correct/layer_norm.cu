// kernel: layer_norm
// grid: 4
// block: 96
// arg x: f32[400] = normal
// arg y: f32[400] = none
// arg n: i32 = 100
// reference: plain
// tolerance: 1e-4
__device__ float sum(float v, float* s) {
  for (int d = 16; d; d >>= 1) v += __shfl_down_sync(~0u, v, d);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  v = s[0] + s[1] + s[2];
  __syncthreads();
  return v;
}
__global__ void layer_norm(const float* x, float* y, int n) {
  __shared__ float s[3];
  const float* row = x + blockIdx.x * n;
  float a = 0, b = 0;
  for (int i = threadIdx.x; i < n; i += 96) a += row[i];
  float mean = sum(a, s) / n;
  for (int i = threadIdx.x; i < n; i += 96) b += (row[i] - mean) * (row[i] - mean);
  float r = rsqrtf(sum(b, s) / n + 1e-5f);
  for (int i = threadIdx.x; i < n; i += 96) y[blockIdx.x * n + i] = (row[i] - mean) * r;
}
__global__ void plain(const float* x, float* y, int n) {
  for (int k = 0; k < 4; k++) {
    float a = 0, b = 0;
    for (int i = 0; i < n; i++) a += x[k * n + i];
    a /= n;
    for (int i = 0; i < n; i++) b += (x[k * n + i] - a) * (x[k * n + i] - a);
    for (int i = 0; i < n; i++) y[k * n + i] = (x[k * n + i] - a) / sqrtf(b / n + 1e-5f);
  }
}

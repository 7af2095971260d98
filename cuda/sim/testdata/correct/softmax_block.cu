// kernel: softmax
// grid: 5
// block: 128
// arg x: f32[1285] = normal
// arg y: f32[1285] = none
// arg n: i32 = 257
// reference: plain
// tolerance: 1e-5
__device__ float reduce(float v, bool max, float* s) {
  for (int d = 16; d > 0; d >>= 1) {
    float o = __shfl_xor_sync(0xffffffffu, v, d);
    v = max ? fmaxf(v, o) : v + o;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  v = s[0];
  for (int w = 1; w < 4; w++) v = max ? fmaxf(v, s[w]) : v + s[w];
  return v;
}
__global__ void softmax(const float* x, float* y, int n) {
  __shared__ float s[4];
  const float* row = x + blockIdx.x * n;
  float m = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) m = fmaxf(m, row[i]);
  m = reduce(m, true, s);
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += __expf(row[i] - m);
  sum = reduce(sum, false, s);
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[blockIdx.x * n + i] = __expf(row[i] - m) / sum;
}
__global__ void plain(const float* x, float* y, int n) {
  for (int r = 0; r < 5; r++) {
    float m = -INFINITY, s = 0;
    for (int i = 0; i < n; i++) m = fmaxf(m, x[r * n + i]);
    for (int i = 0; i < n; i++) s += expf(x[r * n + i] - m);
    for (int i = 0; i < n; i++) y[r * n + i] = expf(x[r * n + i] - m) / s;
  }
}

// kernel: functions
// grid: 1
// block: 128
// arg x: f32[128] = normal
// arg y: f32[1536] = none
// reference: plain
// tolerance: 1e-6
__device__ void apply(float v, float* y, int i) {
  float a = fabsf(v) + 0.1f, s, c;
  sincosf(v * 3, &s, &c);
  float r[12] = {sinf(v), cosf(v * 10), expf(v), logf(a), powf(a, v), tanhf(v), erff(v), sqrtf(a), rsqrtf(a), atan2f(v, a), s * c, fmodf(v, 0.3f)};
  for (int k = 0; k < 12; k++) y[i * 12 + k] = r[k];
}
__global__ void functions(const float* x, float* y) { apply(x[threadIdx.x], y, threadIdx.x); }
__global__ void plain(const float* x, float* y) { for (int i = 0; i < 128; i++) apply(x[i], y, i); }

// kernel: poly
// grid: 1
// block: 64
// arg x: f32[64] = normal
// arg y: f32[64] = none
// arg n: i64 = 64
// reference: plain
// tolerance: 1e-6
struct view { float* p; long long n; __device__ float& operator[](long long i) { return p[i]; } };
__global__ void poly(const float* x, float* y, long long n) {
  view v = {y, n};
  long long i = threadIdx.x;
  if (i < v.n) v[i] = ((x[i] + 2) * x[i] - 1) * x[i] + 0.5f;
}
__global__ void plain(const float* x, float* y, long long n) {
  for (int i = 0; i < 64; i++) y[i] = x[i] * x[i] * x[i] + 2 * x[i] * x[i] - x[i] + 0.5f;
}

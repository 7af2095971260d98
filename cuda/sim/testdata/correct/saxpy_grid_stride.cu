// kernel: saxpy
// grid: 3
// block: 64
// arg x: f32[1001] = normal
// arg y: f32[1001] = normal
// arg a: f32 = 1.5
// arg n: i32 = 1001
// reference: plain
// tolerance: 1e-6
__global__ void saxpy(const float* x, float* y, float a, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] += a * x[i];
}
__global__ void plain(const float* x, float* y, float a, int n) {
  for (int i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}

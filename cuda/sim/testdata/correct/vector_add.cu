// kernel: vector_add
// grid: 4
// block: 256
// arg x: f32[1000] = normal
// arg y: f32[1000] = uniform
// arg z: f32[1000] = none
// arg n: i32 = 1000
// reference: plain
__global__ void vector_add(const float* x, const float* y, float* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = x[i] + y[i];
}
__global__ void plain(const float* x, const float* y, float* z, int n) {
  for (int i = 0; i < n; i++) z[i] = x[i] + y[i];
}

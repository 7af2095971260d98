// kernel: add
// grid: 2
// block: 64
// arg x: f32[128] = const 0.25
// arg y: f32[1] = zero
// arg z: f64[1] = zero
// reference: plain
__global__ void add(const float* x, float* y, double* z) {
  float v = x[blockIdx.x * 64 + threadIdx.x];
  atomicAdd(y, v);
  atomicAdd(z, (double)v);
}
__global__ void plain(const float* x, float* y, double* z) { *y = 32; *z = 32; }

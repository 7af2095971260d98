// kernel: k
// grid: 4
// block: 256
// arg x: f32[1024] = normal
// arg y: f32[1000] = none
__global__ void k(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  y[i] = v * v;  // want: out-of-bounds access
}

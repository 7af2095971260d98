// kernel: k
// grid: 4
// block: 256
// arg x: f32[1000] = normal
// arg y: f32[1024] = none
__global__ void k(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 2 * x[i];  // want: out-of-bounds access
}

// kernel: k
// grid: 1
// block: 64
// arg x: f32[64] = normal
// arg y: f32[64] = none
__global__ void k(const float* x, float* y) {
  int i = threadIdx.x;
  y[i] = x[i - 2];  // want: out-of-bounds access
}

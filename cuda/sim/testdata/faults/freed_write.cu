// kernel: k
// grid: 1
// block: 64
// arg x: f32[64] = normal
// arg y: f32[64] = zero freed
__global__ void k(const float* x, float* y) {
  float v = x[threadIdx.x];
  y[threadIdx.x] = v;  // want: use after free
}

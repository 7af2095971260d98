// kernel: k
// grid: 1
// block: 64
// arg x: f32[64] = normal freed
// arg y: f32[64] = none
__global__ void k(const float* x, float* y) {
  y[threadIdx.x] = x[threadIdx.x] + 1;  // want: use after free
}

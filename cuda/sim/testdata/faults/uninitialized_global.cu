// kernel: k
// grid: 1
// block: 64
// arg x: f32[64] = none
// arg y: f32[64] = none
__global__ void k(const float* x, float* y) {
  y[threadIdx.x] = x[threadIdx.x] * 2;  // want: read of memory that nothing wrote
}

// kernel: k
// grid: 1
// block: 8
// arg x: f32[64] = normal
// arg y: f64[8] = none
__global__ void k(const float* x, double* y) {
  y[threadIdx.x] = *(const double*)(x + 3 * threadIdx.x);  // want: misaligned address
}

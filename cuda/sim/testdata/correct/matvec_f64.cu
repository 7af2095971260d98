// kernel: matvec
// grid: 3
// block: 64
// arg a: f64[330] = normal
// arg x: f64[55] = normal
// arg y: f64[6] = none
// reference: plain
// tolerance: 1e-12
__global__ void matvec(const double* a, const double* x, double* y) {
  int row = blockIdx.x * 2 + threadIdx.x / 32, lane = threadIdx.x % 32;
  double s = 0;
  for (int i = lane; i < 55; i += 32) s += a[row * 55 + i] * x[i];
  for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);
  if (lane == 0) y[row] = s;
}
__global__ void plain(const double* a, const double* x, double* y) {
  for (int r = 0; r < 6; r++) { double s = 0; for (int i = 0; i < 55; i++) s += a[r * 55 + i] * x[i]; y[r] = s; }
}

// kernel: functions
// grid: 1
// block: 32
// arg x: f64[32] = normal
// arg y: f64[256] = none
// reference: plain
// tolerance: 1e-12
__device__ void apply(double v, double* y, int i) {
  double a = fabs(v) + 0.1;
  double r[8] = {sin(v), exp(v), log(a), pow(a, v), sqrt(a), 1 / a, cbrt(v), floor(v * 10)};
  for (int k = 0; k < 8; k++) y[i * 8 + k] = r[k];
}
__global__ void functions(const double* x, double* y) { apply(x[threadIdx.x], y, threadIdx.x); }
__global__ void plain(const double* x, double* y) { for (int i = 0; i < 32; i++) apply(x[i], y, i); }

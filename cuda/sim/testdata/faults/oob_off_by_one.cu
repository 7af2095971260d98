// kernel: k
// grid: 1
// block: 64
// arg x: f32[64] = normal
// arg y: f32[64] = none
// arg n: i32 = 64
__global__ void k(const float* x, float* y, int n) {
  int i = threadIdx.x;
  if (i < n) {
    float right = x[i + 1];  // want: out-of-bounds access
    y[i] = right - x[i];
  }
}

// Threads beyond the data leave before the barrier.
// kernel: k
// grid: 1
// block: 64
// arg x: f32[50] = normal
// arg y: f32[50] = none
// arg n: i32 = 50
__global__ void k(const float* x, float* y, int n) {
  __shared__ float s[64];
  int i = threadIdx.x;
  if (i >= n) return;
  s[i] = x[i];
  __syncthreads();  // want: barrier in divergent code
  y[i] = s[n - 1 - i];
}

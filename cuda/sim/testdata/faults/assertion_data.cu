// kernel: k
// grid: 2
// block: 32
// arg x: f32[64] = normal
__global__ void k(float* x) {
  int i = blockIdx.x * 32 + threadIdx.x;
  assert(x[i] >= 0);  // want: assertion failed
  x[i] = sqrtf(x[i]);
}

// kernel: copy4
// grid: 2
// block: 64
// arg x: f32[512] = normal
// arg y: f32[512] = none
// reference: plain
__global__ void copy4(const float4* x, float4* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i];
}
__global__ void plain(const float* x, float* y) {
  for (int i = 0; i < 512; i++) y[i] = x[i];
}

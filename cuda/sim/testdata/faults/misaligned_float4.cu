// kernel: k
// grid: 1
// block: 8
// arg x: f32[64] = normal
// arg y: f32[32] = none
__global__ void k(const float* x, float4* y) {
  y[threadIdx.x] = *(const float4*)(x + 1 + 4 * threadIdx.x);  // want: misaligned address
}

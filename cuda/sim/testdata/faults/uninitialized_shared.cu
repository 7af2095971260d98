// Only half of the tile is filled.
// kernel: k
// grid: 1
// block: 64
// arg x: f32[64] = normal
// arg y: f32[64] = none
__global__ void k(const float* x, float* y) {
  __shared__ float s[64];
  if (threadIdx.x < 32) s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = s[63 - threadIdx.x];  // want: read of memory that nothing wrote
}

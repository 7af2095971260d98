// kernel: shuffles
// grid: 2
// block: 256
// arg x: f32[512] = uniform
// arg sums: f32[2] = none
// reference: plain
// tolerance: 1e-5
__global__ void shuffles(const float* x, float* sums) {
  __shared__ float partial[8];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  float v = x[blockIdx.x * 256 + t];
  for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
  if (lane == 0) partial[warp] = v;
  __syncthreads();
  if (warp == 0) {
    v = lane < 8 ? partial[lane] : 0.0f;
    for (int d = 4; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
    if (lane == 0) sums[blockIdx.x] = v;
  }
}
__global__ void plain(const float* x, float* sums) {
  for (int b = 0; b < 2; b++) { float s = 0; for (int i = 0; i < 256; i++) s += x[b * 256 + i]; sums[b] = s; }
}

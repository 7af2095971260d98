// kernel: warp_sum
// grid: 2
// block: 96
// arg x: i32[192] = below 1000
// arg sums: i32[6] = none
// reference: plain
__global__ void warp_sum(const int* x, int* sums) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = x[i];
  for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
  if (threadIdx.x % 32 == 0) sums[i / 32] = v;
}
__global__ void plain(const int* x, int* sums) {
  for (int w = 0; w < 6; w++) { int s = 0; for (int i = 0; i < 32; i++) s += x[w * 32 + i]; sums[w] = s; }
}

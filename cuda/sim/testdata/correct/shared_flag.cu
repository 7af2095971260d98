// Warps hand data on by flags in shared memory: volatile, with fences on both sides.
// kernel: handed
// grid: 2
// block: 128
// arg y: i32[256] = none
// reference: plain
__global__ void handed(int* y) {
  __shared__ int data[4][32];
  __shared__ volatile int flag[4];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (lane == 0) flag[warp] = 0;
  __syncthreads();
  int v = lane + blockIdx.x;
  if (warp > 0) {
    while (flag[warp - 1] == 0) {}
    __threadfence_block();
    v = data[warp - 1][31 - lane] + 1;
  }
  data[warp][lane] = v;
  __threadfence_block();
  __syncwarp();
  if (lane == 0) flag[warp] = 1;
  y[blockIdx.x * 128 + threadIdx.x] = v;
}
__global__ void plain(int* y) {
  for (int b = 0; b < 2; b++) for (int w = 0; w < 4; w++) for (int i = 0; i < 32; i++) y[b * 128 + w * 32 + i] = w == 0 ? i + b : y[b * 128 + (w - 1) * 32 + 31 - i] + 1;
}

// kernel: wide
// grid: 2,2,2
// block: 4,4,4
// arg y: i32[512] = none
// reference: plain
__global__ void wide(int* y) {
  int x = blockIdx.x * 4 + threadIdx.x, v = blockIdx.y * 4 + threadIdx.y, z = blockIdx.z * 4 + threadIdx.z;
  y[(z * 8 + v) * 8 + x] = x * 100 + v * 10 + z;
}
__global__ void plain(int* y) { for (int i = 0; i < 512; i++) y[i] = i % 8 * 100 + i / 8 % 8 * 10 + i / 64; }

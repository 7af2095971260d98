// Two producer warps fill a buffer for two consumer warps; each pair has its barrier.
// kernel: pipe
// grid: 1
// block: 128
// arg x: i32[256] = below 1000
// arg y: i32[256] = none
// reference: plain
__global__ void pipe(const int* x, int* y) {
  __shared__ int s[64];
  int t = threadIdx.x % 64;
  for (int k = 0; k < 4; k++) {
    if (threadIdx.x < 64) {
      s[t] = x[k * 64 + t] * 2;
      asm volatile("bar.arrive 1, 128;" ::: "memory");
      asm volatile("bar.sync 2, 128;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 128;" ::: "memory");
      y[k * 64 + t] = s[63 - t];
      asm volatile("bar.arrive 2, 128;" ::: "memory");
    }
  }
}
__global__ void plain(const int* x, int* y) {
  for (int k = 0; k < 4; k++) for (int t = 0; t < 64; t++) y[k * 64 + t] = x[k * 64 + 63 - t] * 2;
}

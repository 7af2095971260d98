// Each pair of warps synchronizes for itself.
// kernel: pairs
// grid: 1
// block: 128
// arg x: i32[128] = iota
// arg y: i32[128] = none
// reference: plain
__global__ void pairs(const int* x, int* y) {
  __shared__ int s[128];
  int t = threadIdx.x, pair = t / 64;
  s[t] = x[t];
  asm volatile("bar.sync %0, 64;" ::"r"(1 + pair) : "memory");
  y[t] = s[pair * 64 + 63 - t % 64];
}
__global__ void plain(const int* x, int* y) {
  for (int t = 0; t < 128; t++) y[t] = x[t / 64 * 64 + 63 - t % 64];
}

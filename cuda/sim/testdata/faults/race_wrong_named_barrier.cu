// The pairs of warps wait at barriers of their own, but read the other pair's words.
// kernel: k
// grid: 1
// block: 128
// arg x: i32[128] = iota
// arg y: i32[128] = none
// also: read of memory that nothing wrote
__global__ void k(const int* x, int* y) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = x[t];
  asm volatile("bar.sync %0, 64;" ::"r"(1 + t / 64) : "memory");
  y[t] = s[127 - t];  // want: shared-memory race
}

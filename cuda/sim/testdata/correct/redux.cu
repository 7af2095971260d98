// kernel: redux
// grid: 1
// block: 64
// arg x: u32[64] = below 1000
// arg y: u32[8] = none
// reference: plain
__global__ void redux(const unsigned* x, unsigned* y) {
  unsigned v = x[threadIdx.x], w = threadIdx.x / 32;
  unsigned sum = __reduce_add_sync(~0u, v), lo = __reduce_min_sync(~0u, v), hi = __reduce_max_sync(~0u, v), all = __reduce_or_sync(~0u, v);
  if (threadIdx.x % 32 == 0) { y[w * 4] = sum; y[w * 4 + 1] = lo; y[w * 4 + 2] = hi; y[w * 4 + 3] = all; }
}
__global__ void plain(const unsigned* x, unsigned* y) {
  for (int w = 0; w < 2; w++) {
    unsigned s = 0, lo = ~0u, hi = 0, o = 0;
    for (int i = 0; i < 32; i++) { unsigned v = x[w * 32 + i]; s += v; lo = min(lo, v); hi = max(hi, v); o |= v; }
    y[w * 4] = s; y[w * 4 + 1] = lo; y[w * 4 + 2] = hi; y[w * 4 + 3] = o;
  }
}

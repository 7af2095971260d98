// Keeps the even numbers of each warp, in order.
// kernel: compact
// grid: 1
// block: 128
// arg x: i32[128] = below 1000
// arg y: i32[128] = zero
// arg counts: i32[4] = none
// reference: plain
__global__ void compact(const int* x, int* y, int* counts) {
  int t = threadIdx.x, lane = t & 31, v = x[t];
  unsigned keep = __ballot_sync(~0u, v % 2 == 0);
  if (v % 2 == 0) y[(t & ~31) + __popc(keep & ((1u << lane) - 1))] = v;
  if (lane == 0) counts[t / 32] = __popc(keep);
}
__global__ void plain(const int* x, int* y, int* counts) {
  for (int w = 0; w < 4; w++) {
    int n = 0;
    for (int i = 0; i < 32; i++) if (x[w * 32 + i] % 2 == 0) y[w * 32 + n++] = x[w * 32 + i];
    counts[w] = n;
  }
}

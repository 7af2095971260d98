// kernel: warp_scan
// grid: 1
// block: 64
// arg x: i32[64] = below 100
// arg y: i32[64] = none
// reference: plain
__global__ void warp_scan(const int* x, int* y) {
  int t = threadIdx.x, lane = t & 31, v = x[t];
  for (int d = 1; d < 32; d <<= 1) {
    int u = __shfl_up_sync(0xffffffffu, v, d);
    if (lane >= d) v += u;
  }
  y[t] = v;
}
__global__ void plain(const int* x, int* y) {
  for (int w = 0; w < 2; w++) { int s = 0; for (int i = 0; i < 32; i++) y[w * 32 + i] = s += x[w * 32 + i]; }
}

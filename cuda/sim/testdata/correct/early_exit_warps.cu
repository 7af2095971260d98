// Whole warps leave before warp-level code; the others' masks hold only who is there.
// kernel: tail
// grid: 2
// block: 128
// arg x: i32[200] = below 100
// arg sums: i32[8] = zero
// arg n: i32 = 200
// reference: plain
__global__ void tail(const int* x, int* sums, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned mask = __ballot_sync(0xffffffffu, i < n);
  if (i >= n) return;
  int v = x[i];
  for (int d = 16; d > 0; d >>= 1) {
    int lane = threadIdx.x % 32, from = lane + d;
    bool there = from < 32 && (mask >> from & 1);
    int other = __shfl_sync(mask, v, there ? from : lane);  // only lanes that take part are read
    if (there) v += other;
  }
  if (threadIdx.x % 32 == 0) sums[i / 32] = v;
}
__global__ void plain(const int* x, int* sums, int n) {
  for (int i = 0; i < n; i++) sums[i / 32] += x[i];
}

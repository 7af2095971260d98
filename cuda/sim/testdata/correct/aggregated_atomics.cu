// Lanes with the same key elect a leader that adds for all of them.
// kernel: aggregate
// grid: 2
// block: 64
// arg keys: i32[128] = below 5
// arg bins: i32[5] = zero
// reference: plain
__global__ void aggregate(const int* keys, int* bins) {
  int key = keys[blockIdx.x * 64 + threadIdx.x];
  unsigned peers = __match_any_sync(~0u, key);
  if (__ffs(peers) - 1 == threadIdx.x % 32) atomicAdd(&bins[key], __popc(peers));
}
__global__ void plain(const int* keys, int* bins) { for (int i = 0; i < 128; i++) bins[keys[i]]++; }

// The bins of a cluster live in one block each; all add to them from afar.
// kernel: bins
// arch: compute_90
// grid: 2
// block: 64
// cluster: 2
// arg x: u8[128] = below 32
// arg y: i32[32] = none
// reference: plain
__global__ void bins(const unsigned char* x, int* y) {
  __shared__ int s[16];
  unsigned rank, remote;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x < 16) s[threadIdx.x] = 0;
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
  int b = x[blockIdx.x * 64 + threadIdx.x];
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"((unsigned)__cvta_generic_to_shared(&s[b % 16])), "r"(b / 16));
  asm volatile("red.shared::cluster.add.u32 [%0], 1;" ::"r"(remote) : "memory");
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
  if (threadIdx.x < 16) y[rank * 16 + threadIdx.x] = s[threadIdx.x];
}
__global__ void plain(const unsigned char* x, int* y) {
  for (int i = 0; i < 32; i++) y[i] = 0;
  for (int i = 0; i < 128; i++) y[x[i]]++;
}

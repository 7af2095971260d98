// Blocks of a cluster read each other's shared memory.
// kernel: cluster_sum
// arch: compute_90
// grid: 4
// block: 32
// cluster: 2
// arg x: i32[128] = below 1000
// arg y: i32[4] = none
// reference: plain
__global__ void cluster_sum(const int* x, int* y) {
  __shared__ int sum;
  int v = __reduce_add_sync(~0u, x[blockIdx.x * 32 + threadIdx.x]);
  if (threadIdx.x == 0) sum = v;
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
  if (threadIdx.x == 0) {
    unsigned rank, remote;
    int other;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"((unsigned)__cvta_generic_to_shared(&sum)), "r"(1 - rank));
    asm volatile("ld.shared::cluster.b32 %0, [%1];" : "=r"(other) : "r"(remote) : "memory");
    y[blockIdx.x] = v + other;
  }
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
__global__ void plain(const int* x, int* y) {
  for (int c = 0; c < 2; c++) { int s = 0; for (int i = 0; i < 64; i++) s += x[c * 64 + i]; y[2 * c] = y[2 * c + 1] = s; }
}

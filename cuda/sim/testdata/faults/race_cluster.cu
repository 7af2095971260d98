// A block reads its neighbour's shared memory with a barrier of its own block only.
// kernel: k
// arch: compute_90
// grid: 2
// cluster: 2
// block: 32
// arg y: i32[64] = none
// also: read of memory that nothing wrote
__global__ void __cluster_dims__(2) k(int* y) {
  __shared__ int s[32];
  int t = threadIdx.x;
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  s[t] = t + blockIdx.x;
  __syncthreads();
  unsigned a = (unsigned)__cvta_generic_to_shared(s + t), other, v;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(other) : "r"(a), "r"(blockIdx.x ^ 1));
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(other) : "memory");  // want: shared-memory race
  y[blockIdx.x * 32 + t] = v;
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

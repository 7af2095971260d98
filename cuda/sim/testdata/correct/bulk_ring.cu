// Tiles are made in two buffers and sent away by bulk copies, read before they are made again.
// kernel: sent
// arch: compute_90
// grid: 2
// block: 64
// arg y: f32[1024] = none
// reference: plain
__global__ void sent(float* y) {
  __shared__ __align__(128) float s[2][64];
  int t = threadIdx.x;
  y += blockIdx.x * 512;
  for (int i = 0; i < 8; i++) {
    if (t == 0) asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
    __syncthreads();
    s[i & 1][t] = i * 64 + t;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" ::"l"(y + i * 64), "r"((unsigned)__cvta_generic_to_shared(s[i & 1])) : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
  }
  if (t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
__global__ void plain(float* y) { for (int i = 0; i < 1024; i++) y[i] = i % 512; }

// A bulk copy sends a tile away, and the next tile is written before it has been read.
// kernel: k
// arch: compute_90
// grid: 1
// block: 32
// arg y: f32[64] = none
__global__ void k(float* y) {
  __shared__ __align__(128) float s[32];
  int t = threadIdx.x;
  for (int i = 0; i < 2; i++) {
    s[t] = t + i;  // want: asynchronous copy not waited for
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncwarp();
    if (t == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 128;" ::"l"(y + i * 32), "r"((unsigned)__cvta_generic_to_shared(s)) : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
    __syncwarp();
  }
  if (t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

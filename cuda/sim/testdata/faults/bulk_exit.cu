// The block ends, and its shared memory with it, before a bulk copy has read it.
// kernel: k
// arch: compute_90
// grid: 2
// block: 32
// arg y: f32[64] = none
__global__ void k(float* y) {
  __shared__ __align__(128) float s[32];
  int t = threadIdx.x;
  s[t] = t;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncwarp();
  if (t == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 128;" ::"l"(y + blockIdx.x * 32), "r"((unsigned)__cvta_generic_to_shared(s)) : "memory");  // want: asynchronous copy not waited for
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  }
}

// kernel: bulk
// arch: compute_90
// grid: 2
// block: 64
// arg x: f32[256] = normal
// arg y: f32[256] = none
// reference: plain
__global__ void bulk(const float* x, float* y) {
  __shared__ __align__(128) float s[128], r[128];
  __shared__ unsigned long long bar;
  unsigned b = (unsigned)__cvta_generic_to_shared(&bar);
  int t = threadIdx.x;
  if (t == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(b) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 512;" ::"r"(b) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];" ::"r"((unsigned)__cvta_generic_to_shared(s)), "l"(x + blockIdx.x * 128), "r"(b) : "memory");
  }
  __syncthreads();
  asm volatile("{\n.reg .pred p;\nWAIT: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra WAIT;\n}" ::"r"(b) : "memory");
  r[t] = 2 * s[127 - t];
  r[t + 64] = 2 * s[63 - t];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" ::"l"(y + blockIdx.x * 128), "r"((unsigned)__cvta_generic_to_shared(r)) : "memory");
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
  }
}
__global__ void plain(const float* x, float* y) {
  for (int b = 0; b < 2; b++) for (int i = 0; i < 128; i++) y[b * 128 + i] = 2 * x[b * 128 + 127 - i];
}

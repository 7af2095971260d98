// Two bulk copies signal to two mbarriers; the kernel waits for one of them.
// kernel: k
// arch: compute_90
// grid: 1
// block: 32
// arg x: f32[64] = normal
// arg y: f32[32] = none
// also: read of memory that nothing wrote
// also: asynchronous copy not waited for
__global__ void k(const float* x, float* y) {
  __shared__ __align__(128) float s[2][32];
  __shared__ unsigned long long bar[2];
  int t = threadIdx.x;
  if (t == 0)
    for (int i = 0; i < 2; i++) {
      unsigned b = (unsigned)__cvta_generic_to_shared(bar + i);
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(b) : "memory");
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;" ::"r"(b) : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];" ::"r"((unsigned)__cvta_generic_to_shared(s[i])), "l"(x + i * 32), "r"(b) : "memory");
    }
  __syncthreads();
  unsigned b = (unsigned)__cvta_generic_to_shared(bar);
  asm volatile("{\n.reg .pred p;\nWAIT: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra WAIT;\n}" ::"r"(b) : "memory");
  y[t] = s[0][t] + s[1][t];  // want: asynchronous copy not waited for
}

// The block waits for cp.async through an mbarrier, twice.
// kernel: copy
// grid: 1
// block: 64
// arg x: f32[256] = normal
// arg y: f32[256] = none
// reference: plain
__global__ void copy(const float* x, float* y) {
  __shared__ __align__(16) float s[2][64];
  __shared__ unsigned long long bar;
  unsigned b = (unsigned)__cvta_generic_to_shared(&bar);
  int t = threadIdx.x;
  if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(b) : "memory");
  __syncthreads();
  for (int k = 0; k < 4; k++) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(&s[k & 1][t])), "l"(x + k * 64 + t) : "memory");
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(b) : "memory");
    unsigned done = 0;
    while (!done) asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(b), "r"(k & 1) : "memory");
    y[k * 64 + t] = s[k & 1][63 - t];
  }
}
__global__ void plain(const float* x, float* y) { for (int k = 0; k < 4; k++) for (int t = 0; t < 64; t++) y[k * 64 + t] = x[k * 64 + 63 - t]; }

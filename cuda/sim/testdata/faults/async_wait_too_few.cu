// Two groups are under way; waiting for all but two waits for none.
// kernel: k
// grid: 1
// block: 32
// arg x: f32[64] = normal
// arg y: f32[32] = none
// also: read of memory that nothing wrote
__global__ void k(const float* x, float* y) {
  __shared__ float s[2][32];
  int t = threadIdx.x;
  for (int i = 0; i < 2; i++) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(&s[i][t])), "l"(x + i * 32 + t) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  asm volatile("cp.async.wait_group 2;" ::: "memory");
  __syncthreads();
  y[t] = s[0][t];  // want: asynchronous copy not waited for
}

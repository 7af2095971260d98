// kernel: k
// grid: 1
// block: 32
// arg x: f32[32] = normal
// arg y: f32[32] = none
// also: read of memory that nothing wrote
__global__ void k(const float* x, float* y) {
  __shared__ float s[32];
  int t = threadIdx.x;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(s + t)), "l"(x + t) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  __syncthreads();
  y[t] = s[t];  // want: asynchronous copy not waited for
}

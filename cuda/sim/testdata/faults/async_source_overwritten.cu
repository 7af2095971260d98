// What a copy reads is overwritten before the copy has read it.
// kernel: k
// grid: 1
// block: 32
// arg x: f32[32] = normal
// arg y: f32[32] = none
__global__ void k(float* x, float* y) {
  __shared__ float s[32];
  int t = threadIdx.x;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(s + t)), "l"(x + t) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  x[t] = 0;  // want: asynchronous copy not waited for
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  y[t] = s[t];
}

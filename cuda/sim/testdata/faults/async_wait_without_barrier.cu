// Each thread waits for its own copies only, and reads another thread's.
// kernel: k
// grid: 1
// block: 64
// arg x: f32[64] = normal
// arg y: f32[64] = none
// also: shared-memory race
// also: read of memory that nothing wrote
// also: asynchronous copy not waited for
__global__ void k(const float* x, float* y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(s + t)), "l"(x + t) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  y[t] = s[63 - t];  // want: shared-memory race
}

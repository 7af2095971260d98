// The barrier expects one arrival more than there is.
// kernel: k
// grid: 1
// block: 32
// budget: 200000
// arg y: i32[32] = none
// also: deadlock
__global__ void k(int* y) {
  __shared__ unsigned long long bar;
  unsigned b = (unsigned)__cvta_generic_to_shared(&bar);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 33;" ::"r"(b) : "memory");
  __syncwarp();
  asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(b) : "memory");
  unsigned done = 0;
  while (!done) asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(b) : "memory");  // want: endless loop
  y[threadIdx.x] = 1;
}

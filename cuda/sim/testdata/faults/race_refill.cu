// The next tile is copied over the one that other warps still read.
// kernel: k
// grid: 1
// block: 64
// arg x: f32[128] = normal
// arg y: f32[128] = none
// also: read of memory that nothing wrote
__global__ void k(const float* x, float* y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  for (int i = 0; i < 2; i++) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(s + t)), "l"(x + i * 64 + t) : "memory");  // want: shared-memory race
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    y[i * 64 + t] = s[63 - t];
  }
}

// A ring of three tiles: two copies are under way while one tile is read. One barrier a tile.
// kernel: ring
// grid: 2
// block: 64
// arg x: f32[1024] = normal
// arg y: f32[1024] = none
// reference: plain
__global__ void ring(const float* x, float* y) {
  __shared__ float s[3][64];
  int t = threadIdx.x;
  x += blockIdx.x * 512;
  y += blockIdx.x * 512;
  for (int i = 0; i < 10; i++) {
    if (i < 8) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(&s[i % 3][t])), "l"(x + i * 64 + t) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    if (i < 2) continue;
    asm volatile("cp.async.wait_group 2;" ::: "memory");
    __syncthreads();
    y[(i - 2) * 64 + t] = s[(i - 2) % 3][63 - t];
    __syncthreads();
  }
}
__global__ void plain(const float* x, float* y) {
  for (int i = 0; i < 1024; i++) y[i] = x[i / 64 * 64 + 63 - i % 64];
}

// kernel: store
// arch: compute_90
// grid: 1
// block: 32
// arg x: u32[32] = below 1000000
// arg y: u32[32] = none
// reference: plain
__global__ void store(const unsigned* x, unsigned* y) {
  __shared__ __align__(16) unsigned s[32];
  int t = threadIdx.x;
  asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"((unsigned)__cvta_generic_to_shared(s + t % 8 * 4)), "r"(x[t]) : "memory");
  __syncwarp();
  y[t] = s[31 - t];
}
__global__ void plain(const unsigned* x, unsigned* y) { for (int t = 0; t < 32; t++) y[t] = x[31 - t]; }

// A producer warp fills two stages for three consumer warps: full and empty mbarriers.
// kernel: pipeline
// grid: 1
// block: 128
// arg x: i32[192] = below 1000
// arg y: i32[576] = none
// reference: plain
__device__ unsigned address(void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void arrive(unsigned b) { asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(b) : "memory"); }
__device__ void wait(unsigned b, int parity) {
  asm volatile("{\n.reg .pred p;\nL: mbarrier.test_wait.parity.shared.b64 p, [%0], %1;\n@!p bra L;\n}" ::"r"(b), "r"(parity) : "memory");
}
__global__ void pipeline(const int* x, int* y) {
  __shared__ int s[2][32];
  __shared__ unsigned long long full[2], empty[2];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0)
    for (int k = 0; k < 2; k++) {
      asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(address(&full[k])) : "memory");
      asm volatile("mbarrier.init.shared.b64 [%0], 96;" ::"r"(address(&empty[k])) : "memory");
    }
  __syncthreads();
  for (int k = 0; k < 6; k++) {
    int stage = k & 1, phase = k / 2 & 1;
    if (warp == 0) {
      if (k >= 2) wait(address(&empty[stage]), (k / 2 - 1) & 1);
      s[stage][lane] = x[k * 32 + lane];
      arrive(address(&full[stage]));
    } else {
      wait(address(&full[stage]), phase);
      y[(k * 3 + warp - 1) * 32 + lane] = s[stage][31 - lane] * warp;
      arrive(address(&empty[stage]));
    }
  }
}
__global__ void plain(const int* x, int* y) {
  for (int k = 0; k < 6; k++) for (int w = 1; w < 4; w++) for (int i = 0; i < 32; i++) y[(k * 3 + w - 1) * 32 + i] = x[k * 32 + 31 - i] * w;
}

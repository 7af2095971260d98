// kernel: k
// grid: 1
// block: 4
// arg y: f32[4] = none
__constant__ float table[4] = {1, 2, 3, 4};
__global__ void k(float* y) {
  float* p;
  asm volatile("cvta.const.u64 %0, table;" : "=l"(p));
  y[threadIdx.x] = table[threadIdx.x];
  p[threadIdx.x] = 5;  // want: write to read-only memory
}

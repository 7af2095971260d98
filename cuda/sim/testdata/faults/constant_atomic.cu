// kernel: k
// grid: 1
// block: 4
// arg y: i32[4] = none
__constant__ int table[4] = {1, 2, 3, 4};
__global__ void k(int* y) {
  int* p;
  asm volatile("cvta.const.u64 %0, table;" : "=l"(p));
  y[threadIdx.x] = table[threadIdx.x];
  atomicAdd(p + threadIdx.x, 1);  // want: write to read-only memory
}

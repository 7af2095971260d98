// kernel: k
// grid: 1
// block: 32
// arg x: i32[32] = iota
__global__ void k(int* x) {
  x[threadIdx.x]++;
  asm volatile("trap;");  // want: trap
}

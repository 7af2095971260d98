// kernel: k
// grid: 1
// block: 32
// arg x: i32[32] = iota
__global__ void k(int* x) {
  if (x[threadIdx.x] == 7)
    __trap();  // want: trap
  x[threadIdx.x]++;
}

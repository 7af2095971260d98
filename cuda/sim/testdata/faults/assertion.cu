// kernel: k
// grid: 1
// block: 64
// arg x: i32[64] = iota
// arg n: i32 = 50
__global__ void k(int* x, int n) {
  int i = threadIdx.x;
  assert(i < n);  // want: assertion failed
  x[i]++;
}

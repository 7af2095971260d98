// Assertions that hold, a trap that is not reached.
// kernel: checked
// grid: 1
// block: 64
// arg x: i32[64] = below 10
// arg n: i32 = 64
// reference: plain
__global__ void checked(int* x, int n) {
  int i = threadIdx.x;
  assert(i < n);
  if (x[i] < 0) __trap();
  x[i]++;
}
__global__ void plain(int* x, int n) { for (int i = 0; i < n; i++) x[i]++; }

// kernel: k
// grid: 1
// block: 32
// arg n: i32 = 9
// arg y: i32[32] = none
__global__ void k(int n, int* y) {
  int a[8];
  for (int i = 0; i < n; i++) a[i] = i * threadIdx.x;  // want: out-of-bounds access
  y[threadIdx.x] = a[n % 8];
}

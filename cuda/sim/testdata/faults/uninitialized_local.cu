// kernel: k
// grid: 1
// block: 32
// arg n: i32 = 5
// arg y: i32[32] = none
__global__ void k(int n, int* y) {
  volatile int a[8];
  for (int i = 0; i < n; i++) a[i] = i;
  y[threadIdx.x] = a[n + 1];  // want: read of memory that nothing wrote
}

// kernel: recursion
// grid: 1
// block: 32
// arg x: i32[32] = below 10
// arg y: i32[32] = none
// reference: plain
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__global__ void recursion(const int* x, int* y) { y[threadIdx.x] = fib(x[threadIdx.x]); }
__global__ void plain(const int* x, int* y) {
  for (int i = 0; i < 32; i++) { int a = 0, b = 1; for (int k = 0; k < x[i]; k++) { int c = a + b; a = b; b = c; } y[i] = a; }
}

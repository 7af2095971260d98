// The step is zero for the last thread.
// kernel: k
// grid: 1
// block: 32
// budget: 200000
// arg y: i32[32] = zero
__global__ void k(volatile int* y) {
  for (int i = 0; i < 100; i += 31 - threadIdx.x) y[threadIdx.x] = i;  // want: endless loop
}

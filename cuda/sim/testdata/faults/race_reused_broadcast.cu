// A block's sum is read by all threads, and the next round begins while some still read it.
// kernel: k
// grid: 1
// block: 128
// arg y: i32[384] = none
__global__ void k(int* y) {
  __shared__ int sum;
  int t = threadIdx.x;
  for (int i = 0; i < 3; i++) {
    if (t == 0) sum = i + 1;  // want: shared-memory race
    __syncthreads();
    y[i * 128 + t] = sum;
  }
}

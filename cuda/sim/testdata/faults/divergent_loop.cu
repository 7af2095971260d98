// Lanes make different numbers of rounds.
// kernel: k
// grid: 1
// block: 32
// arg y: i32[32] = none
__global__ void k(int* y) {
  int n = 0;
  for (int i = threadIdx.x; i < 40; i += 32) {
    n += i;
    __syncthreads();  // want: barrier in divergent code
  }
  y[threadIdx.x] = n;
}

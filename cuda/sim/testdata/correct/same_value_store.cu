// Lanes that store the same value to one word do not race.
// kernel: found
// grid: 2
// block: 64
// arg x: i32[128] = below 10
// arg flag: i32[1] = zero
// reference: plain
__global__ void found(const int* x, int* flag) {
  __shared__ int any;
  any = 0;
  __syncthreads();
  if (x[blockIdx.x * 64 + threadIdx.x] == 7) any = 1;
  __syncthreads();
  if (threadIdx.x == 0 && any) atomicOr(flag, 1);
}
__global__ void plain(const int* x, int* flag) { for (int i = 0; i < 128; i++) if (x[i] == 7) *flag = 1; }

// kernel: reverse
// grid: 2
// block: 64
// shared: 256
// arg x: i32[128] = iota
// arg y: i32[128] = none
// reference: plain
extern __shared__ int buffer[];
__global__ void reverse(const int* x, int* y) {
  buffer[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();
  y[blockIdx.x * 64 + threadIdx.x] = buffer[63 - threadIdx.x];
}
__global__ void plain(const int* x, int* y) {
  for (int b = 0; b < 2; b++) for (int i = 0; i < 64; i++) y[b * 64 + i] = x[b * 64 + 63 - i];
}

// Threads of a block exchange through global memory, between barriers.
// kernel: exchange
// grid: 2
// block: 64
// arg buffer: i32[128] = none
// arg y: i32[128] = none
// reference: plain
__global__ void exchange(int* buffer, int* y) {
  int base = blockIdx.x * 64, t = threadIdx.x;
  buffer[base + t] = t * t;
  __syncthreads();
  y[base + t] = buffer[base + (t + 7) % 64];
  __syncthreads();
  buffer[base + t] = -1;
}
__global__ void plain(int* buffer, int* y) {
  for (int b = 0; b < 2; b++) for (int t = 0; t < 64; t++) { buffer[b * 64 + t] = -1; y[b * 64 + t] = (t + 7) % 64 * ((t + 7) % 64); }
}

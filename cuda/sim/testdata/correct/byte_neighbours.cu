// Neighbouring bytes of one word belong to different threads: that is no race.
// kernel: bytes
// grid: 2
// block: 32
// arg x: u8[64] = below 200
// arg y: u8[64] = none
// reference: plain
__global__ void bytes(const unsigned char* x, unsigned char* y) {
  __shared__ unsigned char s[32];
  s[threadIdx.x] = x[blockIdx.x * 32 + threadIdx.x];
  __syncthreads();
  y[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x ^ 1] + 1;
}
__global__ void plain(const unsigned char* x, unsigned char* y) { for (int i = 0; i < 64; i++) y[i] = x[i ^ 1] + 1; }

// kernel: histogram
// grid: 4
// block: 128
// arg x: u8[1000] = below 64
// arg bins: u32[64] = zero
// arg n: i32 = 1000
// reference: plain
__global__ void histogram(const unsigned char* x, unsigned* bins, int n) {
  __shared__ unsigned s[64];
  if (threadIdx.x < 64) s[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&s[x[i]], 1u);
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], s[threadIdx.x]);
}
__global__ void plain(const unsigned char* x, unsigned* bins, int n) { for (int i = 0; i < n; i++) bins[x[i]]++; }

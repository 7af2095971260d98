// The launch gives half of the dynamic shared memory that the kernel uses.
// kernel: k
// grid: 1
// block: 64
// shared: 128
// arg y: f32[64] = none
extern __shared__ float s[];
__global__ void k(float* y) {
  int i = threadIdx.x;
  s[i] = i;  // want: out-of-bounds access
  __syncthreads();
  if (i < 32) y[i] = s[31 - i];
}

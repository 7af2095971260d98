// kernel: k
// grid: 1
// block: 32
// arg y: i32[32] = none
// arg off: i32 = 2
__global__ void k(int* y, int off) {
  __shared__ __align__(8) char s[256];
  for (int i = threadIdx.x; i < 256; i += 32) s[i] = i;
  __syncthreads();
  y[threadIdx.x] = *(int*)(s + off + 4 * threadIdx.x);  // want: misaligned address
}

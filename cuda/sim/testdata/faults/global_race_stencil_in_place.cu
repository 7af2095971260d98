// kernel: k
// grid: 4
// block: 32
// arg x: f32[129] = normal
__global__ void k(float* x) {
  int i = blockIdx.x * 32 + threadIdx.x;
  float right = x[i + 1];  // want: global-memory race between blocks
  __syncthreads();
  x[i] = (x[i] + right) / 2;
}

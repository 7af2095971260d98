// kernel: local_array
// grid: 1
// block: 64
// arg x: i32[64] = below 16
// arg y: i32[64] = none
// reference: plain
__device__ int walk(int v) {
  int a[16];
  for (int i = 0; i < 16; i++) a[i] = (i * 7 + v) % 16;
  int p = v;
  for (int k = 0; k < 10 + v; k++) p = a[p];
  return p;
}
__global__ void local_array(const int* x, int* y) { y[threadIdx.x] = walk(x[threadIdx.x]); }
__global__ void plain(const int* x, int* y) { for (int i = 0; i < 64; i++) y[i] = walk(x[i]); }

// kernel: exchange
// grid: 1
// block: 64
// arg x: i32[64] = below 1000
// arg y: i32[64] = none
// reference: plain
__global__ void exchange(const int* x, int* y) {
  __shared__ int s[2][32];
  int w = threadIdx.x / 32, lane = threadIdx.x % 32, v = x[threadIdx.x];
  for (int k = 0; k < 5; k++) {
    s[w][lane] = v;
    __syncwarp();
    v += s[w][(lane + 1) % 32];
    __syncwarp();
  }
  y[threadIdx.x] = v;
}
__global__ void plain(const int* x, int* y) {
  for (int w = 0; w < 2; w++) {
    int v[32], u[32];
    for (int i = 0; i < 32; i++) v[i] = x[w * 32 + i];
    for (int k = 0; k < 5; k++) {
      for (int i = 0; i < 32; i++) u[i] = v[i] + v[(i + 1) % 32];
      for (int i = 0; i < 32; i++) v[i] = u[i];
    }
    for (int i = 0; i < 32; i++) y[w * 32 + i] = v[i];
  }
}

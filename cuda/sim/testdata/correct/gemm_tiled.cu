// kernel: gemm
// grid: 3,2
// block: 16,16
// arg a: f32[1320] = normal
// arg b: f32[1600] = normal
// arg c: f32[1320] = none
// arg m: i32 = 33
// arg n: i32 = 40
// arg k: i32 = 40
// reference: plain
// tolerance: 1e-4
__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float as[16][16], bs[16][17];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.x * 16 + y;
  for (int col = blockIdx.y * 16 + x; col - x < n; col += 32) {
    float sum = 0;
    for (int k0 = 0; k0 < k; k0 += 16) {
      as[y][x] = row < m && k0 + x < k ? a[row * k + k0 + x] : 0;
      bs[y][x] = col < n && k0 + y < k ? b[(k0 + y) * n + col] : 0;
      __syncthreads();
      for (int i = 0; i < 16; i++) sum += as[y][i] * bs[i][x];
      __syncthreads();
    }
    if (row < m && col < n) c[row * n + col] = sum;
  }
}
__global__ void plain(const float* a, const float* b, float* c, int m, int n, int k) {
  for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) {
    float s = 0;
    for (int l = 0; l < k; l++) s += a[i * k + l] * b[l * n + j];
    c[i * n + j] = s;
  }
}

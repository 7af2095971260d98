// kernel: transpose
// grid: 3,2
// block: 32,8
// arg x: f32[4500] = iota
// arg y: f32[4500] = none
// arg rows: i32 = 50
// arg cols: i32 = 90
// reference: plain
__global__ void transpose(const float* x, float* y, int rows, int cols) {
  __shared__ float tile[32][33];
  int c = blockIdx.x * 32 + threadIdx.x, r0 = blockIdx.y * 32;
  for (int j = threadIdx.y; j < 32; j += 8)
    if (c < cols && r0 + j < rows) tile[j][threadIdx.x] = x[(r0 + j) * cols + c];
  __syncthreads();
  int r = r0 + threadIdx.x;
  for (int j = threadIdx.y; j < 32; j += 8)
    if (r < rows && blockIdx.x * 32 + j < cols) y[(blockIdx.x * 32 + j) * rows + r] = tile[threadIdx.x][j];
}
__global__ void plain(const float* x, float* y, int rows, int cols) {
  for (int r = 0; r < rows; r++) for (int c = 0; c < cols; c++) y[c * rows + r] = x[r * cols + c];
}

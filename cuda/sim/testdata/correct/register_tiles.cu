// Each thread computes a 4x4 tile from shared memory.
// kernel: tiles
// grid: 1,1
// block: 8,8
// arg a: f32[1024] = normal
// arg b: f32[1024] = normal
// arg c: f32[1024] = none
// reference: plain
// tolerance: 1e-4
__global__ void tiles(const float* a, const float* b, float* c) {
  __shared__ float as[8][32], bs[8][32];
  int x = threadIdx.x, y = threadIdx.y, t = y * 8 + x;
  float sum[4][4] = {};
  for (int k = 0; k < 32; k += 8) {
    for (int i = t; i < 256; i += 64) {
      as[i % 8][i / 8] = a[i / 8 * 32 + k + i % 8];
      bs[i / 32][i % 32] = b[(k + i / 32) * 32 + i % 32];
    }
    __syncthreads();
    for (int l = 0; l < 8; l++) {
      float4 u = *(float4*)&as[l][y * 4], v = *(float4*)&bs[l][x * 4];
      float us[4] = {u.x, u.y, u.z, u.w}, vs[4] = {v.x, v.y, v.z, v.w};
      for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) sum[i][j] += us[i] * vs[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; i++) *(float4*)&c[(y * 4 + i) * 32 + x * 4] = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}
__global__ void plain(const float* a, const float* b, float* c) {
  for (int i = 0; i < 32; i++) for (int j = 0; j < 32; j++) { float s = 0; for (int l = 0; l < 32; l++) s += a[i * 32 + l] * b[l * 32 + j]; c[i * 32 + j] = s; }
}

// kernel: attention
// grid: 16
// block: 32
// arg q: f32[512] = normal
// arg k: f32[512] = normal
// arg v: f32[512] = normal
// arg o: f32[512] = none
// reference: plain
// tolerance: 1e-4
__global__ void attention(const float* q, const float* k, const float* v, float* o) {
  __shared__ float ks[4][32], vs[4][32];
  int t = threadIdx.x, row = blockIdx.x;
  float qi = q[row * 32 + t], m = -INFINITY, l = 0, acc = 0;
  for (int j0 = 0; j0 < 16; j0 += 4) {
    for (int j = 0; j < 4; j++) {
      ks[j][t] = k[(j0 + j) * 32 + t];
      vs[j][t] = v[(j0 + j) * 32 + t];
    }
    __syncthreads();
    for (int j = 0; j < 4; j++) {
      float s = qi * ks[j][t];
      for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
      s *= 0.17677669f;
      float n = fmaxf(m, s), w = __expf(s - n), c = __expf(m - n);
      l = l * c + w;
      acc = acc * c + w * vs[j][t];
      m = n;
    }
    __syncthreads();
  }
  o[row * 32 + t] = acc / l;
}
__global__ void plain(const float* q, const float* k, const float* v, float* o) {
  for (int i = 0; i < 16; i++) {
    float s[16], m = -INFINITY, l = 0;
    for (int j = 0; j < 16; j++) {
      s[j] = 0;
      for (int d = 0; d < 32; d++) s[j] += q[i * 32 + d] * k[j * 32 + d];
      s[j] *= 0.17677669f;
      m = fmaxf(m, s[j]);
    }
    for (int j = 0; j < 16; j++) l += s[j] = expf(s[j] - m);
    for (int d = 0; d < 32; d++) {
      float a = 0;
      for (int j = 0; j < 16; j++) a += s[j] * v[j * 32 + d];
      o[i * 32 + d] = a / l;
    }
  }
}

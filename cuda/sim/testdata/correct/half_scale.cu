// kernel: half_scale
// grid: 2
// block: 128
// arg x: f16[500] = normal
// arg y: f16[500] = none
// arg n: i32 = 500
// reference: plain
__global__ void half_scale(const __half* x, __half* y, int n) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * 2;
  if (i + 1 < n) *(__half2*)(y + i) = __hmul2(*(const __half2*)(x + i), __float2half2_rn(3.0f));
}
__global__ void plain(const __half* x, __half* y, int n) {
  for (int i = 0; i < n; i++) y[i] = __float2half(__half2float(x[i]) * 3.0f);
}

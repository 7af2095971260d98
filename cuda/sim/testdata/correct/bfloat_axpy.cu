// kernel: axpy
// grid: 1
// block: 128
// arg x: bf16[128] = normal
// arg y: bf16[128] = normal
// reference: plain
__global__ void axpy(const __nv_bfloat16* x, __nv_bfloat16* y) {
  int i = threadIdx.x;
  y[i] = __float2bfloat16(2.0f * __bfloat162float(x[i]) + __bfloat162float(y[i]));
}
__global__ void plain(const __nv_bfloat16* x, __nv_bfloat16* y) {
  for (int i = 0; i < 128; i++) y[i] = __float2bfloat16(2.0f * __bfloat162float(x[i]) + __bfloat162float(y[i]));
}

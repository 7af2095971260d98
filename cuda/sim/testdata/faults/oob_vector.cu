// The last float4 reaches past the end.
// kernel: k
// grid: 1
// block: 16
// arg x: f32[62] = normal
// arg y: f32[64] = none
__global__ void k(const float4* x, float4* y) {
  y[threadIdx.x] = x[threadIdx.x];  // want: out-of-bounds access
}

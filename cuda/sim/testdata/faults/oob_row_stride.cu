// Rows are 100 apart, not 128.
// kernel: k
// grid: 10
// block: 100
// arg x: f32[1000] = normal
// arg y: f32[1000] = none
// The last rows may fall into y, behind x:
// also: read of memory that nothing wrote
// also: global-memory race between blocks
__global__ void k(const float* x, float* y) {
  int r = blockIdx.x, c = threadIdx.x;
  float v = x[r * 128 + c];  // want: out-of-bounds access
  y[r * 100 + c] = v;
}

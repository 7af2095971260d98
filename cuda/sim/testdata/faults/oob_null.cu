// kernel: k
// grid: 1
// block: 1
// arg p: u64 = 0
// arg y: f32[1] = none
__global__ void k(const float* p, float* y) {
  *y = *p;  // want: out-of-bounds access
}

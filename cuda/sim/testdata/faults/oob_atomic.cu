// kernel: k
// grid: 1
// block: 64
// arg x: i32[64] = below 12
// arg bins: i32[8] = zero
__global__ void k(const int* x, int* bins) {
  atomicAdd(&bins[x[threadIdx.x]], 1);  // want: out-of-bounds access
}

// kernel: k
// arch: compute_90
// grid: 3
// block: 32
// cluster: 2
// arg x: i32[96] = zero
// want: launch refused
__global__ void k(int* x) { x[blockIdx.x * 32 + threadIdx.x] = 1; }

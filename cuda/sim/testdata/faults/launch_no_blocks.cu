// kernel: k
// grid: 0
// block: 32
// arg x: i32[32] = zero
// want: launch refused
__global__ void k(int* x) { x[threadIdx.x] = 1; }

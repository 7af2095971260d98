// kernel: k
// grid: 1
// block: 2048
// arg x: i32[2048] = zero
// want: launch refused
__global__ void k(int* x) { x[threadIdx.x] = 1; }

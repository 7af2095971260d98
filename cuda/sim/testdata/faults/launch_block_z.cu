// kernel: k
// grid: 1
// block: 1,1,128
// arg x: i32[128] = zero
// want: launch refused
__global__ void k(int* x) { x[threadIdx.z] = 1; }

// kernel: k
// grid: 1
// block: 256
// arg x: i32[256] = zero
// want: launch refused
__global__ void __launch_bounds__(128) k(int* x) { x[threadIdx.x] = 1; }

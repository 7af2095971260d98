// kernel: k
// grid: 1
// block: 32
// shared: 250000
// arg x: i32[32] = zero
// want: launch refused
extern __shared__ int s[];
__global__ void k(int* x) { s[threadIdx.x] = 1; x[threadIdx.x] = s[threadIdx.x]; }

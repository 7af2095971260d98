// kernel: total
// grid: 8
// block: 64
// arg x: i32[512] = below 1000
// arg sum: i32[1] = zero
// reference: plain
__global__ void total(const int* x, int* sum) { atomicAdd(sum, x[blockIdx.x * 64 + threadIdx.x]); }
__global__ void plain(const int* x, int* sum) { for (int i = 0; i < 512; i++) *sum += x[i]; }

// kernel: tickets
// grid: 4
// block: 32
// arg taken: i32[128] = zero
// reference: plain
__device__ unsigned counter;
__global__ void tickets(int* taken) { taken[atomicAdd(&counter, 1u)] = 1; }
__global__ void plain(int* taken) { for (int i = 0; i < 128; i++) taken[i] = 1; }

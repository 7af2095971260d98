// kernel: square
// grid: 2
// block: 64
// arg x: f32[128] = normal
// reference: plain
__global__ void square(float* x) { int i = blockIdx.x * 64 + threadIdx.x; x[i] = x[i] * x[i]; }
__global__ void plain(float* x) { for (int i = 0; i < 128; i++) x[i] = x[i] * x[i]; }

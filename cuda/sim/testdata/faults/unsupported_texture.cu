// kernel: k
// grid: 1
// block: 32
// arg t: u64 = 0
// arg x: f32[32] = zero
__global__ void k(unsigned long long t, float* x) {
  float r, g, b, a;
  asm volatile("tex.1d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5}];" : "=f"(r), "=f"(g), "=f"(b), "=f"(a) : "l"(t), "r"(threadIdx.x));  // want: unsupported instruction
  x[threadIdx.x] = r + g + b + a;
}

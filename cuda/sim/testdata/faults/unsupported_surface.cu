// kernel: k
// grid: 1
// block: 32
// arg t: u64 = 0
// arg x: f32[32] = normal
__global__ void k(unsigned long long t, float* x) {
  asm volatile("sust.b.1d.b32.trap [%0, {%1}], {%2};" ::"l"(t), "r"(4 * threadIdx.x), "r"(__float_as_int(x[threadIdx.x])));  // want: unsupported instruction
}

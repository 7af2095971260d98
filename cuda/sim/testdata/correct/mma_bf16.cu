// kernel: mma
// grid: 1
// block: 32
// arg a: bf16[128] = normal
// arg b: bf16[64] = normal
// arg c: f32[128] = none
// reference: plain
// tolerance: 1e-3
__global__ void mma(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c) {
  int g = threadIdx.x / 4, q = threadIdx.x % 4 * 2;
  unsigned a0 = *(const unsigned*)(a + g * 8 + q), a1 = *(const unsigned*)(a + (g + 8) * 8 + q), b0 = *(const unsigned*)(b + g * 8 + q);
  float d[4];
  asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%7,%7,%7};" : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]) : "r"(a0), "r"(a1), "r"(b0), "f"(1.0f));
  *(float2*)(c + g * 8 + q) = make_float2(d[0], d[1]);
  *(float2*)(c + (g + 8) * 8 + q) = make_float2(d[2], d[3]);
}
__global__ void plain(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c) {
  for (int i = 0; i < 16; i++) for (int j = 0; j < 8; j++) {
    float s = 1;
    for (int l = 0; l < 8; l++) s += __bfloat162float(a[i * 8 + l]) * __bfloat162float(b[j * 8 + l]);
    c[i * 8 + j] = s;
  }
}

// A warp multiplies 16x16 by 16x8 through ldmatrix and mma.sync, along k.
// kernel: gemm
// grid: 2,2
// block: 32
// arg a: f16[1536] = normal
// arg b: f16[768] = normal
// arg c: f32[512] = none
// reference: plain
// tolerance: 1e-3
__global__ void gemm(const __half* a, const __half* b, float* c) {
  __shared__ __align__(16) __half as[16][16], bs[16][8];
  int t = threadIdx.x, row = blockIdx.y * 16, col = blockIdx.x * 8;
  float d[4] = {0, 0, 0, 0};
  for (int k = 0; k < 48; k += 16) {
    *(uint4*)&as[t / 2][t % 2 * 8] = *(const uint4*)(a + (row + t / 2) * 48 + k + t % 2 * 8);
    if (t < 16) *(uint4*)&bs[t][0] = *(const uint4*)(b + (k + t) * 16 + col);
    __syncwarp();
    unsigned ra[4], rb[2];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"((unsigned)__cvta_generic_to_shared(&as[t % 16][t / 16 * 8])) : "memory");
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(rb[0]), "=r"(rb[1]) : "r"((unsigned)__cvta_generic_to_shared(&bs[t % 16][0])) : "memory");
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    __syncwarp();
  }
  int r = row + t / 4, q = col + t % 4 * 2;
  c[r * 16 + q] = d[0];
  c[r * 16 + q + 1] = d[1];
  c[(r + 8) * 16 + q] = d[2];
  c[(r + 8) * 16 + q + 1] = d[3];
}
__global__ void plain(const __half* a, const __half* b, float* c) {
  for (int i = 0; i < 32; i++) for (int j = 0; j < 16; j++) {
    float s = 0;
    for (int l = 0; l < 48; l++) s += __half2float(a[i * 48 + l]) * __half2float(b[l * 16 + j]);
    c[i * 16 + j] = s;
  }
}

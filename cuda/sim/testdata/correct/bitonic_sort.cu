// kernel: sort
// grid: 2
// block: 128
// arg x: i32[256] = below 100000
// reference: plain
__global__ void sort(int* x) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 128 + t];
  __syncthreads();
  for (int k = 2; k <= 128; k <<= 1)
    for (int j = k >> 1; j > 0; j >>= 1) {
      int o = t ^ j;
      if (o > t && (s[t] > s[o]) == ((t & k) == 0)) {
        int v = s[t];
        s[t] = s[o];
        s[o] = v;
      }
      __syncthreads();
    }
  x[blockIdx.x * 128 + t] = s[t];
}
__global__ void plain(int* x) {
  for (int b = 0; b < 2; b++) for (int i = 1; i < 128; i++) {
    int v = x[b * 128 + i], j = i;
    for (; j > 0 && x[b * 128 + j - 1] > v; j--) x[b * 128 + j] = x[b * 128 + j - 1];
    x[b * 128 + j] = v;
  }
}

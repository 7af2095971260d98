// A block repeats until no thread changes anything: bar.red decides for all alike.
// kernel: settle
// grid: 1
// block: 64
// arg x: i32[64] = below 100
// arg rounds: i32[1] = none
// reference: plain
__global__ void settle(int* x, int* rounds) {
  __shared__ int s[64];
  int t = threadIdx.x, n = 0;
  s[t] = x[t];
  __syncthreads();
  while (true) {
    int left = t > 0 ? s[t - 1] : 0, v = max(s[t], left);
    if (!__syncthreads_or(v != s[t])) break;
    s[t] = v;
    n++;
    __syncthreads();
  }
  x[t] = s[t];
  if (t == 0) *rounds = n;
}
__global__ void plain(int* x, int* rounds) {
  int n = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (int t = 63; t > 0; t--) if (x[t - 1] > x[t]) { x[t] = x[t - 1]; changed = true; }
    n += changed;
  }
  *rounds = n;
}

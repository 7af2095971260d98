// The last block reads partial sums that no fence orders.
// kernel: k
// grid: 8
// block: 32
// arg partial: i32[8] = none
// arg count: i32[1] = zero
// arg sum: i32[1] = zero
// also: read of memory that nothing wrote
__global__ void k(int* partial, int* count, int* sum) {
  if (threadIdx.x != 0) return;
  partial[blockIdx.x] = blockIdx.x;
  if (atomicAdd(count, 1) == 7) {
    int v = 0;
    for (int b = 0; b < 8; b++) v += partial[b];  // want: global-memory race between blocks
    *sum = v;
  }
}

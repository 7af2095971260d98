// kernel: k
// grid: 1
// block: 32
// arg n: i32[1] = zero freed
__global__ void k(int* n) {
  atomicAdd(n, 1);  // want: use after free
}

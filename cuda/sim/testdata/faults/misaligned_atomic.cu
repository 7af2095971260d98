// kernel: k
// grid: 1
// block: 1
// arg y: u8[64] = zero
__global__ void k(unsigned char* y) {
  atomicAdd((int*)(y + 6), 1);  // want: misaligned address
}

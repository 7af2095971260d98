// Nobody sets the flag.
// kernel: k
// grid: 1
// block: 32
// budget: 200000
// arg flag: i32[1] = zero
__global__ void k(volatile int* flag) {
  while (*flag == 0) {}  // want: endless loop
}

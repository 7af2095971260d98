// Package sim executes PTX on the CPU, as a CUDA device would, and watches what
// the kernel does.
//
// A Device has a global memory of allocations and runs launches. A launch is a
// grid of blocks that workers, one a core, take from a queue; a block is run by
// one goroutine, which interleaves its warps; a warp executes one instruction for
// all of its lanes at once: registers are arrays of 32 lanes, predicates are
// masks. Lanes of a warp that part run as splits of their own (the split with the
// lowest instruction goes first) and join again where they meet, so that lanes
// may wait for each other as on a device with independent thread scheduling.
//
// Decoding turns every ptx.Instruction into an operation of Go functions over
// lanes, once a module. Memory is always checked for bounds: a simulator that let
// a kernel write where it should not would lose the learner's work. Checkers look
// at every access and every wait, and report what a real device would let pass.
package sim

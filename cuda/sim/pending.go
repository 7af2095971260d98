package sim

// The executor's types, until its files define them: this file goes then.
type (
	// Allocation is a piece of global memory.
	Allocation struct{}
	// Inst is a decoded instruction.
	Inst struct{}
	// Warp is a warp that runs.
	Warp struct{}
	// Block is a block that runs.
	Block struct{}
)

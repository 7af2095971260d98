package sim

import (
	"fmt"
	"math"
	"strings"
)

// GPU is what a multiprocessor of a device has, as far as it limits how many blocks
// are there at a time. The numbers are those of the CUDA programming guide.
type GPU struct {
	Name          string
	SMs           int
	Warps         int // of a multiprocessor
	Blocks        int
	Registers     int
	SharedSM      int // bytes of a multiprocessor
	SharedBlock   int // bytes of a block, at most
	SharedReserve int // bytes that the system takes of each block's
	SharedUnit    int // bytes that shared memory is given out in
}

const (
	registerUnit  = 256 // registers that a warp gets at a time
	warpUnit      = 4   // warps that registers are given to at a time: one for each scheduler
	mostRegisters = 255 // of a thread
)

// GPUs lists the devices that occupancy is known of.
func GPUs() []GPU {
	return []GPU{
		{Name: "H100/H200", SMs: 132, Warps: 64, Blocks: 32, Registers: 65536, SharedSM: 228 << 10, SharedBlock: 227 << 10, SharedReserve: 1 << 10, SharedUnit: 128},
		{Name: "A100", SMs: 108, Warps: 64, Blocks: 32, Registers: 65536, SharedSM: 164 << 10, SharedBlock: 163 << 10, SharedReserve: 1 << 10, SharedUnit: 128},
		{Name: "T4", SMs: 40, Warps: 32, Blocks: 16, Registers: 65536, SharedSM: 64 << 10, SharedBlock: 64 << 10, SharedUnit: 256},
	}
}

// Occupancy is how many blocks of a launch a multiprocessor holds at a time.
type Occupancy struct {
	GPU       string
	Registers int // of a thread; 0 where they are not known, and limit nothing
	Blocks    int // on a multiprocessor
	Warps     int
	MostWarps int // that a multiprocessor has room for
	Limits    []string
	Reason    string // why no block fits, when none does
}

// Share is the part of a multiprocessor's warps that are there.
func (o Occupancy) Share() float64 { return ratio(int64(o.Warps), int64(o.MostWarps), 0) }

// Occupancy tells what limits blocks of so many threads, with so many registers a
// thread (0 when nobody knows: PTX does not say) and bytes of shared memory a block.
func (g GPU) Occupancy(threads, registers, shared int) Occupancy {
	o := Occupancy{GPU: g.Name, Registers: registers, MostWarps: g.Warps}
	warps := (threads + WarpSize - 1) / WarpSize
	switch {
	case threads < 1 || threads > MaxThreads:
		o.Reason = fmt.Sprintf("a block has 1 to %d threads, not %d", MaxThreads, threads)
		return o
	case registers > mostRegisters:
		o.Reason = fmt.Sprintf("a thread has at most %d registers, not %d", mostRegisters, registers)
		return o
	case shared > g.SharedBlock:
		o.Reason = fmt.Sprintf("a block has at most %d bytes of shared memory, not %d", g.SharedBlock, shared)
		return o
	}
	limits := []struct {
		name   string
		blocks int
	}{
		{"threads", g.Warps / warps},
		{"registers", g.byRegisters(warps, registers)},
		{"shared memory", g.byShared(shared)},
		{"blocks of a multiprocessor", g.Blocks},
	}
	o.Blocks = g.Blocks
	for _, l := range limits {
		o.Blocks = min(o.Blocks, l.blocks)
	}
	for _, l := range limits {
		if l.blocks == o.Blocks {
			o.Limits = append(o.Limits, l.name)
		}
	}
	if o.Warps = o.Blocks * warps; o.Blocks == 0 {
		o.Reason = fmt.Sprintf("%d threads of %d registers need more than the %d registers of a multiprocessor", threads, registers, g.Registers)
	}
	return o
}

const unlimited = math.MaxInt32 // blocks

func (g GPU) byRegisters(warps, registers int) int {
	if registers == 0 {
		return unlimited
	}
	warp := roundUp(registers*WarpSize, registerUnit)
	return g.Registers / warp / warpUnit * warpUnit / warps
}

func (g GPU) byShared(shared int) int {
	used := roundUp(shared+g.SharedReserve, g.SharedUnit)
	if used == 0 {
		return unlimited
	}
	return g.SharedSM / used
}

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }

// String is "H100/H200: 16 blocks, 64 of 64 warps (100%); threads limit it".
func (o Occupancy) String() string {
	if o.Reason != "" {
		return fmt.Sprintf("%s: no block fits: %s", o.GPU, o.Reason)
	}
	text := fmt.Sprintf("%s: %d blocks a multiprocessor, %d of %d warps (%.0f%%); limited by %s",
		o.GPU, o.Blocks, o.Warps, o.MostWarps, 100*o.Share(), strings.Join(o.Limits, " and "))
	if o.Registers == 0 {
		text += "; registers are not counted"
	}
	return text
}

package sim

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
	"sync"

	"github.com/warpbook/warpbook/cuda/ptx"
)

// Profile is what a launch cost, by instruction and by source line. It is data only
// and goes through JSON; Table and Annotated show it as text.
type Profile struct {
	Kernel    string
	Grid      Dim
	Block     Dim
	Shared    int // bytes of a block, static and dynamic
	Sites     []Site
	Lines     []LineCost
	Total     Cost
	Occupancy []Occupancy
}

// Cost is what instructions did. A request is one warp's execution of an instruction
// that accesses memory.
type Cost struct {
	Warps int64 // executions by a warp
	// Lanes is of how many lanes these were, and LaneWarps of how many executions:
	// branches are left out, whose lanes are those that jump.
	Lanes, LaneWarps int64

	GlobalRequests int64
	GlobalSectors  int64 // of 32 bytes, that the requests touched
	GlobalIdeal    int64 // that the same bytes fill when they lie side by side
	GlobalBytes    int64 // different bytes that the requests touched

	SharedRequests int64
	SharedWays     int64 // passes over the banks
	SharedIdeal    int64 // passes without any conflict

	AtomicRequests int64 // of global and shared memory
	AtomicWays     int64 // operations one after the other, of lanes at one address

	LocalBytes int64 // to and from local memory: spills and arrays of a thread
	BulkBytes  int64 // that bulk copies move
	Barriers   int64 // executions that are a block's or cluster's barrier, by warp
}

// Active is the share of the lanes that took part, 1 where all did.
func (c *Cost) Active() float64 { return ratio(c.Lanes, WarpSize*c.LaneWarps, 1) }

// SectorsPerRequest is how many sectors of global memory a request touched.
func (c *Cost) SectorsPerRequest() float64 { return ratio(c.GlobalSectors, c.GlobalRequests, 0) }

// IdealSectors is how many sectors a request would touch if its bytes lay side by side.
func (c *Cost) IdealSectors() float64 { return ratio(c.GlobalIdeal, c.GlobalRequests, 0) }

// BankWays is how many passes a request to shared memory took for each one that it
// needs without conflicts: 1 is best, 32 is worst.
func (c *Cost) BankWays() float64 { return ratio(c.SharedWays, c.SharedIdeal, 0) }

// AtomicDepth is how many lanes of an atomic request hit the same address.
func (c *Cost) AtomicDepth() float64 { return ratio(c.AtomicWays, c.AtomicRequests, 0) }

func ratio(a, b int64, none float64) float64 {
	if b == 0 {
		return none
	}
	return float64(a) / float64(b)
}

func (c *Cost) add(d *Cost) {
	c.Warps += d.Warps
	c.Lanes += d.Lanes
	c.LaneWarps += d.LaneWarps
	c.GlobalRequests += d.GlobalRequests
	c.GlobalSectors += d.GlobalSectors
	c.GlobalIdeal += d.GlobalIdeal
	c.GlobalBytes += d.GlobalBytes
	c.SharedRequests += d.SharedRequests
	c.SharedWays += d.SharedWays
	c.SharedIdeal += d.SharedIdeal
	c.AtomicRequests += d.AtomicRequests
	c.AtomicWays += d.AtomicWays
	c.LocalBytes += d.LocalBytes
	c.BulkBytes += d.BulkBytes
	c.Barriers += d.Barriers
}

// Site is an instruction that was executed.
type Site struct {
	At Place
	Cost
}

// LineCost is a source line of which instructions were executed. What the compiler
// names no line for is line 0.
type LineCost struct {
	File   string
	Line   int
	Source string
	Cost
}

// Profile runs a launch and measures it.
func (d *Device) Profile(ctx context.Context, k *Kernel, spec Launch, watch ...Checker) (*Profile, *Report, error) {
	p := &Profiler{}
	r, err := d.Launch(ctx, k, spec, append(slices.Clone(watch), p)...)
	if err != nil {
		return nil, r, err
	}
	return p.Profile(r), r, nil
}

// Profiler is a checker that measures one launch and finds nothing.
type Profiler struct {
	mu   sync.Mutex
	all  []*meter
	free []*meter // of blocks that have ended
}

// meter counts the accesses of one block at a time.
type meter struct {
	p     *Profiler
	sites []siteCost
	banks bankCount
}

// siteCost is an instruction's Cost, as far as accesses tell it.
type siteCost struct {
	Cost
	lanes int64 // whose accesses were seen
}

// Block implements Checker.
func (p *Profiler) Block(b *Block) BlockChecker {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.free)
	if n == 0 {
		m := &meter{p: p, sites: make([]siteCost, len(b.launch.kernel.all))}
		p.all = append(p.all, m)
		return m
	}
	m := p.free[n-1]
	p.free = p.free[:n-1]
	return m
}

// Done implements Checker.
func (p *Profiler) Done() []Finding { return nil }

// Done implements BlockChecker.
func (m *meter) Done() []Finding {
	m.p.mu.Lock()
	defer m.p.mu.Unlock()
	m.p.free = append(m.p.free, m)
	return nil
}

// Sync implements BlockChecker.
func (m *meter) Sync(Sync) {}

// Access implements BlockChecker.
func (m *meter) Access(a *Access) {
	c := &m.sites[a.Inst.Index]
	if a.Bulk { // in pieces of 16 bytes, each of them read and written
		if a.Kind == AsyncRead {
			c.BulkBytes += int64(a.Bytes)
		}
		return
	}
	c.lanes += int64(bits.OnesCount32(a.Mask))
	switch a.Space {
	case ptx.Global:
		c.GlobalRequests++
		n, unique := sectors(a.Addr, a.Mask, a.Bytes)
		c.GlobalSectors += int64(n)
		c.GlobalBytes += int64(unique)
		c.GlobalIdeal += int64(unique+sectorBytes-1) / sectorBytes
	case ptx.Shared, ptx.SharedCluster:
		c.SharedRequests++
		ways, ideal := m.banks.count(a.Addr, a.Mask, a.Bytes)
		c.SharedWays += int64(ways)
		c.SharedIdeal += int64(ideal)
	}
	if a.Kind == Atomic {
		c.AtomicRequests++
		c.AtomicWays += int64(sameAddress(a.Addr, a.Mask))
	}
}

// sectorBytes is what a device moves of global memory at least.
const sectorBytes = 32

// sectors counts the sectors that the lanes touch, and the different bytes.
func sectors(addr *Lanes, m Mask, n int) (count, unique int) {
	var at [WarpSize]uint64
	var touched [WarpSize]uint32 // bytes of the sector
	for ; m != 0; m &= m - 1 {
		a := addr[bits.TrailingZeros32(m)]
		// Accesses are aligned, so that up to 32 bytes lie in one sector.
		sector, bytes := a/sectorBytes, uint32((uint64(1)<<n-1)<<(a%sectorBytes))
		i := count - 1
		for i >= 0 && at[i] != sector {
			i--
		}
		if i < 0 {
			i = count
			at[i], touched[i] = sector, 0
			count++
		}
		touched[i] |= bytes
	}
	for _, t := range touched[:count] {
		unique += bits.OnesCount32(t)
	}
	return count, unique
}

const (
	banks     = 32
	bankBytes = 4
)

// bankCount has room to count conflicts in.
type bankCount struct {
	words [banks][WarpSize]uint64
	used  [banks]int
}

// count returns how many passes over the banks an access takes, and how many it would
// without conflicts. A bank gives one word of four bytes a pass, to as many lanes as
// want it. Accesses of 8 bytes are served for 16 lanes at a time, of 16 bytes for 8.
func (b *bankCount) count(addr *Lanes, m Mask, n int) (ways, ideal int) {
	words := max(n/bankBytes, 1)
	group := max(WarpSize/words, 1)
	for first := 0; first < WarpSize; first += group {
		part := m >> first & Mask(uint64(1)<<group-1)
		if part == 0 {
			continue
		}
		b.used = [banks]int{}
		most := 1
		for ; part != 0; part &= part - 1 {
			word := addr[first+bits.TrailingZeros32(part)] / bankBytes
			for k := range uint64(words) {
				most = max(most, b.touch(word+k))
			}
		}
		ways += most
		ideal++
	}
	return ways, ideal
}

// touch returns how many words of its bank the pass needs, with this one.
func (b *bankCount) touch(word uint64) int {
	i := word % banks
	n := b.used[i]
	if slices.Contains(b.words[i][:n], word) {
		return n
	}
	b.words[i][n] = word
	b.used[i]++
	return n + 1
}

// sameAddress is how many lanes hit the address that most of them hit.
func sameAddress(addr *Lanes, m Mask) (most int) {
	for m != 0 {
		first, same := addr[bits.TrailingZeros32(m)], Mask(0)
		for k := m; k != 0; k &= k - 1 {
			if l := bits.TrailingZeros32(k); addr[l] == first {
				same |= 1 << l
			}
		}
		most = max(most, bits.OnesCount32(same))
		m &^= same
	}
	return most
}

// Profile sums up what was measured, for the launch that gave r.
func (p *Profiler) Profile(r *Report) *Profile {
	k := r.Kernel
	out := &Profile{Kernel: k.Name(), Grid: r.Launch.Grid, Block: r.Launch.Block, Shared: k.static + r.Launch.Shared}
	type line struct {
		file string
		n    int
	}
	lines := map[line]*LineCost{}
	for _, in := range k.all {
		s := p.site(in, r)
		if s.Warps == 0 {
			continue
		}
		at := s.At
		l := lines[line{at.File, at.Line}]
		if l == nil {
			l = &LineCost{File: at.File, Line: at.Line, Source: at.Source}
			lines[line{at.File, at.Line}] = l
		}
		l.add(&s.Cost)
		out.Total.add(&s.Cost)
		out.Sites = append(out.Sites, s)
	}
	for _, l := range lines {
		out.Lines = append(out.Lines, *l)
	}
	slices.SortFunc(out.Lines, func(a, b LineCost) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	for _, g := range GPUs() {
		out.Occupancy = append(out.Occupancy, g.Occupancy(out.Block.Count(), k.module.source.Registers[k.Name()], out.Shared))
	}
	return out
}

// site sums an instruction up.
func (p *Profiler) site(in *Inst, r *Report) Site {
	s := Site{At: r.Kernel.Place(in)}
	seen := int64(0)
	for _, m := range p.all {
		s.add(&m.sites[in.Index].Cost)
		seen += m.sites[in.Index].lanes
	}
	s.Warps, s.Lanes = r.Site(in)
	if s.LaneWarps = s.Warps; in.PTX.Op == "bra" || in.PTX.Op == "brx" {
		s.Lanes, s.LaneWarps = 0, 0
	}
	switch op := in.PTX.Op; {
	case (op == "bar" || op == "barrier") && !in.PTX.Has("warp"):
		s.Barriers = s.Warps
	case op != "ld" && op != "st":
	case in.space == ptx.Local:
		s.LocalBytes = s.Lanes * int64(in.bytes*in.vec)
	case in.space == ptx.Generic:
		// Checkers see all accesses but those of local memory and parameters.
		s.LocalBytes = max(s.Lanes-seen, 0) * int64(in.bytes*in.vec)
	}
	return s
}

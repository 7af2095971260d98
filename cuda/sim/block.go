package sim

import (
	"fmt"
	"math/bits"
	"math/rand/v2"

	"github.com/warpbook/warpbook/cuda/ptx"
)

// Block is a block of threads that runs.
type Block struct {
	launch  *launch
	cluster *cluster
	rank    int // in the cluster
	Index   Dim
	Linear  int // in the grid
	warps   []*Warp
	live    int // threads that have not exited
	threads int

	shared   []byte
	init     []uint64 // a bit for each byte of shared memory that was written
	bars     [16]barrier
	counts   []siteCount
	cache    []*Allocation // that an instruction hit last
	checkers []BlockChecker
	rng      *rand.Rand
	steps    int64
	stopped  bool // the launch ends
	races    any  // the race checker's notes, kept for the next block
	Async    any  // of the asynchronous copies, by who executes them
}

// siteCount is how often an instruction was executed.
type siteCount struct{ Warps, Lanes int64 }

// Warps lists the block's warps.
func (b *Block) Warps() []*Warp { return b.warps }

// Kernel is the kernel that the block runs.
func (b *Block) Kernel() *Kernel { return b.launch.kernel }

// Shared is the block's shared memory.
func (b *Block) Shared() []byte { return b.shared }

// ClusterBlock is the block of a rank in the same cluster, or nil.
func (b *Block) ClusterBlock(rank int) *Block {
	if rank < 0 || rank >= len(b.cluster.blocks) {
		return nil
	}
	return b.cluster.blocks[rank]
}

// barrier is one of a block's 16 barriers.
type barrier struct {
	id       int
	arrived  int
	expected int // threads; 0 for all that live
	waiting  []waiter
	came     []*Warp // those that only arrived, too
	and, or  bool
	pop      int
	any      bool // something has arrived
}

type waiter struct {
	w  *Warp
	s  *split
	in *Inst
	m  Mask
}

// cluster is blocks that run side by side and see each other's shared memory.
type cluster struct {
	blocks  []*Block
	arrived int // threads at the cluster's barrier
	waiting []waiter
	phase   int
	last    *Inst // that arrived at it
}

// run executes up to n instructions and says whether the cluster has ended.
func (c *cluster) run(n int64) (ended bool) {
	for n > 0 {
		progress := int64(0)
		left := 0
		for _, b := range c.blocks {
			if b.live == 0 {
				continue
			}
			progress += b.round()
			if b.stopped {
				return true
			}
			if b.live > 0 {
				left++
			}
		}
		if left == 0 {
			return true
		}
		if progress == 0 {
			c.deadlock()
			return true
		}
		n -= progress
	}
	return false
}

// The ways in which a block's warps take turns. The seed chooses one for a block.
const (
	turnsEven   = iota // one after the other, a fair share each
	turnsRandom        // in random order, random shares
	turnsLast          // the last warp first, as far as it gets
	turnsFine          // a few instructions each
	turnPolicies
)

// round lets every warp run for a while and returns how many instructions that were.
func (b *Block) round() (done int64) {
	policy := turnsEven
	if b.launch.seed != 0 {
		policy = int(b.launch.seed+uint64(b.Linear)) % turnPolicies
	}
	n := len(b.warps)
	first := 0
	if policy == turnsRandom {
		first = b.rng.IntN(n)
	}
	for i := range n {
		w, share := b.warps[(first+i)%n], 512
		switch policy {
		case turnsRandom:
			share = 1 + b.rng.IntN(200)
		case turnsLast:
			w, share = b.warps[n-1-i], 1<<14
		case turnsFine:
			share = 3
		}
		if len(w.splits) == 0 {
			continue
		}
		done += int64(w.step(share))
		if b.stopped {
			return done
		}
	}
	b.steps += done
	if l := b.launch; l.stop.Load() {
		b.stopped = true
	} else if b.steps > l.budget {
		b.endless()
	}
	return done
}

// endless ends a launch that takes too long.
func (b *Block) endless() {
	for _, w := range b.warps {
		for _, s := range w.splits {
			if s.state == running && s.pc < len(s.frame.fn.code) {
				b.fatal(w, &s.frame.fn.code[s.pc], s.mask, Endless, fmt.Sprintf("the block has executed %d instructions and is still at it; a larger budget lets it go on", b.steps))
				return
			}
		}
	}
	b.stopped = true
}

// deadlock ends a launch in which nothing can go on.
func (c *cluster) deadlock() {
	for _, b := range c.blocks {
		var first *waiter
		text := ""
		for _, w := range b.warps {
			for _, s := range w.splits {
				if s.inst == nil {
					continue
				}
				if first == nil {
					first = &waiter{w, s, s.inst, s.mask}
				}
				if len(text) < 300 {
					text += fmt.Sprintf("; warp %d waits at line %d (%s)", w.Index, s.inst.PTX.Pos.Line, opText(s.inst))
				}
			}
		}
		if first != nil {
			b.fatal(first.w, first.in, first.m, Deadlock, fmt.Sprintf("no thread can go on: %d of %d have left the kernel%s", b.threads-b.live, b.threads, text))
			return
		}
	}
	c.blocks[0].stopped = true
}

// exited is told that lanes have ended.
func (b *Block) exited(w *Warp, m Mask) {
	b.live -= bits.OnesCount32(m)
	for i := range b.bars {
		if bar := &b.bars[i]; bar.any && bar.expected == 0 {
			b.complete(bar)
		}
	}
	b.cluster.exited()
}

// bar decodes bar.sync, bar.arrive and bar.red. Operands: [result,] barrier,
// [threads,] [predicate].
func (d *decoder) bar(in *Inst) error {
	p := in.PTX
	if p.Has("warp") {
		return d.warpBarrier(in)
	}
	if p.Has("cluster") {
		return clusterBarrier(d, in)
	}
	list := p.Operands
	switch {
	case p.Has("sync"):
		in.mode = "sync"
	case p.Has("arrive"):
		in.mode = "arrive"
	case p.Has("red"):
		in.mode = "red"
		if len(list) < 3 {
			return fmt.Errorf("%d operands", len(list))
		}
		dst, err := d.place(list[0])
		if err != nil {
			return err
		}
		pred, err := d.source(list[len(list)-1], ptx.Pred)
		if err != nil {
			return err
		}
		in.dst = []place{dst}
		in.extra = pred
		list = list[1 : len(list)-1]
	default:
		return fmt.Errorf("a barrier without .sync, .arrive or .red")
	}
	if len(list) == 0 || len(list) > 2 {
		return fmt.Errorf("%d operands", len(p.Operands))
	}
	in.control, in.run = true, execBar
	return d.sources(in, ptx.U32, list...)
}

// aligned reports whether all lanes of a warp have to come to the barrier together.
func aligned(in *Inst) bool { return in.PTX.Op == "bar" || in.PTX.Has("aligned") }

func execBar(w *Warp, s *split, in *Inst, m Mask) {
	s = w.fork(s, m)
	if m == w.alive {
		if w.alive != w.lanes && aligned(in) {
			gone := w.lanes &^ w.alive
			w.block.find(w, in, gone, Divergent, fmt.Sprintf("%d of the warp's %d threads have left the kernel and never come to the barrier", bits.OnesCount32(gone), bits.OnesCount32(w.lanes)))
		}
		w.block.arrive(w, s, in)
		return
	}
	s.state, s.inst = diverged, in
	s.pc-- // where the others meet it
}

// arriveAlone counts a split at a barrier to which the rest of its warp does not come.
func (w *Warp) arriveAlone(s *split) *split {
	in := s.inst
	if aligned(in) {
		rest := w.alive &^ s.mask
		w.block.find(w, in, s.mask, Divergent, fmt.Sprintf("%d threads of the warp come to the barrier without the others: %s", bits.OnesCount32(s.mask), w.whereabouts(rest)))
	}
	s.pc++
	s.state = running
	w.block.arrive(w, s, in)
	return w.pick()
}

// arrive counts the lanes of s at a barrier.
func (b *Block) arrive(w *Warp, s *split, in *Inst) {
	lane := bits.TrailingZeros32(s.mask)
	id := s.get(w, &in.src[0])[lane]
	if id >= uint64(len(b.bars)) {
		b.fatal(w, in, s.mask, Trap, fmt.Sprintf("there are 16 barriers, and %d is none", id))
		return
	}
	bar := &b.bars[id]
	n := bits.OnesCount32(s.mask)
	expected := 0
	if len(in.src) > 1 {
		expected = int(s.get(w, &in.src[1])[lane])
		if expected%WarpSize != 0 || expected == 0 {
			b.fatal(w, in, s.mask, Trap, fmt.Sprintf("a barrier of %d threads; it has to be a multiple of %d", expected, WarpSize))
			return
		}
		n = WarpSize
	}
	if !bar.any {
		*bar = barrier{id: int(id), expected: expected, and: true, any: true, waiting: bar.waiting[:0], came: bar.came[:0]}
	} else if bar.expected != expected {
		b.find(w, in, s.mask, Divergent, fmt.Sprintf("barrier %d is used for %d threads here and for %d elsewhere at the same time", id, expected, bar.expected))
	}
	bar.arrived += n
	bar.came = append(bar.came, w)
	if in.mode == "red" {
		pred := in.extra.(source)
		v := s.pred(&pred) & s.mask
		bar.and = bar.and && v == s.mask
		bar.or = bar.or || v != 0
		bar.pop += bits.OnesCount32(v)
	}
	if in.mode != "arrive" {
		s.state, s.inst = atBlock, in
		bar.waiting = append(bar.waiting, waiter{w, s, in, s.mask})
	}
	b.complete(bar)
}

// complete opens a barrier to which all have come.
func (b *Block) complete(bar *barrier) {
	expected := bar.expected
	if expected == 0 {
		expected = b.live
	}
	if bar.arrived < expected || !bar.any {
		return
	}
	for _, t := range bar.waiting {
		t.s.state, t.s.inst = running, nil
		if t.in.mode == "red" {
			t.w.reduced(t, bar)
		}
	}
	if len(b.checkers) > 0 && len(bar.waiting) > 0 {
		b.sync(Sync{Kind: BlockBarrier, ID: bar.id, Warps: bar.came, Mask: Full, Inst: bar.waiting[0].in})
	}
	waiting := bar.waiting
	bar.any, bar.arrived = false, 0
	bar.waiting = waiting[:0]
}

// reduced writes the result of bar.red.
func (w *Warp) reduced(t waiter, bar *barrier) {
	dst := t.in.dst[0]
	if !dst.pred {
		var v Lanes
		broadcast(&v, uint64(bar.pop))
		t.s.set(dst, t.m, &v)
		return
	}
	v := Mask(0)
	if t.in.PTX.Has("and") && bar.and || t.in.PTX.Has("or") && bar.or {
		v = Full
	}
	t.s.setPred(dst, t.m, v)
}

// sync tells the checkers.
func (b *Block) sync(s Sync) {
	for _, c := range b.checkers {
		c.Sync(s)
	}
}

// warpBarrier decodes bar.warp.sync.
func (d *decoder) warpBarrier(in *Inst) error {
	if err := operands(in, 1, 1); err != nil {
		return err
	}
	in.control = true
	in.run = func(w *Warp, s *split, in *Inst, m Mask) {
		s, ok := w.gather(s, in, m, s.get(w, &in.src[0]))
		if ok && len(w.block.checkers) > 0 {
			w.block.sync(Sync{Kind: WarpBarrier, Warps: []*Warp{w}, Mask: s.mask, Inst: in})
		}
	}
	return d.sources(in, ptx.B32, in.PTX.Operands[0])
}

// gather brings the lanes together that members names, and says whether all are
// here. When not, s waits and executes the instruction again.
func (w *Warp) gather(s *split, in *Inst, m Mask, members *Lanes) (*split, bool) {
	s = w.fork(s, m)
	lane := bits.TrailingZeros32(m)
	same := Mask(0)
	for i := range members {
		if members[i] == members[lane] {
			same |= 1 << i
		}
	}
	if rest := m &^ same; rest != 0 { // groups of their own: these execute it again
		w.fork(s, rest).pc--
		m &= same
	}
	need := Mask(members[lane])
	if need&^w.lanes == 0 || need == Full {
		need &= w.lanes
	}
	if need>>lane&1 == 0 {
		w.block.find(w, in, 1<<lane, Divergent, "the thread executes "+opText(in)+" and is not in its mask "+maskText(Mask(members[lane])))
	}
	if missing := need & w.alive &^ m; missing != 0 && !s.forced {
		s.state, s.needs, s.inst = atMask, need, in
		s.pc--
		return s, false
	}
	if gone := need &^ w.alive; gone != 0 {
		w.block.find(w, in, gone, Divergent, "the lanes "+maskText(gone)+" that "+opText(in)+" names have left the kernel")
	}
	s.needs, s.inst, s.forced = 0, nil, false
	return s, true
}

// fence decodes membar and fence.
func (d *decoder) fence(in *Inst) error {
	kind := FenceDevice
	if in.PTX.Has("cta") {
		kind = FenceBlock
	}
	if in.PTX.Has("proxy") || in.PTX.Has("mbarrier_init") {
		in.run = func(*Warp, *split, *Inst, Mask) {}
		return nil
	}
	in.run = func(w *Warp, s *split, in *Inst, m Mask) {
		if len(w.block.checkers) > 0 {
			w.block.sync(Sync{Kind: kind, Warps: []*Warp{w}, Mask: m, Inst: in})
		}
	}
	return nil
}

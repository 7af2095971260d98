package sim

import (
	"fmt"
	"math/bits"

	"github.com/warpbook/warpbook/cuda/ptx"
)

// raceChecker finds accesses to shared memory that nothing orders, and asynchronous
// copies that nobody has waited for.
//
// The order is kept as vector clocks of the cluster's warps, which barriers merge. Each
// granule of shared memory (the smallest size that the kernel accesses) remembers its
// last writer and its last readers of two warps; an access that does not come after one
// of them is a race. Lanes of a warp are ordered by barriers too, __syncwarp among them.
// What a warp did before a fence comes before what another one does once it has seen an
// atomic or volatile write that came after the fence.
type raceChecker struct{}

func (*raceChecker) Done() []Finding { return nil }

func (*raceChecker) Block(b *Block) BlockChecker {
	if len(b.shared) == 0 {
		return nil
	}
	r, ok := b.races.(*blockRaces)
	if !ok {
		r = newBlockRaces(b)
		b.races = r
	}
	r.reset()
	return r
}

// touchedBy is an access to a granule, as far as it is remembered.
type touchedBy struct {
	clock uint32 // of the warp
	sync  uint32 // of the lane
	inst  int32
	warp  uint8 // in the cluster
	lane  uint8
	role  role
	many  bool // other lanes of the warp did the same
}

// granule is what is known of a few bytes.
type granule struct {
	write touchedBy
	read  [2]touchedBy // by the last reader, and by the last one of another warp
	value uint64       // that was stored, when known
	known bool
	copy  int32 // the number of the copy that is under way here, from 1
}

// order is what is known of the order of a cluster's warps.
type order struct {
	clocks [][]uint32 // by warp: what it knows of each warp
	fenced [][]uint32 // the same at its last fence
	last   uint32     // clocks of earlier blocks are not above it
	merged []uint32
}

// blockRaces watches the shared memory of a block.
type blockRaces struct {
	*order
	b        *Block
	first    int // the number in the cluster of the block's first warp
	shift    int
	cells    []granule
	lanes    [][WarpSize]uint32 // the last barrier of each lane
	barriers uint32
	fences   bool             // the kernel has fences
	released map[int][]uint32 // by granule that atomic operations write: what its readers learn
	found    map[[3]int32]*Finding
	copies
}

func newBlockRaces(b *Block) *blockRaces {
	k := b.launch.kernel
	r := &blockRaces{b: b, first: b.rank * len(b.warps), shift: bits.TrailingZeros(uint(k.granule)),
		released: map[int][]uint32{}, found: map[[3]int32]*Finding{}}
	r.cells = make([]granule, len(b.shared)>>r.shift+1)
	r.lanes = make([][WarpSize]uint32, len(b.warps))
	if head, ok := b.cluster.blocks[0].races.(*blockRaces); ok && b.rank > 0 {
		r.order = head.order
	} else {
		r.order = newOrder(len(b.warps) * len(b.cluster.blocks))
	}
	for _, in := range k.all {
		p := in.PTX
		r.fences = r.fences || p.Op == "membar" || p.Op == "fence" || p.Has("release") || p.Has("acq_rel")
	}
	r.committed = make([][2][WarpSize]int32, len(b.warps))
	return r
}

func newOrder(n int) *order {
	o := &order{merged: make([]uint32, n)}
	for range n {
		o.clocks = append(o.clocks, make([]uint32, n))
		o.fenced = append(o.fenced, make([]uint32, n))
	}
	return o
}

// reset begins a new block. Clocks go on, so that what the granules remember of the
// block before is over.
func (r *blockRaces) reset() {
	clear(r.released)
	clear(r.found)
	if r.copies.reset() {
		for i := range r.cells {
			r.cells[i].copy = 0
		}
	}
	if r.b.rank == 0 {
		r.order.reset()
	}
	for w := range r.lanes {
		for l := range r.lanes[w] {
			r.lanes[w][l] = r.barriers
		}
	}
}

func (o *order) reset() {
	for _, known := range o.clocks {
		for _, c := range known {
			o.last = max(o.last, c)
		}
	}
	o.last++
	for i := range o.clocks {
		for j := range o.clocks[i] {
			o.clocks[i][j], o.fenced[i][j] = o.last, o.last
		}
		o.clocks[i][i]++
	}
}

// blockAt returns who watches the memory that a lane accesses, and the offset in it.
func (r *blockRaces) blockAt(a *Access, lane int) (*blockRaces, int) {
	at := a.Addr[lane]
	if a.Space != ptx.SharedCluster || at < sharedStride {
		return r, int(at)
	}
	b := r.b.ClusterBlock(int(at/sharedStride) - 1)
	if b == nil {
		return nil, 0
	}
	other, _ := b.races.(*blockRaces)
	return other, int(at % sharedStride)
}

func (r *blockRaces) Access(a *Access) {
	switch {
	case a.Space == ptx.Global:
		if len(r.far) > 0 || a.Kind == AsyncRead || a.Kind == AsyncWrite {
			r.global(a)
		}
		return
	case a.Space != ptx.Shared && a.Space != ptx.SharedCluster:
		return
	}
	role := roleOf(a)
	me := touchedBy{inst: int32(a.Inst.Index), warp: uint8(r.first + a.Warp.Index), role: role}
	known := r.clocks[me.warp]
	syncs := &r.lanes[a.Warp.Index]
	for m := a.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		t, at := r.blockAt(a, l)
		if t == nil {
			continue
		}
		first := at >> t.shift
		cells := t.cells[first : first+max(a.Bytes>>t.shift, 1)]
		if r.fences && role&strong != 0 {
			r.seen(t, a, first, role)
		}
		me.clock, me.sync, me.lane = known[me.warp], syncs[l], uint8(l)
		for i := range cells {
			g := &cells[i]
			if g.copy != 0 {
				t.early(a, l, g.copy, &me)
			}
			if role&writes != 0 {
				t.stores(a, l, g, &me, known, (first+i)<<t.shift)
				continue
			}
			if w := &g.write; w.clock >= known[w.warp] && t.conflict(w, &me) {
				t.race(a, l, w, (first+i)<<t.shift, role)
			}
			g.reads(&me)
		}
	}
	if a.Kind == AsyncRead || a.Kind == AsyncWrite {
		r.start(a)
	}
}

// reads remembers a reader.
func (g *granule) reads(me *touchedBy) {
	last := &g.read[0]
	if last.warp != me.warp {
		g.read[1] = *last
	} else if last.clock == me.clock && (last.lane != me.lane || last.many) {
		lane := last.lane
		*last = *me
		last.lane, last.many = lane, true
		return
	}
	*last = *me
}

// stores checks and remembers a writer.
func (r *blockRaces) stores(a *Access, lane int, g *granule, me *touchedBy, known []uint32, at int) {
	value, sure := uint64(0), a.Values != nil
	if sure {
		value = a.Values[lane]
	}
	// Whoever writes the same value last, it is there.
	same := sure && g.known && value == g.value
	for _, t := range [...]*touchedBy{&g.write, &g.read[0], &g.read[1]} {
		if t.clock < known[t.warp] || same && t == &g.write {
			continue
		}
		if t == &g.write && t.warp == me.warp && t.inst == me.inst && !(sure && g.known) {
			continue // lanes of one instruction whose values are not known
		}
		if r.conflict(t, me) {
			r.race(a, lane, t, at, me.role)
			break
		}
	}
	g.write, g.value, g.known = *me, value, sure
}

// conflict reports whether before and me race. No barrier of the block comes between
// them.
func (r *blockRaces) conflict(before, me *touchedBy) bool {
	if !before.role.races(me.role) {
		return false
	}
	if before.warp != me.warp {
		return true
	}
	if before.lane == me.lane && !before.many || me.sync > before.sync {
		return false
	}
	// All lanes have executed a collective load before one goes on.
	return before.role&writes != 0 || !r.b.launch.kernel.all[before.inst].collective()
}

// collective reports whether lanes load together.
func (in *Inst) collective() bool { return in.PTX.Op == "ldmatrix" || in.PTX.Op == "wmma" }

// race reports an access at an offset that is in conflict with one before.
func (r *blockRaces) race(a *Access, lane int, before *touchedBy, at int, role role) {
	r.report([3]int32{0, int32(a.Inst.Index), before.inst}, func() Finding {
		b := r.b.cluster.blocks[int(before.warp)/len(r.b.warps)]
		other := b.warps[int(before.warp)%len(r.b.warps)]
		place := other.Place(r.b.launch.kernel.all[before.inst], int(before.lane))
		wait := "no __syncthreads() comes between them"
		switch {
		case other == a.Warp:
			wait = "no __syncwarp() comes between them"
		case b != a.Warp.block:
			wait = "no barrier of the cluster comes between them"
		}
		who := fmt.Sprintf("thread %v", place.Thread)
		if b != a.Warp.block {
			who += fmt.Sprintf(" of block %v", place.Block)
		}
		f := a.Warp.fault(a.Inst, 1<<lane, lane, SharedRace, ptx.Shared, a.Addr[lane], a.Bytes,
			fmt.Sprintf("%s %s that %s %s at line %d; %s", role.verb(), r.b.launch.kernel.sharedName(at), who, before.role.verb(), place.Line, wait))
		f.Other = &place
		return f
	})
}

// report keeps a block's first finding of a pair of instructions, and counts the others.
func (r *blockRaces) report(key [3]int32, build func() Finding) {
	f := r.found[key]
	if f == nil {
		first := build()
		r.found[key] = &first
		r.b.launch.add(findingKey{kind: first.Kind, inst: int(key[1])}, first)
		return
	}
	f.Count++
}

// Done adds up how often the findings were made.
func (r *blockRaces) Done() []Finding {
	r.exit()
	for key, f := range r.found {
		if f.Count--; f.Count > 0 { // the first is there
			r.b.launch.add(findingKey{kind: f.Kind, inst: int(key[1])}, *f)
		}
	}
	return nil
}

// seen is told that an atomic or volatile access reads or writes a granule of t: who
// reads it comes after what its writers did before their fences.
func (r *blockRaces) seen(t *blockRaces, a *Access, cell int, role role) {
	w := r.first + a.Warp.Index
	known := r.clocks[w]
	if role&reads != 0 {
		for i, c := range t.released[cell] {
			known[i] = max(known[i], c)
		}
	}
	if role&writes == 0 {
		return
	}
	if p := a.Inst.PTX; p.Has("release") || p.Has("acq_rel") {
		r.fence(w)
	}
	learn := t.released[cell]
	if learn == nil {
		learn = make([]uint32, len(known))
		t.released[cell] = learn
	}
	for i, c := range r.fenced[w] {
		learn[i] = max(learn[i], c)
	}
}

func (r *blockRaces) Sync(s Sync) {
	w := r.first
	if len(s.Warps) > 0 {
		w += s.Warps[0].Index
	}
	switch s.Kind {
	case BlockBarrier:
		r.meet(s.Warps)
	case ClusterBarrier:
		r.all()
	case WarpBarrier:
		r.barriers++
		for m := s.Mask; m != 0; m &= m - 1 {
			r.lanes[s.Warps[0].Index][bits.TrailingZeros32(m)] = r.barriers
		}
	case FenceBlock, FenceDevice:
		r.fence(w)
	case AsyncCommit, AsyncWaitGroup:
		r.groups(s)
	case MBarrier:
		r.phase(s.Addr)
		// Who has arrived at the barrier is not told: all that was done comes before.
		for i := range r.clocks {
			if i != w {
				r.clocks[i][i]++
				r.clocks[w][i] = max(r.clocks[w][i], r.clocks[i][i])
			}
		}
		r.clocks[w][w]++
	}
}

// fence is told that a warp's accesses so far come before its later ones.
func (r *blockRaces) fence(w int) {
	r.clocks[w][w]++
	copy(r.fenced[w], r.clocks[w])
}

// meet merges the clocks of warps of the block.
func (r *blockRaces) meet(warps []*Warp) {
	clear(r.merged)
	for _, w := range warps {
		known := r.clocks[r.first+w.Index]
		known[r.first+w.Index]++
		for i, c := range known {
			r.merged[i] = max(r.merged[i], c)
		}
	}
	for _, w := range warps {
		copy(r.clocks[r.first+w.Index], r.merged)
	}
}

// all merges the clocks of the cluster.
func (o *order) all() {
	clear(o.merged)
	for i, known := range o.clocks {
		known[i]++
		for j, c := range known {
			o.merged[j] = max(o.merged[j], c)
		}
	}
	for _, known := range o.clocks {
		copy(known, o.merged)
	}
}

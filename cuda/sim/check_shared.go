package sim

import (
	"fmt"
	"math/bits"

	"github.com/warpbook/warpbook/cuda/ptx"
)

// raceChecker finds accesses to shared memory that nothing orders, and asynchronous
// copies that nobody has waited for.
//
// The order is kept as vector clocks of warps, which barriers merge. Each granule of
// shared memory (the smallest size that the kernel accesses) remembers its last
// writer and its last two readers; an access that does not come after one of them is
// a race. Lanes of a warp are ordered by barriers too, __syncwarp among them.
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

// touchedBy is one access to a granule, as far as it is remembered.
type touchedBy struct {
	block uint32 // which block's turn it was: older ones count as none
	clock uint32 // of the warp
	sync  uint32 // of the lane
	inst  int32
	warp  uint8
	lane  uint8
	role  role
	known bool // value is what was stored
	value uint64
}

type granule struct {
	write touchedBy
	read  [2]touchedBy
}

type blockRaces struct {
	b        *Block
	shift    int
	cells    []granule
	turn     uint32
	clocks   [][]uint32         // by warp: what it knows of each warp
	lanes    [][WarpSize]uint32 // the last barrier of each lane
	barriers uint32
	pending  []pendingCopy
}

// pendingCopy is an asynchronous copy that nobody has waited for.
type pendingCopy struct {
	warp, lane int
	from, to   int // of shared memory
	group      int // commits of the lane after it
	bulk       bool
	inst       *Inst
}

func newBlockRaces(b *Block) *blockRaces {
	r := &blockRaces{b: b, shift: bits.TrailingZeros(uint(b.launch.kernel.granule))}
	r.cells = make([]granule, len(b.shared)>>r.shift+1)
	for range b.warps {
		r.clocks = append(r.clocks, make([]uint32, len(b.warps)))
	}
	r.lanes = make([][WarpSize]uint32, len(b.warps))
	return r
}

func (r *blockRaces) reset() {
	r.turn++
	r.pending = r.pending[:0]
	for i := range r.clocks {
		clear(r.clocks[i])
		r.clocks[i][i] = 1
		r.lanes[i] = [WarpSize]uint32{}
	}
	r.barriers = 0
}

func (r *blockRaces) Access(a *Access) {
	if a.Space != ptx.Shared || a.Warp.block != r.b {
		return
	}
	if a.Kind == AsyncWrite {
		for m := a.Mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			r.pending = append(r.pending, pendingCopy{a.Warp.Index, l, int(a.Addr[l]), int(a.Addr[l]) + a.Bytes, 0, a.Inst.PTX.Has("bulk"), a.Inst})
		}
		return
	}
	role := roleOf(a)
	w := a.Warp.Index
	clock := r.clocks[w][w]
	n := max(a.Bytes>>r.shift, 1)
	for m := a.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		at := int(a.Addr[l])
		if len(r.pending) > 0 {
			r.early(a, l, role)
		}
		me := touchedBy{r.turn, clock, r.lanes[w][l], int32(a.Inst.Index), uint8(w), uint8(l), role, false, 0}
		if a.Values != nil {
			me.known, me.value = true, a.Values[l]
		}
		for i := at >> r.shift; i < at>>r.shift+n; i++ {
			g := &r.cells[i]
			if g.write.block == r.turn && r.conflict(&g.write, &me) {
				r.race(a, l, &g.write, i<<r.shift, role)
			}
			if role&writes == 0 {
				if g.read[0].block != r.turn || g.read[0].warp != me.warp || g.read[0].lane != me.lane {
					g.read[1] = g.read[0]
				}
				g.read[0] = me
				continue
			}
			if r.conflict(&g.read[0], &me) {
				r.race(a, l, &g.read[0], i<<r.shift, role)
			} else if r.conflict(&g.read[1], &me) {
				r.race(a, l, &g.read[1], i<<r.shift, role)
			}
			g.write = me
		}
	}
}

// conflict reports whether before and me race.
func (r *blockRaces) conflict(before, me *touchedBy) bool {
	if before.block != r.turn || !before.role.races(me.role) {
		return false
	}
	// Whoever writes the same value last, it is there.
	if before.known && me.known && before.value == me.value {
		return false
	}
	if before.warp != me.warp {
		return r.clocks[me.warp][before.warp] <= before.clock
	}
	if before.inst == me.inst && !(before.known && me.known) {
		return false // lanes of one instruction whose values are not known
	}
	return before.lane != me.lane && before.clock == me.clock && me.sync <= before.sync
}

func (r *blockRaces) race(a *Access, lane int, before *touchedBy, at int, role role) {
	k := r.b.launch.kernel
	other := r.b.warps[before.warp]
	place := other.Place(k.all[before.inst], int(before.lane))
	wait := "no __syncthreads() comes between them"
	if int(before.warp) == a.Warp.Index {
		wait = "no __syncwarp() comes between them"
	}
	f := a.Warp.fault(a.Inst, 1<<lane, lane, SharedRace, ptx.Shared, a.Addr[lane], a.Bytes,
		fmt.Sprintf("%s %s that thread %v %s at line %d; %s", role.verb(), k.sharedName(at), place.Thread, before.role.verb(), place.Line, wait))
	f.Other = &place
	r.b.launch.add(findingKey{kind: SharedRace, inst: a.Inst.Index}, f)
}

// early reports an access to what an asynchronous copy still writes.
func (r *blockRaces) early(a *Access, lane int, role role) {
	from, to := int(a.Addr[lane]), int(a.Addr[lane])+a.Bytes
	for i := range r.pending {
		c := &r.pending[i]
		if to <= c.from || from >= c.to {
			continue
		}
		place := r.b.warps[c.warp].Place(c.inst, c.lane)
		f := a.Warp.fault(a.Inst, 1<<lane, lane, AsyncWait, ptx.Shared, a.Addr[lane], a.Bytes,
			fmt.Sprintf("%s %s while the copy that thread %v started at line %d may still be under way", role.verb(), r.b.launch.kernel.sharedName(from), place.Thread, place.Line))
		f.Other = &place
		r.b.launch.add(findingKey{kind: AsyncWait, inst: a.Inst.Index}, f)
		return
	}
}

func (r *blockRaces) Sync(s Sync) {
	switch s.Kind {
	case BlockBarrier, ClusterBarrier:
		r.meet(s.Warps)
	case WarpBarrier:
		r.barriers++
		w := s.Warps[0].Index
		for m := s.Mask; m != 0; m &= m - 1 {
			r.lanes[w][bits.TrailingZeros32(m)] = r.barriers
		}
	case AsyncCommit:
		r.commit(s)
	case AsyncWaitGroup:
		w := s.Warps[0].Index
		r.arrive(func(c *pendingCopy) bool {
			return c.warp == w && s.Mask>>c.lane&1 != 0 && c.bulk == s.Bulk && c.group > s.Pending
		})
	case MBarrier:
		r.arrive(func(*pendingCopy) bool { return true })
		w := s.Warps[0].Index
		for i := range r.clocks {
			r.clocks[w][i] = max(r.clocks[w][i], r.clocks[i][i]+1)
			if i != w {
				r.clocks[i][i]++
			}
		}
		r.clocks[w][w]++
	}
}

// meet merges the clocks of warps.
func (r *blockRaces) meet(warps []*Warp) {
	all := make([]uint32, len(r.clocks))
	for _, w := range warps {
		r.clocks[w.Index][w.Index]++
	}
	for _, w := range warps {
		for i, c := range r.clocks[w.Index] {
			all[i] = max(all[i], c)
		}
	}
	for _, w := range warps {
		copy(r.clocks[w.Index], all)
	}
}

func (r *blockRaces) commit(s Sync) {
	w := s.Warps[0].Index
	for i := range r.pending {
		if c := &r.pending[i]; c.warp == w && s.Mask>>c.lane&1 != 0 && c.bulk == s.Bulk {
			c.group++
		}
	}
}

// arrive takes copies that have been waited for as written by who waited.
func (r *blockRaces) arrive(done func(*pendingCopy) bool) {
	left := r.pending[:0]
	for i := range r.pending {
		c := r.pending[i]
		if !done(&c) {
			left = append(left, c)
			continue
		}
		me := touchedBy{r.turn, r.clocks[c.warp][c.warp], r.lanes[c.warp][c.lane], int32(c.inst.Index), uint8(c.warp), uint8(c.lane), writes, false, 0}
		for g := c.from >> r.shift; g < (c.to-1)>>r.shift+1; g++ {
			r.cells[g].write = me
		}
	}
	r.pending = left
}

func (r *blockRaces) Done() []Finding { return nil }

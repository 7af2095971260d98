package sim

import (
	"fmt"
	"math/bits"

	"github.com/warpbook/warpbook/cuda/ptx"
)

// copies is the asynchronous copies that involve a block's shared memory, or that the
// block started from or to global memory, until somebody has waited for them.
type copies struct {
	flights   []flight
	free      []int32 // numbers in flights
	far       []int32 // those in global memory
	committed [][2][WarpSize]int32
}

// flight is one side, source or destination, of what a warp copies with one instruction.
type flight struct {
	inst    *Inst
	warp    *Warp
	mask    Mask // lanes whose copy may be under way; 0 when the flight is free
	far     bool // in global memory
	source  bool
	bulk    bool
	size    int    // bytes a lane
	clock   uint32 // of the warp when it started
	addr    Lanes
	lo, hi  uint64          // what the lanes' copies lie between
	made    [WarpSize]int32 // groups that the lane had committed
	signals bool            // to an mbarrier, which is at an offset in a block
	barrier uint64
	at      *Block
}

// reset reports whether some copy was under way.
func (c *copies) reset() (some bool) {
	for i := range c.flights {
		some = some || c.flights[i].mask != 0
	}
	c.flights, c.free, c.far = c.flights[:0], c.free[:0], c.far[:0]
	clear(c.committed)
	return some
}

func (c *copies) add() int32 {
	if n := len(c.free); n > 0 {
		id := c.free[n-1]
		c.free = c.free[:n-1]
		return id
	}
	c.flights = append(c.flights, flight{})
	return int32(len(c.flights) - 1)
}

func group(bulk bool) int {
	if bulk {
		return 1
	}
	return 0
}

// start notes the copies of an access.
func (r *blockRaces) start(a *Access) {
	for m := a.Mask; m != 0; {
		l := bits.TrailingZeros32(m)
		if a.Space == ptx.Global {
			r.begin(r, a, m)
			return
		}
		t, _ := r.blockAt(a, l)
		same := Mask(0)
		for k := m; k != 0; k &= k - 1 {
			l := bits.TrailingZeros32(k)
			if u, _ := r.blockAt(a, l); u == t {
				same |= 1 << l
			}
		}
		if m &^= same; t != nil {
			r.begin(t, a, same)
		}
	}
}

// begin notes what the lanes m copy from or to memory that t watches.
func (r *blockRaces) begin(t *blockRaces, a *Access, m Mask) {
	made := &r.committed[a.Warp.Index][group(a.Bulk)]
	id, fresh := t.grow(a, m, made)
	f := &t.flights[id]
	if fresh {
		*f = flight{inst: a.Inst, warp: a.Warp, mask: m, far: a.Space == ptx.Global, source: a.Kind == AsyncRead, bulk: a.Bulk, size: a.Bytes, clock: r.clocks[r.first+a.Warp.Index][r.first+a.Warp.Index], addr: *a.Addr, made: *made, signals: a.Signals, barrier: a.Barrier, at: a.Receiver}
		if f.far {
			t.far = append(t.far, id)
		} else if a.Space == ptx.SharedCluster {
			for i := range f.addr {
				f.addr[i] %= sharedStride
			}
		}
	}
	if f.far {
		f.lo, f.hi = bounds(&f.addr, f.mask, f.size)
		return
	}
	for ; m != 0; m &= m - 1 {
		_, at := r.blockAt(a, bits.TrailingZeros32(m))
		first := at >> t.shift
		for i := range max(a.Bytes>>t.shift, 1) {
			t.cells[first+i].copy = id + 1
		}
	}
}

// bounds is what the accesses of n bytes of the lanes m lie between.
func bounds(addr *Lanes, m Mask, n int) (lo, hi uint64) {
	lo = ^uint64(0)
	for ; m != 0; m &= m - 1 {
		a := addr[bits.TrailingZeros32(m)]
		lo, hi = min(lo, a), max(hi, a+uint64(n))
	}
	return lo, hi
}

// grow finds a place for a copy: that of the piece before, when a bulk copy goes on.
func (c *copies) grow(a *Access, m Mask, made *[WarpSize]int32) (id int32, fresh bool) {
	if n := len(c.flights); a.Bulk && n > 0 {
		l := bits.TrailingZeros32(m)
		for id := max(n-2, 0); id < n; id++ {
			f := &c.flights[id]
			if f.mask == m && f.inst == a.Inst && f.warp == a.Warp && f.source == (a.Kind == AsyncRead) && f.far == (a.Space == ptx.Global) &&
				f.made[l] == made[l] && f.signals == a.Signals && f.barrier == a.Barrier && f.addr[l]+uint64(f.size) == a.Addr[l]%f.window() {
				f.size += a.Bytes
				return int32(id), false
			}
		}
	}
	return c.add(), true
}

// window is what addresses of the flight's memory are taken modulo.
func (f *flight) window() uint64 {
	if f.far {
		return 1 << 63
	}
	return sharedStride
}

// groups is told of a commit, or of a wait for groups.
func (r *blockRaces) groups(s Sync) {
	w := s.Warps[0]
	committed := &r.committed[w.Index][group(s.Bulk)]
	if s.Kind == AsyncCommit {
		for m := s.Mask; m != 0; m &= m - 1 {
			committed[bits.TrailingZeros32(m)]++
		}
		return
	}
	all := s.Inst.PTX.Has("mbarrier") // cp.async.mbarrier.arrive has its effect: committed or not
	sources := s.Inst.PTX.Has("read") // only these are waited for
	r.land(func(f *flight) (over Mask) {
		if f.warp != w || f.bulk != s.Bulk || f.signals || sources && !f.source {
			return 0
		}
		for m := s.Mask & f.mask; m != 0; m &= m - 1 {
			if l := bits.TrailingZeros32(m); all || int(f.made[l]) < int(committed[l])-s.Pending {
				over |= 1 << l
			}
		}
		return over
	})
}

// phase is told that somebody knows the copies to be over that signal to an mbarrier.
func (r *blockRaces) phase(at uint64) {
	r.land(func(f *flight) Mask {
		if f.signals && f.at == r.b && f.barrier == at {
			return f.mask
		}
		return 0
	})
}

// land ends copies: what they wrote counts as written by who waited for it.
func (r *blockRaces) land(over func(*flight) Mask) {
	for _, b := range r.b.cluster.blocks {
		t, ok := b.races.(*blockRaces)
		if !ok {
			continue
		}
		ended := false
		for id := range t.flights {
			f := &t.flights[id]
			if f.mask == 0 {
				continue
			}
			m := over(f)
			if m == 0 {
				continue
			}
			if !f.far {
				t.arrived(int32(id), f, m)
			}
			if f.mask &^= m; f.mask == 0 {
				t.free = append(t.free, int32(id))
				ended = ended || f.far
			}
		}
		if ended {
			far := t.far[:0]
			for _, id := range t.far {
				if t.flights[id].mask != 0 {
					far = append(far, id)
				}
			}
			t.far = far
		}
	}
}

func (r *blockRaces) arrived(id int32, f *flight, m Mask) {
	from := f.warp.block.races.(*blockRaces)
	w := from.first + f.warp.Index
	me := touchedBy{clock: r.clocks[w][w], inst: int32(f.inst.Index), warp: uint8(w), role: writes}
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		me.lane, me.sync = uint8(l), from.lanes[f.warp.Index][l]
		first := int(f.addr[l]) >> r.shift
		cells := r.cells[first : first+max(f.size>>r.shift, 1)]
		for i := range cells {
			g := &cells[i]
			if g.copy == id+1 {
				g.copy = 0
			}
			if !f.source {
				g.write, g.known = me, false
			}
		}
	}
}

// early reports an access to what a copy still reads or writes: a race with its start
// where nothing orders the two, and else an access before somebody has waited.
func (r *blockRaces) early(a *Access, lane int, number int32, me *touchedBy) {
	f := &r.flights[number-1]
	role := me.role
	if f.source && role&writes == 0 {
		return
	}
	at := a.Addr[lane] % sharedStride
	from := f.warp.block.races.(*blockRaces)
	if w := from.first + f.warp.Index; w != int(me.warp) && f.clock >= r.clocks[me.warp][w] {
		start := touchedBy{inst: int32(f.inst.Index), warp: uint8(w), lane: uint8(f.lane(at, a.Bytes)), role: writes}
		if f.source {
			start.role = reads
		}
		r.race(a, lane, &start, int(at), role)
		return
	}
	r.tooEarly(a, lane, f, role, r.b.launch.kernel.sharedName(int(at)), ptx.Shared)
}

// lane is which one's copy involves the n bytes at an address.
func (f *flight) lane(at uint64, n int) int {
	for m := f.mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		if at < f.addr[l]+uint64(f.size) && f.addr[l] < at+uint64(n) {
			return l
		}
	}
	return bits.TrailingZeros32(f.mask)
}

func (r *blockRaces) tooEarly(a *Access, lane int, f *flight, role role, what string, space ptx.Space) {
	r.report([3]int32{1, int32(a.Inst.Index), int32(f.inst.Index)}, func() Finding {
		place := f.warp.Place(f.inst, f.lane(a.Addr[lane]%f.window(), a.Bytes))
		text := "%s %s while the copy that thread %v started at line %d may still be under way"
		if f.source {
			text = "%s %s, which the copy that thread %v started at line %d may not have read yet"
		}
		g := a.Warp.fault(a.Inst, 1<<lane, lane, AsyncWait, space, a.Addr[lane], a.Bytes, fmt.Sprintf(text, role.verb(), what, place.Thread, place.Line))
		g.Other = &place
		return g
	})
}

// global checks an access to global memory that copies of the block may involve.
func (r *blockRaces) global(a *Access) {
	role := roleOf(a)
	lo, hi := bounds(a.Addr, a.Mask, a.Bytes)
	for _, id := range r.far {
		f := &r.flights[id]
		if lo >= f.hi || hi <= f.lo {
			continue
		}
		if f.source && role&writes == 0 || f.source && a.Kind == AsyncWrite && f.inst == a.Inst {
			continue
		}
		for m := a.Mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			at := a.Addr[l]
			for k := f.mask; k != 0; k &= k - 1 {
				if from := f.addr[bits.TrailingZeros32(k)]; at < from+uint64(f.size) && from < at+uint64(a.Bytes) {
					what := fmt.Sprintf("%#x", at)
					if x := r.b.launch.dev.find(at); x != nil {
						what = x.describe(at)
					}
					r.tooEarly(a, l, f, role, what, ptx.Global)
					break
				}
			}
		}
	}
	if a.Kind == AsyncRead || a.Kind == AsyncWrite {
		r.start(a)
	}
}

// exit reports bulk copies from or to the block's shared memory that nothing has waited
// for: the memory may be another block's by the time they are carried out.
func (r *blockRaces) exit() {
	for id := range r.flights {
		f := &r.flights[id]
		if f.mask == 0 || f.far || !f.bulk {
			continue
		}
		r.report([3]int32{2, int32(f.inst.Index), 0}, func() Finding {
			lane := bits.TrailingZeros32(f.mask)
			verb := "to"
			if f.source {
				verb = "from"
			}
			return f.warp.fault(f.inst, f.mask, lane, AsyncWait, ptx.Shared, f.addr[lane], f.size,
				fmt.Sprintf("copies %s %s, and the block ends without a wait for it", verb, r.b.launch.kernel.sharedName(int(f.addr[lane]))))
		})
	}
}

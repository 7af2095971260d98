package sim

import (
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/warpbook/warpbook/cuda/ptx"
)

// An mbarrier is 64 bits of shared memory: the arrivals that the phase still waits
// for, those that a phase waits for from its start, the bytes that are expected to
// arrive, and the phase's parity. The state that an arrival returns is the word as
// it was before.
const (
	mbPending  = 0  // 20 bits
	mbExpected = 20 // 20 bits
	mbBytes    = 40 // 21 bits, signed
	mbPhase    = 61 // 1 bit
	mbCount    = 1<<20 - 1
	mbTx       = 1<<21 - 1
)

type mbWord uint64

func (m mbWord) pending() int  { return int(m >> mbPending & mbCount) }
func (m mbWord) expected() int { return int(m >> mbExpected & mbCount) }
func (m mbWord) bytes() int    { return int(int64(m<<(64-mbPhase)) >> (64 - 21)) }
func (m mbWord) phase() int    { return int(m >> mbPhase & 1) }

func newMbWord(pending, expected, bytes, phase int) mbWord {
	return mbWord(pending&mbCount)<<mbPending | mbWord(expected&mbCount)<<mbExpected |
		mbWord(bytes&mbTx)<<mbBytes | mbWord(phase&1)<<mbPhase
}

// change lets arrivals and bytes come, of which expect more are announced first,
// and starts the next phase when nothing is missing. It reports whether as many
// were due.
func (m *mbWord) change(arrivals, drop, expect, complete int) (ok bool) {
	pending, expected, bytes := m.pending()-arrivals, m.expected()-drop, m.bytes()+expect-complete
	phase := m.phase()
	ok = pending >= 0 && expected >= 0
	if pending <= 0 && bytes == 0 {
		pending, phase = expected, phase+1
	}
	*m = newMbWord(max(pending, 0), max(expected, 0), bytes, phase)
	return ok
}

// arrivals are copies and arrivals that come to a block's mbarriers, and have not yet.
type arrivals struct {
	list []arrival
}

// arrival is what happens at an mbarrier when what it announces is there.
type arrival struct {
	barrier unsafe.Pointer
	deliver func()
}

func (b *Block) arrivals() *arrivals {
	a, ok := b.Async.(*arrivals)
	if !ok {
		a = &arrivals{}
		b.Async = a
	}
	return a
}

// announce notes that deliver will happen at an mbarrier of block b.
func (b *Block) announce(barrier unsafe.Pointer, deliver func()) {
	a := b.arrivals()
	a.list = append(a.list, arrival{barrier, deliver})
	if b.launch.seed != 0 && b.rng.IntN(3) == 0 {
		b.deliver(a.list[b.rng.IntN(len(a.list))].barrier)
	}
}

// deliver lets everything come that was announced to an mbarrier.
func (b *Block) deliver(barrier unsafe.Pointer) {
	a, ok := b.Async.(*arrivals)
	if !ok || len(a.list) == 0 {
		return
	}
	var now []arrival
	kept := a.list[:0]
	for _, x := range a.list {
		if x.barrier == barrier {
			now = append(now, x)
		} else {
			kept = append(kept, x)
		}
	}
	a.list = kept
	for _, x := range now {
		x.deliver()
	}
}

// mbarriers resolves the addresses of mbarriers and puts pointers to them in
// w.ptrs. They count as atomic accesses.
func (w *Warp) mbarriers(s *split, in *Inst, base *source, offset uint64, space ptx.Space, m Mask, kind AccessKind) (good Mask) {
	addr := w.addresses(s, base, offset)
	if space != ptx.Generic {
		return w.touch(s, in, space, addr, m, kind, 8)
	}
	for m != 0 {
		space, same := w.resolve(addr, m)
		if space != ptx.Shared && space != ptx.SharedCluster {
			w.block.fatal(w, in, same, Misuse, "an mbarrier has to lie in shared memory")
			return 0
		}
		good |= w.touch(s, in, space, addr, same, kind, 8)
		m &^= same
	}
	return good
}

// mbarrier decodes the instructions on mbarriers.
func (d *decoder) mbarrier(in *Inst) error {
	p := in.PTX
	in.space = p.Space
	list := p.Operands
	for _, mod := range p.Mods {
		switch mod {
		case "init", "inval", "arrive", "arrive_drop", "expect_tx", "complete_tx", "test_wait", "try_wait", "pending_count",
			"parity", "noComplete", "shared", "shared::cta", "shared::cluster",
			"relaxed", "release", "acquire", "cta", "cluster":
		default:
			return fmt.Errorf("mbarrier with the modifier .%s", mod)
		}
	}
	need := func(least, most int) error {
		if len(list) < least || len(list) > most {
			return fmt.Errorf("%d operands", len(list))
		}
		return nil
	}
	switch {
	case p.Has("init"), p.Has("inval"):
		if err := need(1, 2); err != nil {
			return err
		}
		if err := d.address(in, list[0]); err != nil {
			return err
		}
		if p.Has("init") && len(list) != 2 {
			return fmt.Errorf("mbarrier.init without a count")
		}
		in.run = execMbarrierInit
		return d.sources(in, ptx.U32, list[1:]...)
	case p.Has("arrive"), p.Has("arrive_drop"):
		if err := need(1, 3); err != nil {
			return err
		}
		return d.mbarrierArrive(in, list)
	case p.Has("expect_tx"), p.Has("complete_tx"):
		if err := need(2, 2); err != nil {
			return err
		}
		if err := d.address(in, list[0]); err != nil {
			return err
		}
		complete := p.Has("complete_tx")
		in.run = func(w *Warp, s *split, in *Inst, m Mask) {
			n := *s.get(w, &in.src[0])
			good := w.mbarriers(s, in, &in.addr, in.offset, in.space, m, Atomic)
			for i := range n {
				if good>>i&1 == 0 {
					continue
				}
				if word := (*mbWord)(w.ptrs[i]); complete {
					word.change(0, 0, 0, int(n[i]))
				} else {
					word.change(0, 0, int(n[i]), 0)
				}
			}
		}
		return d.sources(in, ptx.U32, list[1])
	case p.Has("test_wait"), p.Has("try_wait"):
		if err := need(3, 4); err != nil { // the fourth is a time
			return err
		}
		return d.mbarrierWait(in, list)
	case p.Has("pending_count"):
		if err := need(2, 2); err != nil {
			return err
		}
		dst, err := d.place(list[0])
		if err != nil {
			return err
		}
		in.dst = []place{dst}
		in.op.Fn1 = func(d, a *Lanes) {
			for i := range d {
				d[i] = uint64(mbWord(a[i]).pending())
			}
		}
		in.run = execFn1
		return d.sources(in, ptx.B64, list[1])
	}
	return fmt.Errorf("mbarrier without an operation")
}

func execMbarrierInit(w *Warp, s *split, in *Inst, m Mask) {
	good := w.mbarriers(s, in, &in.addr, in.offset, in.space, m, Store)
	for i := range w.ptrs {
		if good>>i&1 == 0 {
			continue
		}
		if len(in.src) == 0 { // inval: the memory may be used for something else
			*(*mbWord)(w.ptrs[i]) = 0
			continue
		}
		n := int(uint32(s.get(w, &in.src[0])[i]))
		if n < 1 || n > mbCount {
			w.block.find(w, in, 1<<i, Misuse, fmt.Sprintf("an mbarrier for %d arrivals; 1 to %d are possible", n, mbCount))
			n = max(1, min(n, mbCount))
		}
		*(*mbWord)(w.ptrs[i]) = newMbWord(n, n, 0, 0)
	}
}

// mbarrierArrive decodes arrive and arrive_drop: [state,] barrier [, count or bytes].
func (d *decoder) mbarrierArrive(in *Inst, list []ptx.Operand) error {
	p := in.PTX
	in.dst = []place{{reg: -1}}
	if list[0].Kind != ptx.Address {
		dst, err := d.place(list[0])
		if err != nil {
			return err
		}
		in.dst[0] = dst
		list = list[1:]
	}
	if len(list) == 0 {
		return fmt.Errorf("mbarrier.arrive without an address")
	}
	if err := d.address(in, list[0]); err != nil {
		return err
	}
	if err := d.sources(in, ptx.U32, list[1:]...); err != nil {
		return err
	}
	expects, drops := p.Has("expect_tx"), p.Has("arrive_drop")
	if expects && len(in.src) != 1 {
		return fmt.Errorf("expect_tx without a number of bytes")
	}
	in.run = func(w *Warp, s *split, in *Inst, m Mask) {
		good := w.mbarriers(s, in, &in.addr, in.offset, in.space, m, Atomic)
		state := &w.scratch[0]
		for i := range state {
			if good>>i&1 == 0 {
				continue
			}
			word := (*mbWord)(w.ptrs[i])
			state[i] = uint64(*word)
			count, tx, drop := 1, 0, 0
			if len(in.src) > 0 {
				n := int(uint32(s.get(w, &in.src[0])[i]))
				if expects {
					tx = n
				} else {
					count = n
				}
			}
			if drops {
				drop = count
			}
			if !word.change(count, drop, tx, 0) {
				w.block.find(w, in, 1<<i, Misuse, fmt.Sprintf("more threads arrive at the mbarrier than the %d that it was made for, before the bytes that it expects have come", mbWord(state[i]).expected()))
			}
		}
		s.set(in.dst[0], good, state)
	}
	return nil
}

// mbarrierWait decodes test_wait and try_wait: predicate, barrier, state or parity.
// try_wait lets the threads sleep until the phase is over.
func (d *decoder) mbarrierWait(in *Inst, list []ptx.Operand) error {
	dst, err := d.place(list[0])
	if err != nil {
		return err
	}
	in.dst = []place{dst}
	if err := d.address(in, list[1]); err != nil {
		return err
	}
	parity, sleeps := in.PTX.Has("parity"), in.PTX.Has("try_wait")
	typ := ptx.B64
	if parity {
		typ = ptx.U32
	}
	if err := d.sources(in, typ, list[2]); err != nil {
		return err
	}
	in.control = sleeps
	in.run = func(w *Warp, s *split, in *Inst, m Mask) {
		b := w.block
		good := w.mbarriers(s, in, &in.addr, in.offset, in.space, m, Atomic)
		words, phases := w.ptrs, *s.get(w, &in.src[0])
		for i := range phases {
			if parity {
				phases[i] &= 1
			} else {
				phases[i] = uint64(mbWord(phases[i]).phase())
			}
		}
		over := func() (over Mask) {
			for m := good; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m)
				if (*mbWord)(words[i]).phase() != int(phases[i]) {
					over |= 1 << i
				}
			}
			return over
		}
		deliver := func() {
			for m := good; m != 0; m &= m - 1 {
				if i := bits.TrailingZeros32(m); m == good || words[i] != words[bits.TrailingZeros32(good)] {
					b.deliver(words[i])
				}
			}
		}
		v := over()
		if v == 0 {
			deliver()
			v = over()
		}
		if v == 0 && sleeps && good != 0 {
			t := w.fork(s, m)
			t.pc--
			t.state, t.inst = polling, in
			t.ready = func() bool {
				if over() == 0 {
					deliver()
				}
				return over() != 0
			}
			return
		}
		s.inst = nil
		s.setPred(in.dst[0], m, v)
		if v != 0 && len(b.checkers) > 0 {
			b.passed(w, in, v, &words)
		}
	}
	return nil
}

// passed tells the checkers that threads know a phase to be over.
func (b *Block) passed(w *Warp, in *Inst, m Mask, words *[WarpSize]unsafe.Pointer) {
	for m != 0 {
		word := words[bits.TrailingZeros32(m)]
		var same Mask
		for i := range words {
			if m>>i&1 != 0 && words[i] == word {
				same |= 1 << i
			}
		}
		m &^= same
		b.sync(Sync{Kind: MBarrier, Warps: []*Warp{w}, Mask: same, Addr: b.offset(word), Inst: in})
	}
}

// offset is where in the block's shared memory p points to.
func (b *Block) offset(p unsafe.Pointer) uint64 {
	return uint64(uintptr(p) - uintptr(unsafe.Pointer(unsafe.SliceData(b.shared))))
}

// asyncArrive decodes cp.async.mbarrier.arrive: an arrival at the time at which all
// copies that the thread has started are there.
func (d *decoder) asyncArrive(in *Inst) error {
	if err := operands(in, 1, 1); err != nil {
		return err
	}
	in.space = in.PTX.Space
	noinc := in.PTX.Has("noinc")
	in.run = func(w *Warp, s *split, in *Inst, m Mask) {
		good := w.mbarriers(s, in, &in.addr, in.offset, in.space, m, Atomic)
		u := w.underWay()
		for good != 0 {
			word := (*mbWord)(w.ptrs[bits.TrailingZeros32(good)])
			var same Mask
			for i := range w.ptrs {
				if good>>i&1 != 0 && (*mbWord)(w.ptrs[i]) == word {
					same |= 1 << i
				}
			}
			good &^= same
			n := bits.OnesCount32(same)
			if !noinc { // it counts beside the arrivals that the mbarrier was made for
				*word = newMbWord(word.pending()+n, word.expected(), word.bytes(), word.phase())
			}
			before := u.made
			w.block.announce(unsafe.Pointer(word), func() {
				u.settle(func(c *copying) Mask {
					if c.made < before && !c.bulk {
						return same
					}
					return 0
				})
				word.change(n, 0, 0, 0)
				if len(w.block.checkers) > 0 {
					w.block.sync(Sync{Kind: AsyncWaitGroup, Warps: []*Warp{w}, Mask: same, Inst: in})
				}
			})
		}
	}
	return d.address(in, in.PTX.Operands[0])
}

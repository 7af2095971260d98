package sim

import (
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/warpbook/warpbook/cuda/ptx"
)

// bulkCopy decodes cp.async.bulk: a copy of many bytes by one thread, whose end is
// told to an mbarrier, or waited for by group when it goes to global memory.
func (d *decoder) bulkCopy(in *Inst) error {
	p := in.PTX
	list := p.Operands
	multicast := false
	var reduce *atomicOp
	if p.Has("reduce") {
		var err error
		if reduce, err = atomicFor(p); err != nil {
			return err
		}
	}
	for _, mod := range p.Mods {
		switch mod {
		case "reduce", "add", "min", "max", "and", "or", "xor", "inc", "dec", "noftz":
			if reduce == nil {
				return fmt.Errorf("cp.async.bulk with the modifier .%s", mod)
			}
		case "async", "bulk", "global", "shared", "shared::cta", "shared::cluster", "mbarrier::complete_tx::bytes", "bulk_group":
		case "multicast::cluster":
			multicast = true
		case "L2::cache_hint":
			list = list[:max(len(list)-1, 0)]
		default:
			return fmt.Errorf("cp.async.bulk with the modifier .%s", mod)
		}
	}
	if len(p.Spaces) != 2 {
		return fmt.Errorf("cp.async.bulk between %d spaces", len(p.Spaces))
	}
	to, from := p.Spaces[0], p.Spaces[1]
	signals := !p.Has("bulk_group")
	want := 3
	if signals {
		want++
	}
	if multicast {
		want++
	}
	if len(list) != want || signals == (to == ptx.Global) || list[0].Kind != ptx.Address || list[1].Kind != ptx.Address {
		return fmt.Errorf("cp.async.bulk with these operands")
	}
	c := &bulk{to: to, from: from, signals: signals, multicast: multicast, reduce: reduce, bytes: p.Type().Bytes()}
	var err error
	if c.dst, c.dstOffset, err = d.base(list[0]); err != nil {
		return err
	}
	if c.src, c.srcOffset, err = d.base(list[1]); err != nil {
		return err
	}
	if c.size, err = d.source(list[2], ptx.U32); err != nil {
		return err
	}
	if signals {
		if c.bar, c.barOffset, err = d.base(list[3]); err != nil {
			return err
		}
	}
	if multicast {
		if c.ranks, err = d.source(list[4], ptx.U16); err != nil {
			return err
		}
	}
	in.extra = c
	in.run = execBulk
	return nil
}

// bulk is the operands of a bulk copy.
type bulk struct {
	to, from                        ptx.Space
	dst, src, size, bar, ranks      source
	dstOffset, srcOffset, barOffset uint64
	signals, multicast              bool
	reduce                          *atomicOp // combines what is copied with what is there; nil for a plain copy
	bytes                           int       // of an element of a reduction
}

// move returns what happens when the bytes arrive at addr.
func (c *bulk) move(dev *Device, addr uint64, to, from []byte) func() {
	if c.reduce == nil {
		return func() { copy(to, from) }
	}
	return func() {
		for k := 0; k < len(to); k += c.bytes {
			lock := dev.lock(addr + uint64(k))
			lock.Lock()
			p := unsafe.Pointer(&to[k])
			poke(p, c.bytes, c.reduce.apply(peek(p, c.bytes), peek(unsafe.Pointer(&from[k]), c.bytes), 0))
			lock.Unlock()
		}
	}
}

func execBulk(w *Warp, s *split, in *Inst, m Mask) {
	c := in.extra.(*bulk)
	dst := *w.addresses(s, &c.dst, c.dstOffset) // each call uses the same Lanes
	src := *w.addresses(s, &c.src, c.srcOffset)
	size := *s.get(w, &c.size)
	var bar, ranks Lanes
	if c.signals {
		bar = *w.addresses(s, &c.bar, c.barOffset)
	}
	if c.multicast {
		ranks = *s.get(w, &c.ranks)
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		if !c.multicast {
			w.bulkCopy(s, in, i, c, dst[i], src[i], bar[i], int(uint32(size[i])))
			continue
		}
		// The same place in every block that the mask names.
		for rank := range len(w.block.cluster.blocks) {
			if ranks[i]>>rank&1 != 0 {
				window := uint64(rank+1) * sharedStride
				w.bulkCopy(s, in, i, c, dst[i]%sharedStride+window, src[i], bar[i]%sharedStride+window, int(uint32(size[i])))
			}
		}
	}
}

// bulkCopy starts the copy of one thread.
func (w *Warp) bulkCopy(s *split, in *Inst, lane int, c *bulk, dst, src, bar uint64, n int) {
	if n%16 != 0 || n == 0 {
		w.block.find(w, in, 1<<lane, Misaligned, fmt.Sprintf("a bulk copy of %d bytes; it has to be a multiple of 16", n))
		return
	}
	a := Access{Bulk: true, Signals: c.signals}
	var word *mbWord
	var receiver *Block
	if c.signals {
		var offset uint64
		receiver, offset = w.shared(c.to, bar)
		one := Lanes{}
		one[lane] = bar
		if w.touch(s, in, c.to, &one, 1<<lane, Atomic, 8) == 0 {
			return
		}
		word = (*mbWord)(w.ptrs[lane])
		a.Barrier, a.Receiver = offset, receiver
	}
	from := w.span(s, in, lane, c.from, src, n, AsyncRead, a)
	kind := AsyncWrite
	if c.reduce != nil {
		kind = Atomic
	}
	to := w.span(s, in, lane, c.to, dst, n, kind, a)
	if from == nil || to == nil {
		return
	}
	move := c.move(w.block.launch.dev, dst, to, from)
	if c.signals {
		receiver.announce(unsafe.Pointer(word), func() {
			move()
			word.change(0, 0, 0, n)
		})
		return
	}
	u := w.underWay()
	u.add(true, 1<<lane).move = move
	w.early(u)
}

// shared returns the block that an address of shared memory is in, and the offset there.
func (w *Warp) shared(space ptx.Space, addr uint64) (*Block, uint64) {
	if space == ptx.SharedCluster && addr >= sharedStride {
		return w.block.ClusterBlock(int(addr/sharedStride) - 1), addr % sharedStride
	}
	return w.block, addr
}

// span checks the n bytes that one thread reads or writes at addr, 16 at a time,
// and returns them. Nil means that there is a finding.
func (w *Warp) span(s *split, in *Inst, lane int, space ptx.Space, addr uint64, n int, kind AccessKind, event Access) []byte {
	// The checkers see the pieces with what is special about the copy.
	checkers := w.block.checkers
	w.block.checkers = nil
	defer func() { w.block.checkers = checkers }()
	var first unsafe.Pointer
	var at Lanes
	for k := 0; k < n; k += 16 {
		at[lane] = addr + uint64(k)
		if w.touch(s, in, space, &at, 1<<lane, kind, 16) == 0 {
			return nil
		}
		if k == 0 {
			first = w.ptrs[lane]
		} else if w.ptrs[lane] != unsafe.Add(first, k) {
			w.block.find(w, in, 1<<lane, OutOfBounds, "a bulk copy that goes beyond the end of an allocation")
			return nil
		}
		if len(checkers) > 0 {
			e := event
			e.Kind, e.Space, e.Bytes, e.Mask, e.Addr, e.Inst, e.Warp = kind, space, 16, 1<<lane, &at, in, w
			for _, c := range checkers {
				c.Access(&e)
			}
		}
	}
	return unsafe.Slice((*byte)(first), n)
}

// storeAsync decodes st.async: [address], values, [mbarrier]. The values come to
// another block's shared memory, and their bytes to an mbarrier there.
func storeAsync(d *decoder, in *Inst) error {
	p := in.PTX
	for _, mod := range p.Mods {
		switch mod {
		case "async", "weak", "shared::cluster", "mbarrier::complete_tx::bytes", "v2", "v4":
		default:
			return fmt.Errorf("st.async with the modifier .%s", mod)
		}
	}
	if err := operands(in, 3, 3); err != nil {
		return err
	}
	if err := d.memory(in, p.Operands[0]); err != nil {
		return err
	}
	if p.Operands[2].Kind != ptx.Address {
		return fmt.Errorf("st.async without an mbarrier")
	}
	bar, barOffset, err := d.base(p.Operands[2])
	if err != nil {
		return err
	}
	in.space = ptx.SharedCluster
	in.run = func(w *Warp, s *split, in *Inst, m Mask) {
		addr := *w.addresses(s, &in.addr, in.offset)
		where := *w.addresses(s, &bar, barOffset)
		n := in.bytes * in.vec
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m)
			if w.touch(s, in, ptx.SharedCluster, &where, 1<<i, Atomic, 8) == 0 {
				continue
			}
			word := (*mbWord)(w.ptrs[i])
			if w.touch(s, in, ptx.SharedCluster, &addr, 1<<i, Store, n) == 0 {
				continue
			}
			to := w.ptrs[i]
			values := make([]uint64, len(in.src))
			for k := range in.src {
				values[k] = s.get(w, &in.src[k])[i]
			}
			receiver, _ := w.shared(ptx.SharedCluster, where[i])
			receiver.announce(unsafe.Pointer(word), func() {
				for k, v := range values {
					poke(unsafe.Add(to, k*in.bytes), in.bytes, v)
				}
				word.change(0, 0, 0, n)
			})
		}
	}
	return d.sources(in, p.Type(), elements(p.Operands[1])...)
}

// redAsync decodes red.async, which the simulator does not have.
func redAsync(*decoder, *Inst) error { return fmt.Errorf("red.async is not supported") }

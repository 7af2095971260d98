package sim

import (
	"fmt"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/warpbook/warpbook/cuda/ptx"
)

// asyncBuilders are the decoders of matrix instructions, asynchronous copies,
// their barriers, and clusters.
func asyncBuilders() map[string]func(d *decoder, in *Inst) error {
	return map[string]func(d *decoder, in *Inst) error{
		"mma": (*decoder).mma, "ldmatrix": (*decoder).ldmatrix, "stmatrix": (*decoder).stmatrix, "movmatrix": (*decoder).movmatrix,
		"wmma": (*decoder).wmma,
		"cp":   (*decoder).asyncCopy, "mbarrier": (*decoder).mbarrier, "mapa": (*decoder).mapa, "getctarank": (*decoder).getctarank,
	}
}

// Asynchronous copies arrive as late as the kernel lets them: when something waits
// for them, so that a wait that is missing shows in the results. Under a seed,
// some arrive earlier.

// underWay is the asynchronous copies of a warp's threads that have not arrived.
type underWay struct {
	list  []*copying
	spare []*copying
	made  int                // copies in all
	done  [2][WarpSize]int32 // groups that each thread has committed: of copies, of bulk copies
	phase [WarpSize]int32    // of the cluster's barrier, at which the thread arrived
}

// copying is what the threads of a warp copy with one instruction.
type copying struct {
	mask  Mask // threads whose copy has not arrived
	made  int  // the number of copies before it
	bulk  bool
	group int32 // -1 before it is committed
	n     int
	dst   [WarpSize]unsafe.Pointer
	src   [WarpSize]unsafe.Pointer
	read  [WarpSize]uint8 // bytes that are copied; the others become zeros
	move  func()          // of a bulk copy: carries it out
}

// underWay returns the warp's copies.
func (w *Warp) underWay() *underWay {
	u, ok := w.Async.(*underWay)
	if !ok {
		u = &underWay{}
		w.Async = u
	}
	return u
}

func (u *underWay) add(bulk bool, m Mask) *copying {
	var c *copying
	if n := len(u.spare); n > 0 {
		c, u.spare = u.spare[n-1], u.spare[:n-1]
	} else {
		c = new(copying)
	}
	c.mask, c.made, c.bulk, c.group = m, u.made, bulk, -1
	u.made++
	u.list = append(u.list, c)
	return c
}

// kind is the index in underWay.done.
func (c *copying) kind() int {
	if c.bulk {
		return 1
	}
	return 0
}

// arrive carries out the copies of the threads m.
func (c *copying) arrive(m Mask) {
	m &= c.mask
	c.mask &^= m
	if c.bulk {
		c.move()
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		if c.n == 16 && c.read[i] == 16 {
			*(*[16]byte)(c.dst[i]) = *(*[16]byte)(c.src[i])
			continue
		}
		to := unsafe.Slice((*byte)(c.dst[i]), c.n)
		n := int(c.read[i])
		if n > 0 {
			copy(to, unsafe.Slice((*byte)(c.src[i]), n))
		}
		clear(to[n:])
	}
}

// settle lets the copies arrive for which f names threads, in the order in which
// they were made.
func (u *underWay) settle(f func(c *copying) Mask) {
	kept := u.list[:0]
	for _, c := range u.list {
		if m := f(c) & c.mask; m != 0 {
			c.arrive(m)
		}
		if c.mask != 0 {
			kept = append(kept, c)
		} else {
			u.spare = append(u.spare, c)
		}
	}
	u.list = kept
}

// early lets a copy arrive before anything waits for it, if the seed wants it.
func (w *Warp) early(u *underWay) {
	if b := w.block; b.launch.seed != 0 && len(u.list) > 0 && b.rng.IntN(3) == 0 {
		some := u.list[b.rng.IntN(len(u.list))]
		u.settle(func(c *copying) Mask {
			if c == some {
				return Full
			}
			return 0
		})
	}
}

// commit makes what the threads m have copied since the last time a group.
func (u *underWay) commit(m Mask, bulk int) {
	for m != 0 {
		// Threads of different counts have groups of different numbers.
		count := u.done[bulk][bits.TrailingZeros32(m)]
		var same Mask
		for i := range WarpSize {
			if m>>i&1 != 0 && u.done[bulk][i] == count {
				same |= 1 << i
				u.done[bulk][i]++
			}
		}
		m &^= same
		for _, c := range u.list {
			if c.group >= 0 || c.kind() != bulk || c.mask&same == 0 {
				continue
			}
			if rest := c.mask &^ same; rest != 0 {
				other := u.add(c.bulk, rest)
				mask, group := other.mask, other.group
				*other = *c
				other.mask, other.group = mask, group
				c.mask &= same
			}
			c.group = count
		}
	}
}

// wait lets all groups of the threads m but the last pending ones arrive.
func (u *underWay) wait(m Mask, bulk int, pending int32) {
	u.settle(func(c *copying) (ready Mask) {
		if c.group < 0 || c.kind() != bulk {
			return 0
		}
		for i := range WarpSize {
			if m>>i&1 != 0 && c.group < u.done[bulk][i]-pending {
				ready |= 1 << i
			}
		}
		return ready
	})
}

// asyncCopy decodes the instructions whose opcode is cp.
func (d *decoder) asyncCopy(in *Inst) error {
	p := in.PTX
	switch {
	case p.Has("tensor"):
		return fmt.Errorf("copies of tensors by descriptors are not supported")
	case p.Has("commit_group"), p.Has("wait_group"), p.Has("wait_all"):
		return d.asyncGroup(in)
	case p.Has("mbarrier"):
		return d.asyncArrive(in)
	case p.Has("bulk") && p.Has("prefetch"):
		return nothing(d, in)
	case p.Has("bulk"):
		return d.bulkCopy(in)
	}
	list := p.Operands
	for _, mod := range p.Mods {
		switch mod {
		case "async", "ca", "cg", "shared", "shared::cta", "global", "L2::64B", "L2::128B", "L2::256B":
		case "L2::cache_hint":
			list = list[:max(len(list)-1, 0)]
		default:
			return fmt.Errorf("cp.async with the modifier .%s", mod)
		}
	}
	if len(list) < 3 || len(list) > 4 || list[2].Kind != ptx.Imm || list[0].Kind != ptx.Address || list[1].Kind != ptx.Address {
		return fmt.Errorf("cp.async with these operands")
	}
	n := int(list[2].Bits)
	if n != 16 && (p.Has("cg") || n != 4 && n != 8) {
		return fmt.Errorf("cp.async of %d bytes", n)
	}
	d.k.granule = min(d.k.granule, n)
	if err := d.address(in, list[0]); err != nil {
		return err
	}
	src, offset, err := d.base(list[1])
	if err != nil {
		return err
	}
	var size source // of the part that is copied, or a predicate: copy nothing
	if len(list) == 4 {
		if list[3].Kind == ptx.Reg && d.regType(list[3].Reg) == ptx.Pred {
			size, err = d.source(list[3], ptx.Pred)
		} else {
			size, err = d.source(list[3], ptx.U32)
		}
		if err != nil {
			return err
		}
	}
	in.run = func(w *Warp, s *split, in *Inst, m Mask) {
		u := w.underWay()
		var read Lanes
		for i := range read {
			read[i] = uint64(n)
		}
		if len(list) == 4 && size.pred {
			ignored := s.pred(&size)
			for i := range read {
				if ignored>>i&1 != 0 {
					read[i] = 0
				}
			}
		} else if len(list) == 4 {
			for i, v := range s.get(w, &size) {
				read[i] = min(v, uint64(n))
			}
		}
		good := w.touch(s, in, ptx.Shared, w.addresses(s, &in.addr, in.offset), m, AsyncWrite, n)
		if good == 0 {
			return
		}
		c := u.add(false, good)
		c.n, c.dst = n, w.ptrs
		c.mask &= w.sources(s, in, w.addresses(s, &src, offset), good, n, &read)
		c.src = w.ptrs
		for i := range read {
			c.read[i] = uint8(read[i])
		}
		w.early(u)
	}
	return nil
}

// sources checks what the threads m of a copy read: all n bytes, fewer, or none.
// Pointers are in w.ptrs.
func (w *Warp) sources(s *split, in *Inst, addr *Lanes, m Mask, n int, read *Lanes) (good Mask) {
	var whole, part Mask
	for i, v := range read {
		switch {
		case m>>i&1 == 0:
		case v == uint64(n):
			whole |= 1 << i
		case v > 0:
			part |= 1 << i
		default:
			good |= 1 << i
		}
	}
	if whole != 0 {
		good |= w.touch(s, in, ptx.Global, addr, whole, AsyncRead, n)
	}
	for ; part != 0; part &= part - 1 {
		// Byte by byte, as the part may end anywhere; the first one's pointer stays.
		i := bits.TrailingZeros32(part)
		at := *addr
		ok := true
		at[i] += read[i] - 1
		for ok && at[i] >= addr[i] {
			ok = w.touch(s, in, ptx.Global, &at, 1<<i, AsyncRead, 1) != 0
			at[i]--
		}
		if ok {
			good |= 1 << i
		}
	}
	return good
}

// asyncGroup decodes commit_group, wait_group and wait_all.
func (d *decoder) asyncGroup(in *Inst) error {
	p := in.PTX
	bulk := 0
	if p.Has("bulk") {
		bulk = 1
	}
	for _, mod := range p.Mods {
		if !slices.Contains([]string{"async", "bulk", "commit_group", "wait_group", "wait_all", "read"}, mod) {
			return fmt.Errorf("cp.async with the modifier .%s", mod)
		}
	}
	sync := func(w *Warp, m Mask, kind SyncKind, pending int) {
		if len(w.block.checkers) > 0 {
			w.block.sync(Sync{Kind: kind, Warps: []*Warp{w}, Mask: m, Pending: pending, Bulk: bulk == 1, Inst: in})
		}
	}
	switch {
	case p.Has("commit_group"):
		in.run = func(w *Warp, s *split, in *Inst, m Mask) {
			u := w.underWay()
			u.commit(m, bulk)
			sync(w, m, AsyncCommit, 0)
			w.early(u)
		}
	case p.Has("wait_all"):
		in.run = func(w *Warp, s *split, in *Inst, m Mask) {
			u := w.underWay()
			u.commit(m, 0)
			sync(w, m, AsyncCommit, 0)
			u.wait(m, 0, 0)
			sync(w, m, AsyncWaitGroup, 0)
		}
	default:
		if len(p.Operands) != 1 || p.Operands[0].Kind != ptx.Imm {
			return fmt.Errorf("wait_group without a number of groups")
		}
		pending := int32(min(p.Operands[0].Bits, 1<<30))
		in.run = func(w *Warp, s *split, in *Inst, m Mask) {
			w.underWay().wait(m, bulk, pending)
			sync(w, m, AsyncWaitGroup, int(pending))
		}
	}
	return nil
}

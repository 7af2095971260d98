package sim

import (
	"fmt"
	"math/bits"

	"github.com/warpbook/warpbook/cuda/ptx"
)

// shfl decodes shfl.sync: result|predicate, value, lane, clamp and mask, members.
func (d *decoder) shfl(in *Inst) error {
	if err := d.result(in, 4, 5); err != nil {
		return err
	}
	p := in.PTX
	// From which lane a lane reads, and whether that one is in its segment.
	var from func(lane, b, segment, clamp int) (int, bool)
	switch {
	case p.Has("up"):
		from = func(lane, b, _, clamp int) (int, bool) { return lane - b, lane-b >= clamp }
	case p.Has("down"):
		from = func(lane, b, _, clamp int) (int, bool) { return lane + b, lane+b <= clamp }
	case p.Has("bfly"):
		from = func(lane, b, _, clamp int) (int, bool) { return lane ^ b, lane^b <= clamp }
	case p.Has("idx"):
		from = func(lane, b, segment, clamp int) (int, bool) {
			j := lane&segment | b&^segment
			return j, j <= clamp
		}
	default:
		return fmt.Errorf("a shuffle without a mode")
	}
	in.control = true
	in.run = func(w *Warp, s *split, in *Inst, m Mask) {
		members := &everyone
		if len(in.src) > 3 {
			members = s.get(w, &in.src[3])
		}
		s, ok := w.gather(s, in, m, members)
		if !ok {
			return
		}
		m = s.mask
		a, bs, cs := s.get(w, &in.src[0]), s.get(w, &in.src[1]), s.get(w, &in.src[2])
		v := &w.scratch[0]
		var pred Mask
		for i := range v {
			if m>>i&1 == 0 {
				continue
			}
			b, c := int(bs[i]&31), cs[i]
			segmask := int(c >> 8 & 31)
			clamp := i&segmask | int(c&31)&^segmask
			j, in := from(i, b, segmask, clamp)
			if !in {
				j = i
			} else {
				pred |= 1 << i
			}
			v[i] = a[j&31]
			if m>>(j&31)&1 == 0 {
				v[i] = a[i]
				w.strayRead(w.instOf(s), i, j&31)
			}
		}
		s.set(in.dst[0], m, v)
		s.setPred(in.dst[1], m, pred)
	}
	return d.sources(in, ptx.B32, p.Operands[1:]...)
}

// everyone is the members of a collective instruction that names none.
var everyone = func() (l Lanes) {
	broadcast(&l, uint64(Full))
	return l
}()

// instOf is the instruction that s has just fetched.
func (w *Warp) instOf(s *split) *Inst { return &s.frame.fn.code[s.pc-1] }

// strayRead is a shuffle from a lane that does not take part.
func (w *Warp) strayRead(in *Inst, lane, from int) {
	w.block.find(w, in, 1<<lane, Divergent, fmt.Sprintf("lane %d reads the value of lane %d, which does not take part in %s; what it gets is undefined", lane, from, opText(in)))
}

// collective decodes an instruction whose lanes come together: f computes from the
// sources. members is the index of the mask among the sources.
func (d *decoder) collective(in *Inst, members int, f func(w *Warp, s *split, m Mask)) {
	in.control = true
	in.run = func(w *Warp, s *split, in *Inst, m Mask) {
		list := &everyone
		if members >= 0 && members < len(in.src) {
			list = s.get(w, &in.src[members])
		}
		if s, ok := w.gather(s, in, m, list); ok {
			f(w, s, s.mask)
		}
	}
}

// vote decodes vote.sync: result, predicate, members.
func (d *decoder) vote(in *Inst) error {
	if err := d.result(in, 2, 3); err != nil {
		return err
	}
	p := in.PTX
	if err := d.sources(in, ptx.Pred, p.Operands[1]); err != nil {
		return err
	}
	if err := d.sources(in, ptx.B32, p.Operands[2:]...); err != nil {
		return err
	}
	if p.Has("ballot") {
		d.collective(in, 1, func(w *Warp, s *split, m Mask) {
			l := &w.scratch[0]
			broadcast(l, uint64(s.pred(&in.src[0])&m))
			s.set(in.dst[0], m, l)
		})
		return nil
	}
	all, some, uni := p.Has("all"), p.Has("any"), p.Has("uni")
	d.collective(in, 1, func(w *Warp, s *split, m Mask) {
		v, r := s.pred(&in.src[0])&m, Mask(0)
		if all && v == m || some && v != 0 || uni && (v == 0 || v == m) {
			r = Full
		}
		s.setPred(in.dst[0], m, r)
	})
	return nil
}

// match decodes match.sync: result|predicate, value, members.
func (d *decoder) match(in *Inst) error {
	if err := d.result(in, 3, 3); err != nil {
		return err
	}
	p := in.PTX
	if err := d.sources(in, p.Type(), p.Operands[1]); err != nil {
		return err
	}
	if err := d.sources(in, ptx.B32, p.Operands[2]); err != nil {
		return err
	}
	all := p.Has("all")
	d.collective(in, 1, func(w *Warp, s *split, m Mask) {
		a, v := s.get(w, &in.src[0]), &w.scratch[0]
		pred := Mask(0)
		for i := range v {
			v[i] = 0
			if m>>i&1 == 0 {
				continue
			}
			for j := range a {
				if m>>j&1 != 0 && a[j] == a[i] {
					v[i] |= 1 << j
				}
			}
			if all && Mask(v[i]) != m {
				v[i] = 0
			} else {
				pred |= 1 << i
			}
		}
		s.set(in.dst[0], m, v)
		s.setPred(in.dst[1], m, pred)
	})
	return nil
}

// redux decodes redux.sync: result, value, members.
func (d *decoder) redux(in *Inst) error {
	if err := d.result(in, 3, 3); err != nil {
		return err
	}
	p := in.PTX
	if err := d.sources(in, p.Type(), p.Operands[1]); err != nil {
		return err
	}
	if err := d.sources(in, ptx.B32, p.Operands[2]); err != nil {
		return err
	}
	op, err := atomicFor(p)
	if err != nil {
		return err
	}
	d.collective(in, 1, func(w *Warp, s *split, m Mask) {
		a := s.get(w, &in.src[0])
		first := bits.TrailingZeros32(m)
		total := a[first]
		for i := first + 1; i < WarpSize; i++ {
			if m>>i&1 != 0 {
				total = op.apply(total, a[i], 0)
			}
		}
		v := &w.scratch[0]
		broadcast(v, total)
		s.set(in.dst[0], m, v)
	})
	return nil
}

// activemask gives the lanes that execute it together.
func (d *decoder) activemask(in *Inst) error {
	in.run = func(w *Warp, s *split, in *Inst, m Mask) {
		v := &w.scratch[0]
		broadcast(v, uint64(m))
		s.set(in.dst[0], m, v)
	}
	return d.result(in, 1, 1)
}

// elect decodes elect.sync: leader|predicate, members. The lowest lane leads.
func (d *decoder) elect(in *Inst) error {
	if err := d.result(in, 2, 2); err != nil {
		return err
	}
	if err := d.sources(in, ptx.B32, in.PTX.Operands[1]); err != nil {
		return err
	}
	d.collective(in, 0, func(w *Warp, s *split, m Mask) {
		leader := bits.TrailingZeros32(m)
		v := &w.scratch[0]
		broadcast(v, uint64(leader))
		s.set(in.dst[0], m, v)
		s.setPred(in.dst[1], m, 1<<leader)
	})
	return nil
}

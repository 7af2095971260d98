package sim

import (
	"github.com/warpbook/warpbook/cuda/ptx"
	"github.com/warpbook/warpbook/cuda/sim/arith"
)

// Lanes is a register of a warp: one value a lane, in the low bits; the bits
// above the register's width are zero.
type Lanes = arith.Lanes

// Mask has one bit a lane.
type Mask = arith.Mask

// exec carries out an instruction for the lanes m of split s of warp w.
type exec func(w *Warp, s *split, in *Inst, m Mask)

// Inst is a decoded instruction.
type Inst struct {
	PTX   *ptx.Instruction
	Index int // in the kernel, over all functions
	Func  *Func

	run      exec
	guard    int32 // predicate register, -1 without
	guardNot bool
	strong   bool // volatile or of the memory model: does not race with its like
	control  bool // may change the split's pc, mask or state

	op  arith.Op
	dst []place
	src []source

	// Memory.
	space  ptx.Space
	addr   source // base
	offset uint64
	bytes  int // of an element
	vec    int
	signed int // bits to extend from, 0 for unsigned
	width  int // bits of the destination register
	atomic *atomicOp
	passes bool // the address is a variable that passes values to or from a call

	target int // of a branch
	table  []int
	callee *Func
	mode   string
	extra  any
}

// place is where a result goes: a register, a predicate, or nowhere.
type place struct {
	reg  int32 // -1 for none
	pred bool
}

// source is where an operand comes from: a register, a constant, or a special
// register. A predicate operand has pred set.
type source struct {
	reg     int32 // -1 for a constant
	pred    bool
	not     bool
	narrow  bool // an address in a 32-bit register
	konst   *Lanes
	mask    Mask // a constant predicate
	special func(w *Warp) *Lanes
}

// passing is an argument or result of a call: bytes between a variable of the
// caller and one of the callee.
type passing struct {
	from, to, bytes int
}

// get reads a source. The result must not be written.
func (s *split) get(w *Warp, o *source) *Lanes {
	switch {
	case o.reg >= 0:
		return &s.frame.regs[o.reg]
	case o.konst != nil:
		return o.konst
	}
	return o.special(w)
}

func (s *split) pred(o *source) Mask {
	m := o.mask
	if o.reg >= 0 {
		m = s.frame.preds[o.reg]
	}
	if o.not {
		return ^m
	}
	return m
}

// setPred writes the lanes m of a predicate.
func (s *split) setPred(p place, m, v Mask) {
	if p.reg >= 0 {
		s.frame.preds[p.reg] = s.frame.preds[p.reg]&^m | v&m
	}
}

// into returns where to compute a result: the register itself when every lane
// that lives is written, scratch otherwise.
func (s *split) into(w *Warp, p place, m Mask, scratch *Lanes) *Lanes {
	if p.reg >= 0 && m == w.alive {
		return &s.frame.regs[p.reg]
	}
	return scratch
}

// keep moves what into gave to the register, for the lanes m.
func (s *split) keep(w *Warp, p place, m Mask, v *Lanes) {
	if p.reg < 0 || m == w.alive {
		return
	}
	blend(&s.frame.regs[p.reg], v, m)
}

// set writes the lanes m of a register.
func (s *split) set(p place, m Mask, v *Lanes) {
	if p.reg < 0 {
		return
	}
	if m == Full {
		s.frame.regs[p.reg] = *v
		return
	}
	blend(&s.frame.regs[p.reg], v, m)
}

func blend(d, v *Lanes, m Mask) {
	for i := range d {
		if m>>i&1 != 0 {
			d[i] = v[i]
		}
	}
}

func execFn1(w *Warp, s *split, in *Inst, m Mask) {
	d := s.into(w, in.dst[0], m, &w.scratch[0])
	in.op.Fn1(d, s.get(w, &in.src[0]))
	if m != w.alive {
		s.keep(w, in.dst[0], m, d)
	}
}

func execFn2(w *Warp, s *split, in *Inst, m Mask) {
	d := s.into(w, in.dst[0], m, &w.scratch[0])
	in.op.Fn2(d, s.get(w, &in.src[0]), s.get(w, &in.src[1]))
	if m != w.alive {
		s.keep(w, in.dst[0], m, d)
	}
}

func execFn3(w *Warp, s *split, in *Inst, m Mask) {
	d := s.into(w, in.dst[0], m, &w.scratch[0])
	in.op.Fn3(d, s.get(w, &in.src[0]), s.get(w, &in.src[1]), s.get(w, &in.src[2]))
	if m != w.alive {
		s.keep(w, in.dst[0], m, d)
	}
}

func execCmp(w *Warp, s *split, in *Inst, m Mask) {
	s.setPred(in.dst[0], m, in.op.Cmp(s.get(w, &in.src[0]), s.get(w, &in.src[1])))
}

func execSel(w *Warp, s *split, in *Inst, m Mask) {
	d := s.into(w, in.dst[0], m, &w.scratch[0])
	in.op.Sel(d, s.get(w, &in.src[0]), s.get(w, &in.src[1]), s.pred(&in.src[2]))
	if m != w.alive {
		s.keep(w, in.dst[0], m, d)
	}
}

func execLogic(w *Warp, s *split, in *Inst, m Mask) {
	a, b := s.pred(&in.src[0]), Mask(0)
	if len(in.src) > 1 {
		b = s.pred(&in.src[1])
	}
	s.setPred(in.dst[0], m, in.op.Logic(a, b))
}

// execAny is for instructions with several results, predicates among values, or
// the carry flag.
func execAny(w *Warp, s *split, in *Inst, m Mask) {
	x := &w.args
	for i := range in.src {
		if o := &in.src[i]; o.pred {
			x.SP[i] = s.pred(o)
		} else {
			x.S[i] = s.get(w, o)
		}
	}
	for i, p := range in.dst {
		x.D[i] = nil
		if !p.pred && p.reg >= 0 {
			x.D[i] = &w.scratch[i]
		}
	}
	x.Carry = s.carry
	in.op.Any(x)
	s.carry = s.carry&^m | x.Carry&m
	for i, p := range in.dst {
		switch {
		case p.reg < 0:
		case p.pred:
			s.setPred(p, m, x.DP[i])
		default:
			s.set(p, m, x.D[i])
		}
	}
}

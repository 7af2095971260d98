package sim

import (
	"fmt"
	"math"
	"math/bits"
	"sync"
	"unsafe"

	"github.com/warpbook/warpbook/cuda/half"
	"github.com/warpbook/warpbook/cuda/ptx"
)

// atomicOp is what an atomic instruction does to one element: the new value from
// the old one and its operands.
type atomicOp struct {
	apply func(old, b, c uint64) uint64
	two   bool // has the operand c
	// global takes the place of apply in global memory, where it is not nil.
	global func(old, b, c uint64) uint64
}

// atom decodes atom: result, address, operands.
func (d *decoder) atom(in *Inst) error {
	p := in.PTX
	if err := operands(in, 3, 5); err != nil {
		return err
	}
	list := []ptx.Operand{p.Operands[0]}
	if p.Operands[0].Kind == ptx.Vector {
		list = p.Operands[0].Elems
	}
	for _, o := range list {
		dst, err := d.place(o)
		if err != nil {
			return err
		}
		in.dst = append(in.dst, dst)
	}
	return d.atomics(in, p.Operands[1], p.Operands[2:])
}

// red decodes red: an atomic operation without a result.
func (d *decoder) red(in *Inst) error {
	if in.PTX.Has("async") {
		return redAsync(d, in)
	}
	if err := operands(in, 2, 3); err != nil {
		return err
	}
	return d.atomics(in, in.PTX.Operands[0], in.PTX.Operands[1:])
}

func (d *decoder) atomics(in *Inst, addr ptx.Operand, values []ptx.Operand) error {
	if err := d.memory(in, addr); err != nil {
		return err
	}
	op, err := atomicFor(in.PTX)
	if err != nil {
		return err
	}
	in.atomic = op
	in.run = execAtomic
	list := []ptx.Operand{values[0]}
	if values[0].Kind == ptx.Vector {
		list = values[0].Elems
	}
	if len(list) != in.vec || len(in.dst) != 0 && len(in.dst) != in.vec {
		return fmt.Errorf("%d values for %d elements", len(list), in.vec)
	}
	if op.two {
		if len(values) < 2 {
			return fmt.Errorf("an operand is missing")
		}
		list = append(list, values[1])
	}
	return d.sources(in, in.PTX.Type(), list...)
}

// atomicFor finds the operation of atom and red.
func atomicFor(p *ptx.Instruction) (*atomicOp, error) {
	t := p.Type()
	n := t.Bits()
	wrap := func(f func(a, b uint64) uint64) *atomicOp {
		return &atomicOp{apply: func(a, b, _ uint64) uint64 { return f(a, b) & (^uint64(0) >> (64 - n)) }}
	}
	signed := func(v uint64) int64 { return int64(v<<(64-n)) >> (64 - n) }
	switch {
	case p.Has("exch"):
		return wrap(func(_, b uint64) uint64 { return b }), nil
	case p.Has("cas"):
		return &atomicOp{two: true, apply: func(a, b, c uint64) uint64 {
			if a == b {
				return c
			}
			return a
		}}, nil
	case p.Has("and"):
		return wrap(func(a, b uint64) uint64 { return a & b }), nil
	case p.Has("or"):
		return wrap(func(a, b uint64) uint64 { return a | b }), nil
	case p.Has("xor"):
		return wrap(func(a, b uint64) uint64 { return a ^ b }), nil
	case p.Has("inc"):
		return wrap(func(a, b uint64) uint64 {
			if a >= b {
				return 0
			}
			return a + 1
		}), nil
	case p.Has("dec"):
		return wrap(func(a, b uint64) uint64 {
			if a == 0 || a > b {
				return b
			}
			return a - 1
		}), nil
	case p.Has("add") && t.Float():
		return atomicSum(t)
	case p.Has("add"):
		return wrap(func(a, b uint64) uint64 { return a + b }), nil
	case p.Has("min") && t.Float():
		return floatAtomic(t, numberMin)
	case p.Has("max") && t.Float():
		return floatAtomic(t, func(a, b float64) float64 { return -numberMin(-a, -b) })
	case p.Has("min") && t.Signed():
		return wrap(func(a, b uint64) uint64 { return uint64(min(signed(a), signed(b))) }), nil
	case p.Has("max") && t.Signed():
		return wrap(func(a, b uint64) uint64 { return uint64(max(signed(a), signed(b))) }), nil
	case p.Has("min"):
		return wrap(func(a, b uint64) uint64 { return min(a, b) }), nil
	case p.Has("max"):
		return wrap(func(a, b uint64) uint64 { return max(a, b) }), nil
	}
	return nil, fmt.Errorf("an atomic operation that is not known")
}

// atomicSum is the addition of floats. In global memory, sums of f32 know no
// subnormal numbers, and an f64 NaN stays as it is, the second one of two.
func atomicSum(t ptx.Type) (*atomicOp, error) {
	op, err := floatAtomic(t, func(a, b float64) float64 { return a + b })
	if err != nil {
		return nil, err
	}
	apply := op.apply
	switch t {
	case ptx.F32:
		op.global = func(a, b, _ uint64) uint64 { return flush(apply(flush(a), flush(b), 0)) }
	case ptx.F64:
		op.global = func(a, b, _ uint64) uint64 {
			for _, v := range []uint64{b, a} {
				if v<<1 > 0x7ff<<53 {
					return v
				}
			}
			return apply(a, b, 0)
		}
	}
	return op, nil
}

// flush makes a subnormal f32 zero, with its sign.
func flush(u uint64) uint64 {
	if u&0x7f800000 == 0 {
		u &= 1 << 31
	}
	return u
}

// numberMin is the smaller one; a NaN loses.
func numberMin(a, b float64) float64 {
	switch {
	case math.IsNaN(a):
		return b
	case math.IsNaN(b):
		return a
	}
	return min(a, b)
}

// floatAtomic makes an operation on floats, or on two halves. A sum of two f32 or
// halves is exact in f64 or is rounded once, so it is rounded once to the type.
func floatAtomic(t ptx.Type, f func(a, b float64) float64) (*atomicOp, error) {
	type conv struct {
		from func(uint64) float64
		to   func(float64) uint64
	}
	canonical := func(v float64, nan, bits uint64) uint64 {
		if math.IsNaN(v) {
			return nan
		}
		return bits
	}
	var c conv
	pair := false
	switch t {
	case ptx.F32:
		c = conv{func(v uint64) float64 { return float64(math.Float32frombits(uint32(v))) },
			func(v float64) uint64 { return canonical(v, 0x7fffffff, uint64(math.Float32bits(float32(v)))) }}
	case ptx.F64:
		c = conv{math.Float64frombits, math.Float64bits}
	case ptx.F16, ptx.F16x2:
		c = conv{func(v uint64) float64 { return float64(half.F16(v).Float32()) },
			func(v float64) uint64 { return canonical(v, 0x7fff, uint64(half.F16FromFloat64(v))) }}
		pair = t == ptx.F16x2
	case ptx.BF16, ptx.BF16x2:
		c = conv{func(v uint64) float64 { return float64(half.BF16(v).Float32()) },
			func(v float64) uint64 { return canonical(v, 0x7fff, uint64(half.BF16FromFloat64(v))) }}
		pair = t == ptx.BF16x2
	default:
		return nil, fmt.Errorf("an atomic operation on %v", t)
	}
	one := func(a, b uint64) uint64 { return c.to(f(c.from(a), c.from(b))) }
	if pair {
		return &atomicOp{apply: func(a, b, _ uint64) uint64 {
			return one(a&0xffff, b&0xffff) | one(a>>16&0xffff, b>>16&0xffff)<<16
		}}, nil
	}
	return &atomicOp{apply: func(a, b, _ uint64) uint64 { return one(a, b) }}, nil
}

func execAtomic(w *Warp, s *split, in *Inst, m Mask) {
	addr := w.addresses(s, &in.addr, in.offset)
	if in.space != ptx.Generic {
		w.atomicOn(s, in, in.space, addr, m)
		return
	}
	for m != 0 {
		space, same := w.resolve(addr, m)
		w.atomicOn(s, in, space, addr, same)
		m &^= same
	}
}

// atomicOn carries the operation out lane by lane.
func (w *Warp) atomicOn(s *split, in *Inst, space ptx.Space, addr *Lanes, m Mask) {
	good := w.touch(s, in, space, addr, m, Atomic, in.bytes*in.vec)
	var c *Lanes
	if in.atomic.two {
		c = s.get(w, &in.src[in.vec])
	}
	for e := range in.vec {
		b := s.get(w, &in.src[e])
		old := &w.scratch[e]
		for left := good; left != 0; left &= left - 1 {
			i := bits.TrailingZeros32(left)
			p := unsafe.Add(w.ptrs[i], e*in.bytes)
			var third uint64
			if c != nil {
				third = c[i]
			}
			if space == ptx.Shared || space == ptx.SharedCluster {
				old[i] = peek(p, in.bytes)
				poke(p, in.bytes, in.atomic.apply(old[i], b[i], third))
				continue
			}
			lock := w.block.launch.dev.lock(addr[i])
			lock.Lock()
			old[i] = peek(p, in.bytes)
			apply := in.atomic.apply
			if in.atomic.global != nil {
				apply = in.atomic.global
			}
			poke(p, in.bytes, apply(old[i], b[i], third))
			lock.Unlock()
		}
		if len(in.dst) > 0 {
			for i := range old {
				if (m&^good)>>i&1 != 0 {
					old[i] = 0
				}
			}
			s.set(in.dst[e], m, old)
		}
	}
}

// lock guards the atomic operations on what lies around addr.
func (d *Device) lock(addr uint64) *sync.Mutex { return &d.locks[addr>>3%256] }

package arith

import (
	"math/bits"

	"github.com/warpbook/warpbook/cuda/ptx"
)

// compileCarry is for additions, subtractions and multiply-adds that read the
// carry flag (addc, subc, madc), write it (.cc), or both. For a subtraction the
// flag is the borrow.
func compileCarry(c *compiler) (Op, error) {
	if err := c.allow("cc", "lo", "hi"); err != nil {
		return Op{}, err
	}
	t := c.typ(0)
	w := Width(t)
	if (byType[int]{u32: 1, u64: 1, s32: 1, s64: 1}).of(t) == 0 {
		return c.badType()
	}
	high, hi := mulHigh(t), c.has("hi")
	if hi && high == nil {
		return c.badType()
	}
	sum := func(a, b, carry uint64) (uint64, uint64) {
		if w == 64 {
			return bits.Add64(a, b, carry)
		}
		s := a + b + carry
		return s & ones(32), s >> 32
	}
	difference := func(a, b, borrow uint64) (uint64, uint64) {
		d, out := bits.Sub64(a, b, borrow)
		return d & ones(w), out
	}
	reads := c.Op == "addc" || c.Op == "subc" || c.Op == "madc"
	lane := func(a, b, z, in uint64) (uint64, uint64) { return sum(a, b, in) }
	src := []ptx.Type{t, t}
	switch c.Op {
	case "sub", "subc":
		lane = func(a, b, z, in uint64) (uint64, uint64) { return difference(a, b, in) }
	case "mad", "madc":
		src = []ptx.Type{t, t, t}
		lane = func(a, b, z, in uint64) (uint64, uint64) {
			p := a * b & ones(w)
			if hi {
				p = high(a, b)
			}
			return sum(p, z, in)
		}
	}
	writes := c.has("cc")
	return Op{Dst: []ptx.Type{t}, Src: src, Any: func(x *Args) {
		var out Mask
		d, third := x.D[0], x.S[1]
		if len(src) == 3 {
			third = x.S[2]
		}
		for i := range d {
			in := uint64(0)
			if reads {
				in = uint64(x.Carry >> i & 1)
			}
			v, carry := lane(x.S[0][i], x.S[1][i], third[i], in)
			d[i] = v
			out |= Mask(carry) << i
		}
		if writes {
			x.Carry = out
		}
	}}, nil
}

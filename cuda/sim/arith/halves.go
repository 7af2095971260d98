package arith

import (
	"math"

	"github.com/warpbook/warpbook/cuda/half"
	"github.com/warpbook/warpbook/cuda/ptx"
)

// flush16 makes a subnormal binary16 number zero.
func flush16(u uint16) uint16 {
	if u&0x7c00 == 0 {
		u &= 0x8000
	}
	return u
}

// style16 is how an instruction treats 16-bit floats.
type style16 struct {
	bf             bool
	mode           half.Mode
	ftz, sat, relu bool
}

func (c *compiler) style16() style16 {
	t := c.typ(0)
	return style16{bf: t == ptx.BF16 || t == ptx.BF16x2, mode: c.mode(),
		ftz: c.has("ftz"), sat: c.has("sat"), relu: c.has("relu")}
}

func (s style16) in(u uint64) float64 {
	if s.bf {
		return float64(half.BF16(u).Float32())
	}
	if s.ftz {
		u = uint64(flush16(uint16(u)))
	}
	return float64(half.F16(u).Float32())
}

// out rounds a result that is exact, or has odd's last bit.
func (s style16) out(x float64) uint64 {
	switch {
	case x != x && s.sat:
		return 0
	case x != x:
		return nan16
	case (s.relu || s.sat) && !(x > 0):
		return 0
	case s.sat && x > 1:
		x = 1
	}
	if s.bf {
		return uint64(half.BFloat16.Round(x, s.mode))
	}
	u := uint64(0)
	// Rounding by way of float32 is right unless that lies halfway between two
	// binary16 numbers.
	if f := float32(x); s.mode == half.NearestEven && math.Float32bits(f)&0x1fff != 0x1000 && math.Abs(x) > 0x1p-13 {
		u = uint64(half.F16FromFloat32(f))
	} else {
		u = uint64(half.Binary16.Round(x, s.mode))
	}
	if s.ftz {
		u = uint64(flush16(uint16(u)))
	}
	return u
}

// compileHalf is for add, sub, mul and fma of binary16 and bfloat16, one or two.
// All of them round once; a product is exact in float64.
func compileHalf(c *compiler) (Op, error) {
	if err := c.allow("rn", "rz", "rm", "rp", "ftz", "sat", "relu"); err != nil {
		return Op{}, err
	}
	t, s := c.typ(0), c.style16()
	if c.Op == "fma" || c.Op == "mad" {
		f := func(a, b, z uint64) uint64 { return s.out(exactSum(s.in(a)*s.in(b), s.in(z), s.mode)) }
		if isPair(t) {
			return c.ternary(pairs3(f), t, t, t, t)
		}
		return c.ternary(map3(f), t, t, t, t)
	}
	f := map[string]func(a, b uint64) uint64{
		"add": func(a, b uint64) uint64 { return s.out(exactSum(s.in(a), s.in(b), s.mode)) },
		"sub": func(a, b uint64) uint64 { return s.out(exactSum(s.in(a), -s.in(b), s.mode)) },
		"mul": func(a, b uint64) uint64 { return s.out(s.in(a) * s.in(b)) },
	}[c.Op]
	if isPair(t) {
		return c.binary(pairs2(f), t, t, t)
	}
	return c.binary(map2(f), t, t, t)
}

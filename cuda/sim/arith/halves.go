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

// oobNaN stands for an element outside a tensor, which fma.oob takes for zero. PTX
// does not tell its bits; an H200 takes these.
const oobNaN = 0xfff7

// style16 is how an instruction treats 16-bit floats.
type style16 struct {
	bf             bool
	mode           half.Mode
	ftz, sat, relu bool
	oob            bool // a special NaN makes zero
}

func (c *compiler) style16() style16 {
	t := c.typ(0)
	return style16{bf: t == ptx.BF16 || t == ptx.BF16x2, mode: c.mode(),
		ftz: c.has("ftz"), sat: c.has("sat"), relu: c.has("relu"), oob: c.has("oob")}
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
	if s.ftz && x < 0x1p-14 && x > -0x1p-14 { // before it is rounded
		x = math.Copysign(0, x)
	}
	u := uint64(0)
	// Rounding by way of float32 is right unless that lies halfway between two
	// binary16 numbers.
	if f := float32(x); s.mode == half.NearestEven && math.Float32bits(f)&0x1fff != 0x1000 && math.Abs(x) > 0x1p-13 {
		u = uint64(half.F16FromFloat32(f))
	} else {
		u = uint64(half.Binary16.Round(x, s.mode))
	}
	return u
}

// compileHalf is for add, sub, mul and fma of binary16 and bfloat16, one or two.
// All of them round once; a product is exact in float64.
func compileHalf(c *compiler) (Op, error) {
	if err := c.allow("rn", "rz", "rm", "rp", "ftz", "sat", "relu", "oob"); err != nil {
		return Op{}, err
	}
	t, s := c.typ(0), c.style16()
	plain := s == style16{bf: s.bf}
	if c.Op == "fma" || c.Op == "mad" {
		f := func(a, b, z uint64) uint64 {
			if s.oob && (a == oobNaN || b == oobNaN) {
				return 0
			}
			return s.out(exactSum(s.in(a)*s.in(b), s.in(z), s.mode))
		}
		switch {
		case t == ptx.F16x2 && plain:
			return c.ternary(fmaF16x2, t, t, t, t)
		case t == ptx.BF16x2 && plain:
			return c.ternary(fmaBF16x2, t, t, t, t)
		case isPair(t):
			return c.ternary(pairs3(f), t, t, t, t)
		}
		return c.ternary(map3(f), t, t, t, t)
	}
	f := map[string]func(a, b uint64) uint64{
		"add": func(a, b uint64) uint64 { return s.out(exactSum(s.in(a), s.in(b), s.mode)) },
		"sub": func(a, b uint64) uint64 { return s.out(exactSum(s.in(a), -s.in(b), s.mode)) },
		"mul": func(a, b uint64) uint64 { return s.out(s.in(a) * s.in(b)) },
	}[c.Op]
	switch {
	case t == ptx.F16x2 && plain:
		return c.binary(map[string]fn2{"add": addF16x2, "sub": subF16x2, "mul": mulF16x2}[c.Op], t, t, t)
	case isPair(t):
		return c.binary(pairs2(f), t, t, t)
	}
	return c.binary(map2(f), t, t, t)
}

// These loops compute in float32 or float64 and round from there, unless the
// intermediate result is halfway between two numbers, or outside the normal ones:
// then its own rounding may have put it there.

func h32(u uint64) float32 { return half.F16(u).Float32() }

// near16 rounds p+z, of which s is the rounded sum, to binary16.
func near16(s, p, z float32) uint64 {
	u := math.Float32bits(s)
	if u&0x1fff == 0x1000 || u>>23&0xff-113 >= 30 {
		return style16{}.out(exactSum(float64(p), float64(z), half.NearestEven))
	}
	u += 0xfff + u>>13&1
	return uint64(u>>16&0x8000 | (u&0x7fffffff-0x38000000)>>13)
}

func fma16(a, b, c uint64) uint64 {
	p, z := h32(a)*h32(b), h32(c)
	return near16(float32(p)+z, p, z)
}

func add16(a, b uint64) uint64 {
	x, y := h32(a), h32(b)
	return near16(x+y, x, y)
}

func mul16(a, b uint64) uint64 {
	p := h32(a) * h32(b)
	return near16(p, p, float32(math.Copysign(0, float64(p))))
}

func fmaF16x2(d, a, b, c *Lanes) {
	_, _, _, _ = *d, *a, *b, *c
	for i := range d {
		x, y, z := a[i], b[i], c[i]
		d[i] = fma16(x&0xffff, y&0xffff, z&0xffff) | fma16(x>>16, y>>16, z>>16)<<16
	}
}

func addF16x2(d, a, b *Lanes) {
	_, _, _ = *d, *a, *b
	for i := range d {
		d[i] = add16(a[i]&0xffff, b[i]&0xffff) | add16(a[i]>>16, b[i]>>16)<<16
	}
}

func subF16x2(d, a, b *Lanes) {
	_, _, _ = *d, *a, *b
	for i := range d {
		y := b[i] ^ 0x80008000
		d[i] = add16(a[i]&0xffff, y&0xffff) | add16(a[i]>>16, y>>16)<<16
	}
}

func mulF16x2(d, a, b *Lanes) {
	_, _, _ = *d, *a, *b
	for i := range d {
		d[i] = mul16(a[i]&0xffff, b[i]&0xffff) | mul16(a[i]>>16, b[i]>>16)<<16
	}
}

func fmaBF16x2(d, a, b, c *Lanes) {
	_, _, _, _ = *d, *a, *b, *c
	for i := range d {
		d[i] = fmaBF16(a[i]<<16, b[i]<<16, c[i]<<16) | fmaBF16(a[i], b[i], c[i])<<16
	}
}

// fmaBF16 takes its operands in the upper half of 32 bits.
func fmaBF16(a, b, c uint64) uint64 {
	const upper = 0xffff0000
	p, z := float64(f32(a&upper))*float64(f32(b&upper)), float64(f32(c&upper))
	u := math.Float32bits(float32(p + z))
	if u&0xffff == 0x8000 || u>>23&0xff-1 >= 253 {
		return style16{bf: true}.out(exactSum(p, z, half.NearestEven))
	}
	return uint64((u + 0x7fff + u>>16&1) >> 16)
}

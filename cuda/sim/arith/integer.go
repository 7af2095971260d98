package arith

import (
	"math"
	"math/bits"

	"github.com/warpbook/warpbook/cuda/ptx"
)

type unsigned interface{ uint16 | uint32 | uint64 }
type signed interface{ int16 | int32 | int64 }
type integer interface{ unsigned | signed }

func addInt[T unsigned](d, a, b *Lanes) {
	_, _, _ = *d, *a, *b
	for i := range d {
		d[i] = uint64(T(a[i]) + T(b[i]))
	}
}

func subInt[T unsigned](d, a, b *Lanes) {
	_, _, _ = *d, *a, *b
	for i := range d {
		d[i] = uint64(T(a[i]) - T(b[i]))
	}
}

func mulInt[T unsigned](d, a, b *Lanes) {
	_, _, _ = *d, *a, *b
	for i := range d {
		d[i] = uint64(T(a[i]) * T(b[i]))
	}
}

func madInt[T unsigned](d, a, b, c *Lanes) {
	_, _, _, _ = *d, *a, *b, *c
	for i := range d {
		d[i] = uint64(T(a[i])*T(b[i]) + T(c[i]))
	}
}

// compileAdd is for add and sub of all types.
func compileAdd(c *compiler) (Op, error) {
	t := c.typ(0)
	switch {
	case c.has("cc"):
		return compileCarry(c)
	case isHalf(t):
		return compileHalf(c)
	case isFloat(t):
		return compileFloat(c)
	}
	if err := c.allow("sat"); err != nil {
		return Op{}, err
	}
	sub := c.Op == "sub"
	if c.has("sat") {
		if t != ptx.S32 {
			return c.badType()
		}
		return c.binary(map2(func(a, b uint64) uint64 {
			if sub {
				return clampS32(int64(int32(a)) - int64(int32(b)))
			}
			return clampS32(int64(int32(a)) + int64(int32(b)))
		}), t, t, t)
	}
	if t == ptx.U16x2 || t == ptx.S16x2 {
		if sub {
			return c.badType()
		}
		return c.binary(pairs2(func(a, b uint64) uint64 { return (a + b) & 0xffff }), t, t, t)
	}
	f := byType[fn2]{addInt[uint16], addInt[uint32], addInt[uint64], addInt[uint16], addInt[uint32], addInt[uint64]}
	if sub {
		f = byType[fn2]{subInt[uint16], subInt[uint32], subInt[uint64], subInt[uint16], subInt[uint32], subInt[uint64]}
	}
	return c.binary(f.of(t), t, t, t)
}

func clampS32(v int64) uint64 {
	return uint64(uint32(max(math.MinInt32, min(v, math.MaxInt32))))
}

func mulWide[T integer, W uint32 | int32 | uint64 | int64](d, a, b *Lanes) {
	_, _, _ = *d, *a, *b
	for i := range d {
		d[i] = uint64(W(T(a[i])) * W(T(b[i])))
	}
}

func mulWideS16(d, a, b *Lanes) {
	_, _, _ = *d, *a, *b
	for i := range d {
		d[i] = uint64(uint32(int32(int16(a[i])) * int32(int16(b[i]))))
	}
}

func madWideU32(d, a, b, c *Lanes) {
	_, _, _, _ = *d, *a, *b, *c
	for i := range d {
		d[i] = uint64(uint32(a[i]))*uint64(uint32(b[i])) + c[i]
	}
}

func madWideS32(d, a, b, c *Lanes) {
	_, _, _, _ = *d, *a, *b, *c
	for i := range d {
		d[i] = uint64(int64(int32(a[i]))*int64(int32(b[i]))) + c[i]
	}
}

// mulHigh is the upper half of the product of two numbers of type t.
func mulHigh(t ptx.Type) func(a, b uint64) uint64 {
	switch t {
	case ptx.U16:
		return func(a, b uint64) uint64 { return a * b >> 16 }
	case ptx.S16:
		return func(a, b uint64) uint64 { return uint64(uint16(int32(int16(a)) * int32(int16(b)) >> 16)) }
	case ptx.U32:
		return func(a, b uint64) uint64 { return a * b >> 32 }
	case ptx.S32:
		return func(a, b uint64) uint64 { return uint64(uint32(int64(int32(a)) * int64(int32(b)) >> 32)) }
	case ptx.U64:
		return func(a, b uint64) uint64 { hi, _ := bits.Mul64(a, b); return hi }
	case ptx.S64:
		return func(a, b uint64) uint64 {
			hi, _ := bits.Mul64(a, b)
			return hi - a&uint64(int64(b)>>63) - b&uint64(int64(a)>>63)
		}
	}
	return nil
}

func compileMul(c *compiler) (Op, error) {
	t := c.typ(0)
	switch {
	case isHalf(t):
		return compileHalf(c)
	case isFloat(t):
		return compileFloat(c)
	}
	if err := c.allow("lo", "hi", "wide"); err != nil {
		return Op{}, err
	}
	switch {
	case c.has("wide") && wide(t) == ptx.Untyped:
		return c.badType()
	case c.has("wide"):
		f := byType[fn2]{
			u16: mulWide[uint16, uint32], u32: mulWide[uint32, uint64],
			s16: mulWideS16, s32: mulWide[int32, int64],
		}
		return c.binary(f.of(t), wide(t), t, t)
	case c.has("hi"):
		if f := mulHigh(t); f != nil {
			return c.binary(map2(f), t, t, t)
		}
		return c.badType()
	}
	f := byType[fn2]{mulInt[uint16], mulInt[uint32], mulInt[uint64], mulInt[uint16], mulInt[uint32], mulInt[uint64]}
	return c.binary(f.of(t), t, t, t)
}

func compileMad(c *compiler) (Op, error) {
	t := c.typ(0)
	switch {
	case isHalf(t), isFloat(t):
		return compileFma(c)
	case c.has("cc"):
		return compileCarry(c)
	}
	if err := c.allow("lo", "hi", "wide", "sat"); err != nil {
		return Op{}, err
	}
	switch {
	case c.has("wide") && wide(t) == ptx.Untyped:
		return c.badType()
	case c.has("wide"):
		w := wide(t)
		f := byType[fn3]{u32: madWideU32, s32: madWideS32,
			u16: map3(func(a, b, c uint64) uint64 { return uint64(uint32(a*b + c)) }),
			s16: map3(func(a, b, c uint64) uint64 {
				return uint64(uint32(int32(int16(a))*int32(int16(b))) + uint32(c))
			})}
		return c.ternary(f.of(t), w, t, t, w)
	case c.has("hi"):
		high, mask := mulHigh(t), ones(Width(t))
		if high == nil {
			return c.badType()
		}
		if c.has("sat") {
			return c.ternary(map3(func(a, b, c uint64) uint64 {
				return clampS32(int64(int32(high(a, b))) + int64(int32(c)))
			}), t, t, t, t)
		}
		return c.ternary(map3(func(a, b, c uint64) uint64 { return (high(a, b) + c) & mask }), t, t, t, t)
	}
	f := byType[fn3]{madInt[uint16], madInt[uint32], madInt[uint64], madInt[uint16], madInt[uint32], madInt[uint64]}
	return c.ternary(f.of(t), t, t, t, t)
}

// compileMul24 is for mul24 and mad24: products of the low 24 bits.
func compileMul24(c *compiler) (Op, error) {
	if err := c.allow("lo", "hi", "sat"); err != nil {
		return Op{}, err
	}
	t, hi, sat := c.typ(0), c.has("hi"), c.has("sat")
	if t != ptx.U32 && t != ptx.S32 {
		return c.badType()
	}
	product := func(a, b uint64) uint64 {
		p := (a & 0xffffff) * (b & 0xffffff)
		if t == ptx.S32 {
			p = uint64(signExtend(a, 24) * signExtend(b, 24))
		}
		if hi {
			p >>= 16
		}
		return uint64(uint32(p))
	}
	if c.Op == "mul24" {
		return c.binary(map2(product), t, t, t)
	}
	return c.ternary(map3(func(a, b, c uint64) uint64 {
		if sat {
			return clampS32(int64(int32(product(a, b))) + int64(int32(c)))
		}
		return uint64(uint32(product(a, b) + c))
	}), t, t, t, t)
}

func compileSad(c *compiler) (Op, error) {
	if err := c.allow(); err != nil {
		return Op{}, err
	}
	t := c.typ(0)
	w := Width(t)
	if (byType[int]{1, 1, 1, 1, 1, 1}).of(t) == 0 {
		return c.badType()
	}
	return c.ternary(map3(func(a, b, c uint64) uint64 {
		less := a < b
		if isSigned(t) {
			less = signExtend(a, w) < signExtend(b, w)
		}
		if less {
			a, b = b, a
		}
		return (c + a - b) & ones(w)
	}), t, t, t, t)
}

// divInt and remInt give, for a division by zero, all ones and the dividend, as
// the hardware's sequences for 32-bit numbers do; PTX leaves it open.
func divInt[T unsigned](d, a, b *Lanes) {
	_, _, _ = *d, *a, *b
	for i := range d {
		if y := T(b[i]); y != 0 {
			d[i] = uint64(T(a[i]) / y)
		} else {
			d[i] = uint64(^T(0))
		}
	}
}

func remInt[T unsigned](d, a, b *Lanes) {
	_, _, _ = *d, *a, *b
	for i := range d {
		if y := T(b[i]); y != 0 {
			d[i] = uint64(T(a[i]) % y)
		} else {
			d[i] = uint64(^T(0))
		}
	}
}

// The smallest number divided by -1 is itself, in PTX as in Go.
func divSigned[T signed, U unsigned](d, a, b *Lanes) {
	_, _, _ = *d, *a, *b
	for i := range d {
		if y := T(b[i]); y != 0 {
			d[i] = uint64(U(T(a[i]) / y))
		} else {
			d[i] = uint64(^U(0))
		}
	}
}

func remSigned[T signed, U unsigned](d, a, b *Lanes) {
	_, _, _ = *d, *a, *b
	for i := range d {
		if y := T(b[i]); y != 0 {
			d[i] = uint64(U(T(a[i]) % y))
		} else {
			d[i] = uint64(^U(0))
		}
	}
}

func compileDiv(c *compiler) (Op, error) {
	t := c.typ(0)
	if isFloat(t) {
		return compileFloatDiv(c)
	}
	if err := c.allow(); err != nil {
		return Op{}, err
	}
	f := byType[fn2]{divInt[uint16], divInt[uint32], divInt[uint64],
		divSigned[int16, uint16], divSigned[int32, uint32], divSigned[int64, uint64]}
	return c.binary(f.of(t), t, t, t)
}

func compileRem(c *compiler) (Op, error) {
	if err := c.allow(); err != nil {
		return Op{}, err
	}
	t := c.typ(0)
	f := byType[fn2]{remInt[uint16], remInt[uint32], remInt[uint64],
		remSigned[int16, uint16], remSigned[int32, uint32], remSigned[int64, uint64]}
	return c.binary(f.of(t), t, t, t)
}

func compileAbs(c *compiler) (Op, error) {
	t := c.typ(0)
	if isFloat(t) {
		return compileSign(c)
	}
	if err := c.allow(); err != nil {
		return Op{}, err
	}
	w := Width(t)
	if !isSigned(t) {
		return c.badType()
	}
	return c.unary(map1(func(a uint64) uint64 {
		if v := signExtend(a, w); v < 0 {
			return uint64(-v) & ones(w)
		}
		return a
	}), t, t)
}

func compileNeg(c *compiler) (Op, error) {
	t := c.typ(0)
	if isFloat(t) {
		return compileSign(c)
	}
	if err := c.allow(); err != nil {
		return Op{}, err
	}
	w := Width(t)
	if !isSigned(t) {
		return c.badType()
	}
	return c.unary(map1(func(a uint64) uint64 { return -a & ones(w) }), t, t)
}

func minInt[T integer, U unsigned](d, a, b *Lanes) {
	_, _, _ = *d, *a, *b
	for i := range d {
		d[i] = uint64(U(min(T(a[i]), T(b[i]))))
	}
}

func maxInt[T integer, U unsigned](d, a, b *Lanes) {
	_, _, _ = *d, *a, *b
	for i := range d {
		d[i] = uint64(U(max(T(a[i]), T(b[i]))))
	}
}

// compileMinMax is for min and max of all types.
func compileMinMax(c *compiler) (Op, error) {
	t := c.typ(0)
	if isFloat(t) {
		return compileFloatMinMax(c)
	}
	if err := c.allow("relu"); err != nil {
		return Op{}, err
	}
	if c.has("relu") || isPair(t) {
		return compileMinMaxRelu(c)
	}
	f := byType[fn2]{minInt[uint16, uint16], minInt[uint32, uint32], minInt[uint64, uint64],
		minInt[int16, uint16], minInt[int32, uint32], minInt[int64, uint64]}
	if c.Op == "max" {
		f = byType[fn2]{maxInt[uint16, uint16], maxInt[uint32, uint32], maxInt[uint64, uint64],
			maxInt[int16, uint16], maxInt[int32, uint32], maxInt[int64, uint64]}
	}
	return c.binary(f.of(t), t, t, t)
}

// compileMinMaxRelu is for pairs of 16-bit integers, and results that are never
// negative.
func compileMinMaxRelu(c *compiler) (Op, error) {
	t, relu, isMax := c.typ(0), c.has("relu"), c.Op == "max"
	one := func(w int) func(a, b uint64) uint64 {
		return func(a, b uint64) uint64 {
			x, y := int64(a), int64(b)
			if isSigned(t) {
				x, y = signExtend(a, w), signExtend(b, w)
			}
			if isMax == (x < y) {
				x = y
			}
			if relu {
				x = max(x, 0)
			}
			return uint64(x) & ones(w)
		}
	}
	switch {
	case isPair(t) && (isSigned(t) || !relu):
		return c.binary(pairs2(one(16)), t, t, t)
	case t == ptx.S32:
		return c.binary(map2(one(32)), t, t, t)
	}
	return c.badType()
}

package arith

import (
	"math"

	"github.com/warpbook/warpbook/cuda/half"
	"github.com/warpbook/warpbook/cuda/ptx"
)

// compileFloat is for add, sub and mul of float32 and float64.
func compileFloat(c *compiler) (Op, error) {
	if err := c.allow("rn", "rz", "rm", "rp", "ftz", "sat"); err != nil {
		return Op{}, err
	}
	t, mode := c.typ(0), c.mode()
	nearest := mode == half.NearestEven
	switch t {
	case ptx.F32:
		s := c.style32()
		switch {
		case s == style32{}:
			return c.binary(map[string]fn2{"add": addF32, "sub": subF32, "mul": mulF32}[c.Op], t, t, t)
		case s == style32{ftz: true} && c.Op != "sub":
			return c.binary(map[string]fn2{"add": addF32Ftz, "mul": mulF32Ftz}[c.Op], t, t, t)
		}
		return c.binary(map2(map[string]func(a, b uint64) uint64{
			"add": func(a, b uint64) uint64 { return s.out(exactSum(s.in(a), s.in(b), mode)) },
			"sub": func(a, b uint64) uint64 { return s.out(exactSum(s.in(a), -s.in(b), mode)) },
			"mul": func(a, b uint64) uint64 { return s.exact(s.in(a) * s.in(b)) },
		}[c.Op]), t, t, t)
	case ptx.F64:
		if c.has("sat") || c.has("ftz") {
			return c.badType()
		}
		if nearest {
			return c.binary(map[string]fn2{"add": addF64, "sub": subF64, "mul": mulF64}[c.Op], t, t, t)
		}
		f := map[string]func(a, b float64) float64{
			"add": func(a, b float64) float64 { return add64(a, b, mode) },
			"sub": func(a, b float64) float64 { return add64(a, -b, mode) },
			"mul": func(a, b float64) float64 { return mul64(a, b, mode) },
		}[c.Op]
		return c.binary(map64(f), t, t, t)
	}
	return c.badType()
}

// map64 applies f to the lanes and settles which NaN comes out.
func map64(f func(a, b float64) float64) fn2 {
	return map2(func(a, b uint64) uint64 {
		r := f(f64(a), f64(b))
		if r != r {
			return nan64(f64(b), f64(a))
		}
		return math.Float64bits(r)
	})
}

// compileFma is for fma and mad of floats, which are the same.
func compileFma(c *compiler) (Op, error) {
	t, mode := c.typ(0), c.mode()
	if isHalf(t) {
		return compileHalf(c)
	}
	if err := c.allow("rn", "rz", "rm", "rp", "ftz", "sat"); err != nil {
		return Op{}, err
	}
	switch t {
	case ptx.F32:
		s := c.style32()
		switch s {
		case style32{}:
			return c.ternary(fmaF32, t, t, t, t)
		case style32{ftz: true}:
			return c.ternary(fmaF32Ftz, t, t, t, t)
		}
		return c.ternary(map3(func(a, b, z uint64) uint64 {
			return s.exact(exactSum(s.in(a)*s.in(b), s.in(z), mode))
		}), t, t, t, t)
	case ptx.F64:
		if c.has("sat") || c.has("ftz") {
			return c.badType()
		}
		if mode == half.NearestEven {
			return c.ternary(fmaF64, t, t, t, t)
		}
		return c.ternary(map3(func(a, b, z uint64) uint64 {
			r := fma64(f64(a), f64(b), f64(z), mode)
			if r != r {
				return nan64(f64(b), f64(z), f64(a))
			}
			return math.Float64bits(r)
		}), t, t, t, t)
	}
	return c.badType()
}

func divF32(d, a, b *Lanes) {
	_, _, _ = *d, *a, *b
	for i := range d {
		d[i] = bits32(f32(a[i]) / f32(b[i]))
	}
}

func compileFloatDiv(c *compiler) (Op, error) {
	if err := c.allow("rn", "rz", "rm", "rp", "ftz", "approx", "full"); err != nil {
		return Op{}, err
	}
	t, mode, s := c.typ(0), c.mode(), c.style32()
	switch {
	case t == ptx.F32 && c.has("approx"):
		return c.binary(map2(func(a, b uint64) uint64 {
			x, y := s.in(a), s.in(b)
			// The hardware multiplies by the reciprocal, which is lost for large y.
			if m := math.Abs(y); m > 0x1p126 && m < math.Inf(1) {
				if math.IsInf(x, 0) {
					return nan32
				}
				return s.out(x * math.Copysign(0, y))
			}
			return s.out(x / y)
		}), t, t, t)
	case t == ptx.F32 && s == style32{} && mode == half.NearestEven:
		return c.binary(divF32, t, t, t)
	case t == ptx.F32:
		return c.binary(map2(func(a, b uint64) uint64 { return s.out(quotient(s.in(a), s.in(b))) }), t, t, t)
	case t == ptx.F64 && !s.ftz:
		return c.binary(map2(func(a, b uint64) uint64 {
			r := div64(f64(a), f64(b), mode)
			if r != r {
				return nan64(f64(a), f64(b))
			}
			return math.Float64bits(r)
		}), t, t, t)
	}
	return c.badType()
}

func compileRcp(c *compiler) (Op, error) {
	if err := c.allow("rn", "rz", "rm", "rp", "ftz", "approx"); err != nil {
		return Op{}, err
	}
	t, mode, s := c.typ(0), c.mode(), c.style32()
	switch {
	case t == ptx.F32:
		return c.unary(map1(func(a uint64) uint64 { return s.out(quotient(1, s.in(a))) }), t, t)
	case t == ptx.F64 && c.has("approx"):
		return c.unary(gross(func(a float64) float64 { return 1 / a }), t, t)
	case t == ptx.F64:
		return c.unary(map1(func(a uint64) uint64 {
			r := div64(1, f64(a), mode)
			if r != r {
				return nan64(f64(a))
			}
			return math.Float64bits(r)
		}), t, t)
	}
	return c.badType()
}

// gross is for the approximations of float64 that look at the upper 32 bits of
// their operand and give the upper 32 bits of a result. Subnormals are zeros.
func gross(f func(a float64) float64) fn1 {
	flush := func(u uint64) uint64 {
		if u&(0x7ff<<52) == 0 {
			u &= 1 << 63
		}
		return u &^ 0xffffffff
	}
	return map1(func(a uint64) uint64 {
		x := f64(flush(a))
		if x != x {
			return nan64(x)
		}
		r := f(x)
		if r != r {
			return nan64()
		}
		return flush(math.Float64bits(r))
	})
}

func compileSqrt(c *compiler) (Op, error) {
	if err := c.allow("rn", "rz", "rm", "rp", "ftz", "approx"); err != nil {
		return Op{}, err
	}
	t, mode, s := c.typ(0), c.mode(), c.style32()
	switch t {
	case ptx.F32:
		return c.unary(map1(func(a uint64) uint64 { return s.out(root(s.in(a))) }), t, t)
	case ptx.F64:
		return c.unary(map1(func(a uint64) uint64 {
			r := sqrt64(f64(a), mode)
			if r != r {
				return nan64(f64(a))
			}
			return math.Float64bits(r)
		}), t, t)
	}
	return c.badType()
}

func compileRsqrt(c *compiler) (Op, error) {
	if err := c.allow("ftz", "approx"); err != nil {
		return Op{}, err
	}
	t, s := c.typ(0), c.style32()
	switch t {
	case ptx.F32:
		return c.unary(map1(func(a uint64) uint64 { return s.out(1 / math.Sqrt(s.in(a))) }), t, t)
	case ptx.F64:
		if c.has("ftz") {
			return c.unary(gross(func(a float64) float64 { return 1 / math.Sqrt(a) }), t, t)
		}
		return c.unary(map1(func(a uint64) uint64 {
			r := 1 / math.Sqrt(f64(a))
			if r != r {
				return nan64(f64(a))
			}
			return math.Float64bits(r)
		}), t, t)
	}
	return c.badType()
}

// compileSign is for neg and abs of floats. The hardware has them as an addition,
// so that a NaN becomes its own.
func compileSign(c *compiler) (Op, error) {
	if err := c.allow("ftz"); err != nil {
		return Op{}, err
	}
	t, ftz, neg := c.typ(0), c.has("ftz"), c.Op == "neg"
	w := Width(t)
	if isHalf(t) {
		w = 16
	}
	sign := uint64(1) << (w - 1)
	value := loader(t, false)
	if value == nil {
		return c.badType()
	}
	f := func(a uint64) uint64 {
		switch {
		case value(a) != value(a):
			return nanSign(t, a)
		case ftz && t == ptx.F32:
			a = flush32(a)
		case ftz:
			a = uint64(flush16(uint16(a)))
		}
		if neg {
			return a ^ sign
		}
		return a &^ sign
	}
	if isPair(t) {
		return c.unary(pairs1(f), t, t)
	}
	return c.unary(map1(f), t, t)
}

// nanSign is the negative, or the magnitude, of a NaN.
func nanSign(t ptx.Type, a uint64) uint64 {
	switch {
	case t == ptx.F64:
		return nan64(f64(a))
	case t == ptx.F32:
		return nan32
	}
	return nan16
}

func minF32(d, a, b *Lanes) {
	_, _, _ = *d, *a, *b
	for i := range d {
		d[i] = minmax32(a[i], b[i], false)
	}
}

func maxF32(d, a, b *Lanes) {
	_, _, _ = *d, *a, *b
	for i := range d {
		x, y := f32(a[i]), f32(b[i])
		switch {
		case x > y:
			d[i] = a[i]
		case x < y:
			d[i] = b[i]
		default:
			d[i] = minmax32(a[i], b[i], true)
		}
	}
}

// minmax32 takes the number where the other is NaN; -0 is less than +0.
func minmax32(a, b uint64, isMax bool) uint64 {
	x, y := f32(a), f32(b)
	switch {
	case x != x && y != y:
		return nan32
	case x != x:
		return b
	case y != y:
		return a
	case x == y:
		if isMax {
			return a & b
		}
		return a | b
	case (x < y) != isMax:
		return a
	}
	return b
}

// compileFloatMinMax is for min and max of floats.
func compileFloatMinMax(c *compiler) (Op, error) {
	if err := c.allow("ftz", "NaN", "xorsign", "abs"); err != nil {
		return Op{}, err
	}
	t, ftz, isMax, propagate, xorsign := c.typ(0), c.has("ftz"), c.Op == "max", c.has("NaN"), c.has("xorsign")
	if t == ptx.F32 && len(c.Mods) == 0 && len(c.Operands) < 4 {
		if isMax {
			return c.binary(maxF32, t, t, t)
		}
		return c.binary(minF32, t, t, t)
	}
	value := loader(t, false)
	if value == nil {
		return c.badType()
	}
	w := Width(t)
	if isHalf(t) {
		w = 16
	}
	sign := uint64(1) << (w - 1)
	f := func(a, b uint64) uint64 {
		if ftz && t == ptx.F32 {
			a, b = flush32(a), flush32(b)
		} else if ftz {
			a, b = uint64(flush16(uint16(a))), uint64(flush16(uint16(b)))
		}
		signs := (a ^ b) & sign
		if xorsign {
			a, b = a&^sign, b&^sign
		}
		x, y := value(a), value(b)
		r := b
		switch {
		case x != x && y != y, propagate && (x != x || y != y):
			return nanMinMax(t, a, b)
		case x != x:
		case y != y:
			r = a
		case x == y && isMax:
			r = a & b
		case x == y:
			r = a | b
		case (x < y) != isMax:
			r = a
		}
		if xorsign {
			r |= signs
		}
		return r
	}
	switch {
	case isPair(t):
		return c.binary(pairs2(f), t, t, t)
	case len(c.Operands) == 4:
		return c.ternary(map3(func(a, b, z uint64) uint64 { return f(f(a, b), z) }), t, t, t, t)
	}
	return c.binary(map2(f), t, t, t)
}

// nanMinMax is the NaN that min and max give.
func nanMinMax(t ptx.Type, a, b uint64) uint64 {
	switch {
	case t == ptx.F64:
		return nan64(f64(b), f64(a))
	case t == ptx.F32:
		return nan32
	}
	return nan16
}

func compileCopysign(c *compiler) (Op, error) {
	if err := c.allow(); err != nil {
		return Op{}, err
	}
	t := c.typ(0)
	if t != ptx.F32 && t != ptx.F64 {
		return c.badType()
	}
	sign := uint64(1) << (Width(t) - 1)
	return c.binary(map2(func(a, b uint64) uint64 { return a&sign | b&^sign }), t, t, t)
}

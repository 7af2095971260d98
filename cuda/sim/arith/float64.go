package arith

import (
	"math"
	"math/big"

	"github.com/warpbook/warpbook/cuda/half"
)

func f64(u uint64) float64 { return math.Float64frombits(u) }

// nan64 is the NaN that an operation gives, when it gives one: the first of those
// that went in, made quiet, or the hardware's own. Which one goes first was seen on
// an H200: the second operand, then the third one, then the first one.
func nan64(in ...float64) uint64 {
	for _, x := range in {
		if x != x {
			return math.Float64bits(x) | 1<<51
		}
	}
	return 0xfff8 << 48
}

func addF64(d, a, b *Lanes) {
	_, _, _ = *d, *a, *b
	for i := range d {
		x, y := f64(a[i]), f64(b[i])
		r := x + y
		if r != r {
			d[i] = nan64(y, x)
			continue
		}
		d[i] = math.Float64bits(r)
	}
}

func subF64(d, a, b *Lanes) {
	_, _, _ = *d, *a, *b
	for i := range d {
		x, y := f64(a[i]), f64(b[i])
		r := x - y
		if r != r {
			d[i] = nan64(y, x)
			continue
		}
		d[i] = math.Float64bits(r)
	}
}

func mulF64(d, a, b *Lanes) {
	_, _, _ = *d, *a, *b
	for i := range d {
		x, y := f64(a[i]), f64(b[i])
		r := x * y
		if r != r {
			d[i] = nan64(y, x)
			continue
		}
		d[i] = math.Float64bits(r)
	}
}

func fmaF64(d, a, b, c *Lanes) {
	_, _, _, _ = *d, *a, *b, *c
	for i := range d {
		x, y, z := f64(a[i]), f64(b[i]), f64(c[i])
		r := math.FMA(x, y, z)
		if r != r {
			d[i] = nan64(y, z, x)
			continue
		}
		d[i] = math.Float64bits(r)
	}
}

// direct moves a result that was rounded to nearest to where another mode would
// have put it. Side is the sign of the exact result minus r.
func direct(r float64, side int, mode half.Mode) float64 {
	if mode == half.TowardZero {
		mode = half.Downward
		if math.Signbit(r) {
			mode = half.Upward
		}
	}
	switch {
	case side > 0 && mode == half.Upward:
		return math.Nextafter(r, math.Inf(1))
	case side < 0 && mode == half.Downward:
		return math.Nextafter(r, math.Inf(-1))
	}
	return r
}

// exact returns a number with room for every bit of a product and sum of float64s.
func exact(x float64) *big.Float { return new(big.Float).SetPrec(4400).SetFloat64(x) }

func finite(xs ...float64) bool {
	for _, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

// fma64 is a*b+c in any mode. Rounding to nearest needs no help.
func fma64(a, b, c float64, mode half.Mode) float64 {
	r := math.FMA(a, b, c)
	if mode == half.NearestEven || !finite(a, b, c) {
		return r
	}
	p := exact(a)
	p.Mul(p, exact(b))
	p.Add(p, exact(c))
	if p.Sign() == 0 {
		if mode == half.Downward && r == 0 && (c != 0 || math.Signbit(c) || math.Signbit(a) != math.Signbit(b)) {
			return math.Copysign(0, -1)
		}
		return r
	}
	return direct(r, p.Cmp(exact(r)), mode)
}

func add64(a, b float64, mode half.Mode) float64 { return fma64(a, 1, b, mode) }

func mul64(a, b float64, mode half.Mode) float64 {
	r := a * b
	if mode == half.NearestEven || r == 0 && (a == 0 || b == 0) || !finite(a, b) {
		return r
	}
	p := exact(a)
	return direct(r, p.Mul(p, exact(b)).Cmp(exact(r)), mode)
}

func div64(a, b float64, mode half.Mode) float64 {
	r := a / b
	if mode == half.NearestEven || a == 0 || b == 0 || !finite(a, b) {
		return r
	}
	side := -1 // an infinite result of finite numbers is too large
	if math.IsInf(r, 0) {
		if r < 0 {
			side = 1
		}
	} else {
		p := exact(r)
		side = exact(a).Cmp(p.Mul(p, exact(b)))
		if b < 0 {
			side = -side
		}
	}
	return direct(r, side, mode)
}

func sqrt64(a float64, mode half.Mode) float64 {
	r := math.Sqrt(a)
	if mode == half.NearestEven || r == 0 || !finite(r) {
		return r
	}
	p := exact(r)
	return direct(r, exact(a).Cmp(p.Mul(p, p)), mode)
}

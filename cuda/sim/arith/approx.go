package arith

import (
	"math"

	"github.com/warpbook/warpbook/cuda/ptx"
)

// compileApprox is for the functions that the hardware approximates. Here they
// are as good as rounding a float64's value can make them, which is well within
// the documented errors.
func compileApprox(c *compiler) (Op, error) {
	if err := c.allow("approx", "ftz"); err != nil {
		return Op{}, err
	}
	t, s := c.typ(0), c.style32()
	f := map[string]func(float64) float64{
		"sin": math.Sin, "cos": math.Cos, "lg2": math.Log2, "ex2": exp2, "tanh": math.Tanh,
	}[c.Op]
	switch {
	case t == ptx.F32 && c.Op == "ex2":
		if s.ftz {
			return c.unary(exp2F32Ftz, t, t)
		}
		return c.unary(exp2F32, t, t)
	case t == ptx.F32:
		return c.unary(map1(func(a uint64) uint64 { return s.out(f(s.in(a))) }), t, t)
	case isHalf(t) && (c.Op == "ex2" || c.Op == "tanh"):
		h := c.style16()
		g := func(a uint64) uint64 { return h.out(f(h.in(a))) }
		if isPair(t) {
			return c.unary(pairs1(g), t, t)
		}
		return c.unary(map1(g), t, t)
	}
	return c.badType()
}

func exp2F32(d, a *Lanes) { exp2Lanes(d, a, false) }

func exp2F32Ftz(d, a *Lanes) { exp2Lanes(d, a, true) }

// exp2Lanes is exp2 without conversion instructions, which on amd64 would make each
// lane wait for the one before it.
func exp2Lanes(d, a *Lanes, ftz bool) {
	_, _ = *d, *a
	for i := range d {
		u := a[i]
		if u&0x7fffffff >= 0x42fc0000 { // 126 and more, infinities and NaN
			r := bits32(float32(exp2(float64(f32(u)))))
			if ftz {
				r = flush32(r)
			}
			d[i] = r
			continue
		}
		// The bits of a float32 spread as those of a float64 are the number, but for
		// the exponent.
		x := math.Float64frombits(uint64(int64(int32(u))<<29)&0x8fffffffe0000000) * 0x1p896
		t := x*32 + round
		k := int64(math.Float64bits(t)) << 32 >> 32
		y := (x - (t-round)/32) * math.Ln2
		p := (1 + y*(1+y*(1.0/2+y*(1.0/6+y*(1.0/24))))) * powers[k&31]
		r := math.Float64bits(p) + uint64(k>>5-896)<<52
		d[i] = (r + 0x0fffffff + r>>29&1) >> 29
	}
}

// round added to a float64 rounds it to an integer, which is in the last bits then.
const round = 3 << 51

// powers are 2**(i/32).
var powers = func() (p [32]float64) {
	for i := range p {
		p[i] = math.Exp2(float64(i) / 32)
	}
	return p
}()

// exp2 is 2**x with a relative error below 1e-11, for results that become a
// float32 or narrower: x is a multiple of 1/32, whose power is known, and a rest
// for which Taylor's series needs few terms.
func exp2(x float64) float64 {
	if !(x > -200 && x < 200) {
		return math.Exp2(x)
	}
	t := x*32 + round
	k := int64(math.Float64bits(t)) << 32 >> 32
	y := (x - (t-round)/32) * math.Ln2
	p := 1 + y*(1+y*(1.0/2+y*(1.0/6+y*(1.0/24))))
	return p * powers[k&31] * math.Float64frombits(uint64(k>>5+1023)<<52)
}

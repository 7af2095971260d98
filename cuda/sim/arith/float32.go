package arith

import (
	"math"

	"github.com/warpbook/warpbook/cuda/half"
)

// nan32 is the NaN that the hardware's float32 and 16-bit operations give,
// whatever NaN went in.
const (
	nan32 = 0x7fffffff
	nan16 = 0x7fff
)

func f32(u uint64) float32 { return math.Float32frombits(uint32(u)) }

func bits32(f float32) uint64 {
	if f != f {
		return nan32
	}
	return uint64(math.Float32bits(f))
}

// flush32 makes a subnormal number zero and keeps its sign.
func flush32(u uint64) uint64 {
	if u&0x7f800000 == 0 {
		u &= 0x80000000
	}
	return u
}

func addF32(d, a, b *Lanes) {
	_, _, _ = *d, *a, *b
	for i := range d {
		d[i] = bits32(f32(a[i]) + f32(b[i]))
	}
}

func subF32(d, a, b *Lanes) {
	_, _, _ = *d, *a, *b
	for i := range d {
		d[i] = bits32(f32(a[i]) - f32(b[i]))
	}
}

func mulF32(d, a, b *Lanes) {
	_, _, _ = *d, *a, *b
	for i := range d {
		d[i] = bits32(f32(a[i]) * f32(b[i]))
	}
}

func addF32Ftz(d, a, b *Lanes) {
	_, _, _ = *d, *a, *b
	for i := range d {
		d[i] = flush32(bits32(f32(flush32(a[i])) + f32(flush32(b[i]))))
	}
}

func mulF32Ftz(d, a, b *Lanes) {
	_, _, _ = *d, *a, *b
	for i := range d {
		x, y := f32(flush32(a[i])), f32(flush32(b[i]))
		r := flush32(bits32(x * y))
		if r&0x7fffffff == 1<<23 { // rounded up to the smallest normal number, perhaps
			r = tiny(r, float64(x)*float64(y))
		}
		d[i] = r
	}
}

// tiny makes a product or sum zero whose exact value is too small for a normal
// number: the hardware looks before it rounds.
func tiny(u uint64, exact float64) uint64 {
	if exact < 0x1p-126 && exact > -0x1p-126 {
		u &= 1 << 31
	}
	return u
}

// fmaF32 multiplies exactly in float64, adds there, and rounds again. That is
// wrong only if the sum lies, after its first rounding, halfway between two
// float32s, or is too small for a normal one: such sums take the long way, and so
// do zeros, infinities and NaN.
func fmaF32(d, a, b, c *Lanes) {
	_, _, _, _ = *d, *a, *b, *c
	for i := range d {
		p, z := float64(f32(a[i]))*float64(f32(b[i])), float64(f32(c[i]))
		s := p + z
		u := math.Float64bits(s)
		if u&0x1fffffff == 0x10000000 || u>>52&0x7ff-0x381 >= 0x7ff-0x381 {
			d[i] = rareSum32(p, z, s)
			continue
		}
		d[i] = uint64(math.Float32bits(float32(s)))
	}
}

// rareSum32 is p+z as a float32, for which s is a first approximation.
func rareSum32(p, z, s float64) uint64 {
	if s == 0 || s != s {
		return bits32(float32(s))
	}
	return bits32(sum32(p, z, half.NearestEven))
}

func fmaF32Ftz(d, a, b, c *Lanes) {
	_, _, _, _ = *d, *a, *b, *c
	for i := range d {
		p, z := float64(f32(flush32(a[i])))*float64(f32(flush32(b[i]))), float64(f32(flush32(c[i])))
		s := p + z
		u := math.Float64bits(s)
		if u&0x1fffffff == 0x10000000 || u>>52&0x7ff-0x381 >= 0x7ff-0x381 {
			d[i] = tiny(flush32(rareSum32(p, z, s)), exactSum(p, z, half.NearestEven))
			continue
		}
		d[i] = uint64(math.Float32bits(float32(s)))
	}
}

// twoSum is the rounded sum of a and b, and what rounding lost. The lost part
// means nothing when the sum is not finite.
func twoSum(a, b float64) (s, lost float64) {
	s = a + b
	t := s - a
	return s, (a - (s - t)) + (b - t)
}

// odd gives a number that every format with at most 51 bits of mantissa rounds, in
// any mode, as it would s+lost: of the two float64s around it, the one whose last
// bit is set.
func odd(s, lost float64) float64 {
	u := math.Float64bits(s)
	if lost == 0 || lost != lost || u&1 != 0 {
		return s
	}
	if (lost > 0) == (s > 0) {
		return math.Float64frombits(u + 1)
	}
	return math.Float64frombits(u - 1)
}

// exactSum is a+b, ready to be rounded once. The sum of zeros, or of opposite
// numbers, has the sign that the mode wants.
func exactSum(a, b float64, mode half.Mode) float64 {
	s, lost := twoSum(a, b)
	if s == 0 && mode == half.Downward && (math.Signbit(a) || math.Signbit(b)) {
		return math.Copysign(0, -1)
	}
	if math.IsInf(s, 0) {
		return s
	}
	return odd(s, lost)
}

func round32(x float64, mode half.Mode) float32 {
	if mode == half.NearestEven {
		return float32(x)
	}
	return math.Float32frombits(half.Binary32.Round(x, mode))
}

func sum32(a, b float64, mode half.Mode) float32 { return round32(exactSum(a, b, mode), mode) }

// quotient is a/b for numbers of at most 26 bits, ready to be rounded once.
func quotient(a, b float64) float64 {
	q := a / b
	if q == 0 || math.IsInf(q, 0) || math.IsInf(b, 0) || q != q {
		return q
	}
	rest := math.FMA(-q, b, a)
	if b < 0 {
		rest = -rest
	}
	return odd(q, rest)
}

// root is the square root of a number of at most 26 bits, ready to be rounded once.
func root(a float64) float64 {
	s := math.Sqrt(a)
	if s == 0 || s != s || math.IsInf(s, 0) {
		return s
	}
	return odd(s, math.FMA(-s, s, a))
}

// style32 is how an instruction treats float32s.
type style32 struct {
	mode     half.Mode
	ftz, sat bool
}

func (c *compiler) style32() style32 {
	return style32{mode: c.mode(), ftz: c.has("ftz"), sat: c.has("sat")}
}

func (s style32) in(u uint64) float64 {
	if s.ftz {
		u = flush32(u)
	}
	return float64(f32(u))
}

func (s style32) out(x float64) uint64 {
	u := bits32(round32(x, s.mode))
	if s.ftz {
		u = flush32(u)
	}
	if s.sat {
		u = saturate32(u)
	}
	return u
}

// exact is out for a product or a sum, which is flushed before it is rounded.
func (s style32) exact(x float64) uint64 {
	if s.ftz && x < 0x1p-126 && x > -0x1p-126 {
		x = math.Copysign(0, x)
	}
	return s.out(x)
}

// saturate32 brings a number between 0 and 1; NaN becomes 0.
func saturate32(u uint64) uint64 {
	switch f := f32(u); {
	case !(f > 0):
		return 0
	case f > 1:
		return 0x3f800000
	}
	return u
}

package half

import (
	"math"
	"math/bits"
)

// Mode is a way to round.
type Mode uint8

// The modes, named as in IEEE 754. PTX calls them rn, rz, rm, rp and rna.
const (
	NearestEven Mode = iota
	TowardZero
	Downward
	Upward
	NearestAway
)

// Format is a binary floating-point format narrower than float64. A number is
// sign, exponent and mantissa, from the top of its bits down.
type Format struct {
	Exp, Man int // bits of exponent and mantissa
	// Finite formats have no infinities: the numbers go on where others have
	// infinities and NaN, and only the pattern of all ones is a NaN.
	Finite bool
}

// The formats.
var (
	Binary16 = Format{Exp: 5, Man: 10}
	BFloat16 = Format{Exp: 8, Man: 7}
	TF32     = Format{Exp: 8, Man: 10}
	Binary32 = Format{Exp: 8, Man: 23}
	E5M2     = Format{Exp: 5, Man: 2}
	E4M3     = Format{Exp: 4, Man: 3, Finite: true}
)

func (f Format) bias() int { return 1<<(f.Exp-1) - 1 }

// sign is the sign bit.
func (f Format) sign() uint32 { return 1 << (f.Exp + f.Man) }

// inf is the magnitude at which infinities lie, or the NaN of finite formats.
func (f Format) inf() uint32 {
	if f.Finite {
		return f.sign() - 1
	}
	return (1<<f.Exp - 1) << f.Man
}

// Max is the largest finite number's bits.
func (f Format) Max() uint32 { return f.inf() - 1 }

// Round converts x, rounding once. A result that is too large becomes what IEEE
// 754 says for the mode: an infinity or the largest number. Finite formats have
// NaN instead of infinity; see RoundFinite for what saturates. A NaN keeps its
// sign and the upper bits of its payload, and is quiet.
func (f Format) Round(x float64, mode Mode) uint32 {
	b := math.Float64bits(x)
	var sign uint32
	if b>>63 != 0 {
		sign = f.sign()
	}
	exp, man := int(b>>52&0x7ff), b&(1<<52-1)
	switch {
	case exp == 0x7ff && man != 0:
		if f.Finite {
			return sign | f.inf()
		}
		return sign | f.inf() | 1<<(f.Man-1) | uint32(man>>(52-f.Man))
	case exp == 0x7ff:
		return sign | f.inf()
	case exp == 0 && man == 0:
		return sign
	case exp == 0:
		shift := bits.LeadingZeros64(man) - 11
		man, exp = man<<shift, 1-shift
	default:
		man |= 1 << 52
	}
	// man has 53 bits now; drop those that do not fit, more of them for a subnormal.
	drop, e := 52-f.Man, exp-1023+f.bias()
	if e < 1 {
		drop, e = drop+1-e, 1
	}
	if drop > 54 {
		man, drop = 1, 54 // only that something is there counts
	}
	kept, rest, halfway := man>>drop, man&(1<<drop-1), uint64(1)<<(drop-1)
	up := false
	switch mode {
	case NearestEven:
		up = rest > halfway || rest == halfway && kept&1 != 0
	case NearestAway:
		up = rest >= halfway
	case Downward:
		up = rest != 0 && sign != 0
	case Upward:
		up = rest != 0 && sign == 0
	}
	if up {
		kept++
	}
	// The implicit bit, and a carry out of the mantissa, add to the exponent.
	r := uint64(e-1)<<f.Man + kept
	if r < uint64(f.inf()) {
		return sign | uint32(r)
	}
	if mode == TowardZero || mode == Downward && sign == 0 || mode == Upward && sign != 0 {
		return sign | f.Max()
	}
	return sign | f.inf()
}

// RoundFinite converts x as Round does, but what is too large, infinities
// included, becomes the largest number.
func (f Format) RoundFinite(x float64, mode Mode) uint32 {
	r := f.Round(x, mode)
	if x == x && r&^f.sign() >= f.inf() {
		return r&f.sign() | f.Max()
	}
	return r
}

// Value is the number that has the bits b.
func (f Format) Value(b uint32) float64 {
	exp, man := int(b>>f.Man)&(1<<f.Exp-1), uint64(b)&(1<<f.Man-1)
	sign := uint64(b>>(f.Exp+f.Man)&1) << 63
	switch {
	case b&(f.sign()-1) == f.inf() && f.Finite:
		return math.Float64frombits(sign | 0x7ff8<<48)
	case exp == 1<<f.Exp-1 && !f.Finite:
		return math.Float64frombits(sign | 0x7ff<<52 | man<<(52-f.Man))
	case exp == 0:
		v := math.Ldexp(float64(man), 1-f.bias()-f.Man)
		return math.Float64frombits(sign | math.Float64bits(v))
	}
	return math.Float64frombits(sign | uint64(exp-f.bias()+1023)<<52 | man<<(52-f.Man))
}

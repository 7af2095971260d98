// Package half converts between Go's floating-point numbers and the narrow ones
// of GPUs: binary16, bfloat16, TF32 and the two 8-bit formats.
//
// Every conversion is exact or rounded once, in a mode of the caller's choice;
// infinities, the sign of zero and NaN are kept. F16 and BF16 have fast paths for
// rounding to nearest even, which is what tensors need; a Format converts to any
// of the formats in any mode, from a float64, which holds all of them exactly.
package half

import "math"

// F16 is an IEEE 754 binary16 number, by its bits.
type F16 uint16

// BF16 is a bfloat16 number: the upper half of a float32.
type BF16 uint16

// F16FromFloat32 rounds to nearest even. What is too large becomes an infinity;
// a NaN keeps its sign and the upper bits of its payload, and is quiet.
func F16FromFloat32(f float32) F16 {
	b := math.Float32bits(f)
	sign := b >> 16 & 0x8000
	a := b & 0x7fffffff
	switch {
	case a > 0x7f800000:
		return F16(sign | 0x7e00 | a>>13&0x3ff)
	case a >= 0x47800000: // 65536 and up
		return F16(sign | 0x7c00)
	case a < 0x38800000: // below 2^-14: adding 0.5 rounds to the spacing 2^-24
		r := math.Float32frombits(a) + 0.5
		return F16(sign | math.Float32bits(r) - 0x3f000000)
	}
	a += 0xfff + a>>13&1
	return F16(sign | (a-0x38000000)>>13)
}

// F16FromFloat64 rounds to nearest even, once.
func F16FromFloat64(f float64) F16 { return F16(Binary16.Round(f, NearestEven)) }

// Float32 is the number as a float32, which holds it exactly.
func (h F16) Float32() float32 {
	sign := uint32(h&0x8000) << 16
	a := uint32(h & 0x7fff)
	switch {
	case a >= 0x7c00:
		return math.Float32frombits(sign | 0x7f800000 | a<<13&0x7fffff)
	case a < 0x400:
		return math.Float32frombits(sign | math.Float32bits(float32(int32(a))*0x1p-24))
	}
	return math.Float32frombits(sign | a<<13 + 0x38000000)
}

// Float64 is the number as a float64.
func (h F16) Float64() float64 { return Binary16.Value(uint32(h)) }

// IsNaN reports whether the number is not a number.
func (h F16) IsNaN() bool { return h&0x7fff > 0x7c00 }

// BF16FromFloat32 rounds to nearest even. A NaN keeps its sign and the upper bits
// of its payload, and is quiet.
func BF16FromFloat32(f float32) BF16 {
	b := math.Float32bits(f)
	if b&0x7fffffff > 0x7f800000 {
		return BF16(b>>16 | 0x40)
	}
	return BF16((b + 0x7fff + b>>16&1) >> 16)
}

// BF16FromFloat64 rounds to nearest even, once.
func BF16FromFloat64(f float64) BF16 { return BF16(BFloat16.Round(f, NearestEven)) }

// Float32 is the number as a float32, which holds it exactly.
func (h BF16) Float32() float32 { return math.Float32frombits(uint32(h) << 16) }

// Float64 is the number as a float64.
func (h BF16) Float64() float64 { return BFloat16.Value(uint32(h)) }

// IsNaN reports whether the number is not a number.
func (h BF16) IsNaN() bool { return h&0x7fff > 0x7f80 }

package ptx

import (
	"math"
	"strconv"
	"strings"
)

// literal is a number as PTX writes it.
type literal struct {
	bits  uint64
	float bool // bits are an f64's, or with f32 an f32's
	f32   bool
	// unsigned is of a U suffix; it counts in constant expressions.
	unsigned bool
}

// parseNumber reads an integer (decimal, 0x, 0b, octal, U suffix), an exact float
// (0f, 0d) or a decimal one.
func parseNumber(s string) (literal, bool) {
	if len(s) > 2 && s[0] == '0' {
		switch s[1] {
		case 'f', 'F':
			v, err := strconv.ParseUint(s[2:], 16, 32)
			return literal{bits: v, float: true, f32: true}, err == nil && len(s) == 10
		case 'd', 'D':
			v, err := strconv.ParseUint(s[2:], 16, 64)
			return literal{bits: v, float: true}, err == nil && len(s) == 18
		}
	}
	hex := strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X")
	if !hex && strings.ContainsAny(s, ".eE") {
		v, err := strconv.ParseFloat(s, 64)
		return literal{bits: math.Float64bits(v), float: true}, err == nil
	}
	digits := strings.TrimRight(s, "uU")
	v, err := strconv.ParseUint(digits, 0, 64)
	return literal{bits: v, unsigned: len(digits) < len(s)}, err == nil && !strings.Contains(s, "_")
}

// negate is -l.
func (l literal) negate() literal {
	switch {
	case l.f32:
		l.bits ^= 1 << 31
	case l.float:
		l.bits ^= 1 << 63
	default:
		l.bits = -l.bits
	}
	return l
}

// As gives the bits of an immediate operand in a type: integers as they are, cut
// to the width; floats converted to it.
func (o *Operand) As(t Type) uint64 {
	if o.Float {
		v := math.Float64frombits(o.Bits)
		if o.F32 {
			if t == F32 || t == B32 {
				return o.Bits
			}
			v = float64(math.Float32frombits(uint32(o.Bits)))
		}
		switch t {
		case F32, B32, TF32:
			return uint64(math.Float32bits(float32(v)))
		case F64, B64:
			return math.Float64bits(v)
		}
		return o.Bits
	}
	switch t.Bytes() {
	case 1:
		return o.Bits & 0xff
	case 2:
		return o.Bits & 0xffff
	case 4:
		return o.Bits & 0xffffffff
	}
	return o.Bits
}

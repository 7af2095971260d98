package arith

import (
	"fmt"
	"math"

	"github.com/warpbook/warpbook/cuda/half"
	"github.com/warpbook/warpbook/cuda/ptx"
)

// multiplyQuads is Volta's m8n8k4: lanes 4q to 4q+3 and 16 above them multiply
// matrices of their own, for four values of q.
func (t *Tensor) multiplyQuads(d, a, b, c []*Lanes) {
	element := func(regs []*Lanes, lane, i int) float64 {
		return float64(half.F16(regs[i/2][lane] >> (i % 2 * 16)).Float32())
	}
	var out [4][8][8]float64
	for q := range out {
		var x, y [8]operand
		special := false
		lanes := [8]int{4 * q, 4*q + 1, 4*q + 2, 4*q + 3, 4*q + 16, 4*q + 17, 4*q + 18, 4*q + 19}
		for l, lane := range lanes {
			upper := l / 4 * 4
			for i := range 4 {
				row, k := l, i // of A by rows; B by columns is its mirror image
				if t.ByCols {
					row, k = upper+i, l%4
				}
				special = x[row].set(k, element(a, lane, i), -14) || special
				col, k := l, i
				if t.ByRows {
					col, k = upper+i, l%4
				}
				special = y[col].set(k, element(b, lane, i), -14) || special
			}
		}
		low := int32(-126)
		if t.C == ptx.F16 {
			low = -14
		}
		for l, lane := range lanes {
			for i := range 8 {
				row, col := quadPlace(t.C, l, i)
				v := 0.0
				if t.C == ptx.F16 {
					v = element(c, lane, i)
				} else {
					v = float64(f32(c[i][lane]))
				}
				out[q][row][col] = t.dot(&x[row], &y[col], v, low, special)
			}
		}
	}
	for _, reg := range d {
		*reg = Lanes{}
	}
	for lane := range WarpSize {
		q, l := lane/4%4, lane%4+lane/16*4
		for i := range 8 {
			row, col := quadPlace(t.D, l, i)
			v := out[q][row][col]
			if t.D == ptx.F32 {
				d[i][lane] = bits32(float32(v))
				continue
			}
			h := uint64(half.F16FromFloat64(v))
			if v != v {
				h = nan16
			}
			d[i/2][lane] |= h << (i % 2 * 16)
		}
	}
}

// quadPlace is where element i of a lane of a quad, the l-th of eight, lies in C or D.
func quadPlace(t ptx.Type, l, i int) (row, col int) {
	if t == ptx.F16 {
		return l, i
	}
	return l&5 | i&2, i&4 | l&2 | i&1
}

// Fragments is the multiply-add of wmma. Which element lies where is nobody's
// business but the instructions'; here they lie in order, and once more where a
// fragment has more room than its matrix has elements.
type Fragments struct {
	Tensor
}

// NewFragments describes the multiply-add of a shape and types.
func NewFragments(m, n, k int, d, a, b, c ptx.Type, capability [2]int) (*Fragments, error) {
	f := &Fragments{Tensor{M: m, N: n, K: k, D: d, A: a, B: b, C: c, cores: hopper}}
	if capability[0] < 9 {
		f.cores = ampere
	}
	big := func(depth int) bool {
		return k == depth && (m == 16 && n == 16 || m == 32 && n == 8 || m == 8 && n == 32)
	}
	floats := c == ptx.F32 && d == ptx.F32
	ok := false
	switch {
	case a == ptx.F16 && b == a:
		ok = big(16) && (c == ptx.F32 || c == ptx.F16) && (d == ptx.F32 || d == ptx.F16)
	case a == ptx.BF16 && b == a:
		ok = big(16) && floats
	case a == ptx.TF32 && b == a:
		ok = m == 16 && n == 16 && k == 8 && floats
		f.Halved = true
	case a == ptx.F64 && b == a:
		ok = m == 8 && n == 8 && k == 4 && c == ptx.F64 && d == c
	case Width(a) == 8 && !isByte(a) && b == a:
		ok = big(16) && c == ptx.S32 && d == c
	}
	if !ok {
		return nil, fmt.Errorf("wmma m%dn%dk%d of %v, %v, %v and %v is %w", m, n, k, d, a, b, c, ErrUnsupported)
	}
	return f, nil
}

// Slots is where an element of a matrix with the given number of elements lies in
// a fragment: the registers and lanes, and the bit.
func Slots(element, elements, regs int, t ptx.Type, f func(reg, lane, shift int)) {
	per := max(32/Width(t), 1)
	for s := element; s < regs*WarpSize*per; s += elements {
		f(s/per/WarpSize, s/per%WarpSize, s%per*Width(t))
	}
}

// at reads an element of a matrix.
func at(regs []*Lanes, element int, t ptx.Type) uint64 {
	per := max(32/Width(t), 1)
	return regs[element/per/WarpSize][element/per%WarpSize] >> (element % per * Width(t)) & ones(Width(t))
}

// Multiply computes the registers of D.
func (t *Fragments) Multiply(d, a, b, c []*Lanes) {
	for _, reg := range d {
		*reg = Lanes{}
	}
	multiply := t.floats(a, b)
	switch {
	case t.A == ptx.F64:
		multiply = t.doubles(a, b)
	case t.C == ptx.S32:
		multiply = t.integers(a, b)
	}
	for i := range t.M {
		for j := range t.N {
			e := i*t.N + j
			v := multiply(i, j, at(c, e, t.C))
			Slots(e, t.M*t.N, len(d), t.D, func(reg, lane, shift int) { d[reg][lane] |= v << shift })
		}
	}
}

func (t *Fragments) doubles(a, b []*Lanes) func(i, j int, c uint64) uint64 {
	return func(i, j int, c uint64) uint64 {
		s := f64(c)
		for k := range t.K {
			x, y := f64(at(a, i*t.K+k, t.A)), f64(at(b, k*t.N+j, t.B))
			if r := math.FMA(x, y, s); r == r {
				s = r
			} else {
				s = f64(nan64(y, s, x))
			}
		}
		return math.Float64bits(s)
	}
}

func (t *Fragments) integers(a, b []*Lanes) func(i, j int, c uint64) uint64 {
	return func(i, j int, c uint64) uint64 {
		s := int64(int32(c))
		for k := range t.K {
			s += int64(integerOf(t.A, at(a, i*t.K+k, t.A))) * int64(integerOf(t.B, at(b, k*t.N+j, t.B)))
		}
		return t.storeInt(s)
	}
}

func (t *Fragments) floats(a, b []*Lanes) func(i, j int, c uint64) uint64 {
	if t.C == ptx.S32 || t.C == ptx.F64 {
		return nil
	}
	var x, y [32]operand
	special := false
	read, low := t.number(t.A)
	for k := range t.K {
		for i := range t.M {
			special = x[i].set(k, read(at(a, i*t.K+k, t.A)), low) || special
		}
		for j := range t.N {
			special = y[j].set(k, read(at(b, k*t.N+j, t.B)), low) || special
		}
	}
	low = -126
	if t.C == ptx.F16 {
		low = -14
	}
	return func(i, j int, c uint64) uint64 {
		v := t.dot(&x[i], &y[j], loader(t.C, false)(c), low, special)
		switch {
		case t.D == ptx.F32:
			return bits32(float32(v))
		case v != v:
			return nan16
		}
		return uint64(half.F16FromFloat64(v))
	}
}

package arith

import (
	"fmt"
	"math"

	"github.com/warpbook/warpbook/cuda/half"
	"github.com/warpbook/warpbook/cuda/ptx"
)

// Tensor is a multiply-add of matrices as the tensor cores of a warp do it:
// D = A*B + C, where A is M by K, B is K by N, and C and D are M by N.
//
// A lane holds parts of each matrix in registers. In groups of four lanes, group g
// has rows g and g+8 of A and column g of B; the lanes of a group share out the
// columns of A, or the rows of B, four times so many bytes as a register has at a
// time.
type Tensor struct {
	M, N, K    int
	D, A, B, C ptx.Type
	Sat        bool // of integers: stay in range
	Xor        bool // of single bits: count those that differ, not those that are both set
	ByCols     bool // m8n8k4 of binary16: A is given by columns
	ByRows     bool // and B by rows
	Halved     bool // of fewer products at once, as wmma does with TF32
	cores      cores
}

// cores is how a generation of tensor cores adds up products of floats: so many at
// once, with the accumulator, aligned to the largest exponent; what lies more than
// fraction bits below that is cut off.
type cores struct {
	fraction int
	bytes    int // of a row of A that are multiplied at once
}

// The generations, as measured by published experiments and by ours.
var (
	ampere = cores{fraction: 24, bytes: 16}
	hopper = cores{fraction: 25, bytes: 32}
)

// NewTensor describes the multiply-add of a shape and types, for the tensor cores
// of a compute capability.
func NewTensor(m, n, k int, d, a, b, c ptx.Type, capability [2]int) (*Tensor, error) {
	t := &Tensor{M: m, N: n, K: k, D: d, A: a, B: b, C: c, cores: hopper}
	if capability[0] < 9 {
		t.cores = ampere
	}
	shape := [3]int{m, n, k}
	ok := false
	switch {
	case a == ptx.F16 && b == a && shape == [3]int{8, 8, 4}:
		ok = (c == ptx.F32 || c == ptx.F16) && (d == ptx.F32 || d == ptx.F16)
	case a == ptx.F16 && b == a && (c == ptx.F32 || c == ptx.F16) && d == c,
		a == ptx.BF16 && b == a && c == ptx.F32 && d == c:
		ok = shape == [3]int{16, 8, 8} || shape == [3]int{16, 8, 16}
	case a == ptx.TF32 && b == a && c == ptx.F32 && d == c:
		ok = shape == [3]int{16, 8, 4} || shape == [3]int{16, 8, 8}
	case isByte(a) && isByte(b) && (c == ptx.F32 || c == ptx.F16) && d == c:
		ok = shape == [3]int{16, 8, 32} || shape == [3]int{16, 8, 16}
	case a == ptx.F64 && b == a && c == a && d == a:
		ok = shape == [3]int{8, 8, 4} || m == 16 && n == 8 && (k == 4 || k == 8 || k == 16)
	case Width(a) == 8 && Width(b) == 8 && c == ptx.S32 && d == c:
		ok = shape == [3]int{8, 8, 16} || shape == [3]int{16, 8, 16} || shape == [3]int{16, 8, 32}
	case Width(a) == 4 && Width(b) == 4 && c == ptx.S32 && d == c:
		ok = shape == [3]int{8, 8, 32} || shape == [3]int{16, 8, 32} || shape == [3]int{16, 8, 64}
	case a == ptx.B1 && b == a && c == ptx.S32 && d == c:
		ok = shape == [3]int{8, 8, 128} || shape == [3]int{16, 8, 128} || shape == [3]int{16, 8, 256}
	}
	if !ok {
		return nil, fmt.Errorf("a matrix multiply-add m%dn%dk%d of %v, %v, %v and %v is %w", m, n, k, d, a, b, c, ErrUnsupported)
	}
	return t, nil
}

func isByte(t ptx.Type) bool { return t == ptx.E4M3 || t == ptx.E5M2 }

// Registers is how many registers of a lane each matrix takes.
func (t *Tensor) Registers() (d, a, b, c int) {
	of := func(elements int, typ ptx.Type) int {
		return elements * Width(typ) / max(32, Width(typ)) / WarpSize
	}
	if t.quads() {
		return 4 * of(t.M*t.N, t.D), 2, 2, 4 * of(t.M*t.N, t.C)
	}
	return of(t.M*t.N, t.D), of(t.M*t.K, t.A), of(t.K*t.N, t.B), of(t.M*t.N, t.C)
}

// quads reports whether the shape is Volta's: four multiply-adds at once.
func (t *Tensor) quads() bool { return t.A == ptx.F16 && t.M == 8 && t.K == 4 }

// The most rows, columns and products of a sum.
const (
	maxM = 16
	maxN = 8
	maxK = 32
)

// Multiply computes the registers of D.
func (t *Tensor) Multiply(d, a, b, c []*Lanes) {
	switch {
	case t.quads():
		t.multiplyQuads(d, a, b, c)
	case t.A == ptx.F64:
		t.multiplyF64(d, a, b, c)
	case t.C == ptx.S32:
		t.multiplyInt(d, a, b, c)
	default:
		t.multiplyFloat(d, a, b, c)
	}
}

// each calls f for the parts of a register of A or B: the row of A or the column of
// B that it belongs to, the index in the sum, and its bits. Tall is for A.
func each(regs []*Lanes, width int, tall bool, f func(row, k int, v uint64)) {
	per := max(32/width, 1)
	for r, reg := range regs {
		row, k := 0, 4*per*r
		if tall {
			row, k = 8*(r&1), 4*per*(r>>1)
		}
		for lane, v := range reg {
			for e := range per {
				f(row+lane>>2, k+lane&3*per+e, v>>(e*width)&ones(width))
			}
		}
	}
}

// eachOut calls f for the elements of C or D.
func eachOut(regs []*Lanes, width int, f func(reg *Lanes, lane, shift, row, col int)) {
	per := max(32/width, 1)
	for r, reg := range regs {
		for lane := range reg {
			for e := range per {
				i := r*per + e
				f(reg, lane, e*width, lane>>2+8*(i>>1), lane&3*2+i&1)
			}
		}
	}
}

// multiplyF64 adds product after product, each with one rounding.
func (t *Tensor) multiplyF64(d, a, b, c []*Lanes) {
	var x [maxM][16]float64
	var y [maxN][16]float64
	var z [maxM][maxN]float64
	each(a, 64, t.M == 16, func(row, k int, v uint64) { x[row][k] = f64(v) })
	each(b, 64, false, func(col, k int, v uint64) { y[col][k] = f64(v) })
	eachOut(c, 64, func(reg *Lanes, lane, _, row, col int) { z[row][col] = f64(reg[lane]) })
	for i := range t.M {
		for j := range t.N {
			for k := range t.K {
				s := math.FMA(x[i][k], y[j][k], z[i][j])
				if s != s {
					s = f64(nan64(y[j][k], z[i][j], x[i][k]))
				}
				z[i][j] = s
			}
		}
	}
	eachOut(d, 64, func(reg *Lanes, lane, _, row, col int) { reg[lane] = math.Float64bits(z[row][col]) })
}

// multiplyInt is for bytes, half bytes and single bits.
func (t *Tensor) multiplyInt(d, a, b, c []*Lanes) {
	var x [maxM][256]int16
	var y [maxN][256]int16
	var z [maxM][maxN]int64
	w := Width(t.A)
	each(a, w, t.M == 16, func(row, k int, v uint64) { x[row][k] = integerOf(t.A, v) })
	each(b, w, false, func(col, k int, v uint64) { y[col][k] = integerOf(t.B, v) })
	eachOut(c, 32, func(reg *Lanes, lane, _, row, col int) { z[row][col] = int64(int32(reg[lane])) })
	for i := range t.M {
		for j := range t.N {
			row, col := x[i][:t.K], y[j][:t.K]
			z[i][j] += t.sumInt(row, col)
		}
	}
	eachOut(d, 32, func(reg *Lanes, lane, _, row, col int) { reg[lane] = t.storeInt(z[row][col]) })
}

func integerOf(typ ptx.Type, v uint64) int16 {
	switch typ {
	case ptx.S8:
		return int16(int8(v))
	case ptx.S4:
		return int16(signExtend(v, 4))
	}
	return int16(v)
}

func (t *Tensor) sumInt(row, col []int16) int64 {
	s := int32(0)
	for k := range row {
		if t.Xor {
			s += int32(row[k] ^ col[k])
		} else {
			s += int32(row[k]) * int32(col[k])
		}
	}
	return int64(s)
}

func (t *Tensor) storeInt(v int64) uint64 {
	if t.Sat {
		return clampS32(v)
	}
	return uint64(uint32(v))
}

// operand is a row of A or a column of B: the numbers, and their exponents. The
// exponent of a subnormal number is the smallest; zeros are below all others.
type operand struct {
	v   [maxK]float64
	exp [maxK]int32
}

const noExponent = -2000

// set stores a number whose format's normal numbers begin at 2**low.
func (o *operand) set(k int, v float64, low int32) (special bool) {
	o.v[k] = v
	e := int32(math.Float64bits(v)>>52&0x7ff) - 1023
	if v == 0 {
		e = noExponent
	} else if e < low {
		e = low
	}
	o.exp[k] = e
	return e == 1024
}

// number reads an element of A or B, and says where its format's normal numbers begin.
func (t *Tensor) number(typ ptx.Type) (read func(uint64) float64, low int32) {
	switch typ {
	case ptx.F16:
		return func(v uint64) float64 { return float64(half.F16(v).Float32()) }, -14
	case ptx.BF16:
		return func(v uint64) float64 { return float64(half.BF16(v).Float32()) }, -126
	case ptx.TF32:
		return func(v uint64) float64 { return float64(f32(v &^ 0x1fff)) }, -126
	case ptx.E4M3:
		return func(v uint64) float64 { return half.E4M3.Value(uint32(v)) }, -14
	}
	return func(v uint64) float64 { return half.E5M2.Value(uint32(v)) }, -14
}

func (t *Tensor) multiplyFloat(d, a, b, c []*Lanes) {
	var x [maxM]operand
	var y [maxN]operand
	var z [maxM][maxN]float64
	special := false
	t.read(&x, &y, a, b, &special)
	low := int32(-126)
	if t.C == ptx.F16 {
		low = -14
		eachOut(c, 16, func(reg *Lanes, lane, shift, row, col int) {
			z[row][col] = float64(half.F16(reg[lane] >> shift).Float32())
		})
	} else {
		eachOut(c, 32, func(reg *Lanes, lane, _, row, col int) { z[row][col] = float64(f32(reg[lane])) })
	}
	for i := range t.M {
		for j := range t.N {
			z[i][j] = t.dot(&x[i], &y[j], z[i][j], low, special)
		}
	}
	if t.D == ptx.F16 {
		eachOut(d, 16, func(reg *Lanes, lane, shift, row, col int) {
			v := uint64(half.F16FromFloat32(float32(z[row][col])))
			if v&0x7fff > 0x7c00 {
				v = nan16
			}
			if shift == 0 {
				reg[lane] = v
			} else {
				reg[lane] |= v << shift
			}
		})
		return
	}
	eachOut(d, 32, func(reg *Lanes, lane, _, row, col int) { reg[lane] = bits32(float32(z[row][col])) })
}

// step is how many products are added at once. Bytes are multiplied as binary16.
func (t *Tensor) step() int {
	n := t.cores.bytes * 8 / max(Width(t.A), 16)
	if t.Halved {
		n /= 2
	}
	return n
}

// dot adds the products of a row and a column to c. Special says that there may be
// infinities or NaN.
func (t *Tensor) dot(x, y *operand, c float64, low int32, special bool) float64 {
	if t.quads() || isByte(t.A) {
		return t.emulated(x, y, c, special)
	}
	n := t.step()
	if n == 16 && t.K == 16 && !special && c-c == 0 {
		return t.round(t.cores.sum16(x, y, c, low))
	}
	for k := 0; k < t.K; k += n {
		to := min(k+n, t.K)
		if special || c-c != 0 {
			if s := sumSpecial(x.v[k:to], y.v[k:to], c); s-s != 0 {
				c = s
				continue
			}
		}
		c = t.round(t.cores.sum(x.v[k:to], x.exp[k:], y.v[k:], y.exp[k:], c, low))
	}
	return c
}

// emulated is dot for shapes that Hopper has no instruction for. Numbers of eight
// bits become binary16; in Volta's shape product is added to product by fma. Both
// start from zero, and c comes last.
func (t *Tensor) emulated(x, y *operand, c float64, special bool) float64 {
	if special || c-c != 0 {
		if s := sumSpecial(x.v[:t.K], y.v[:t.K], c); s-s != 0 {
			return s
		}
	}
	s := 0.0
	if t.quads() && t.D == ptx.F16 { // two products after the other two
		for k := 0; k < t.K; k += 2 {
			p := float64(sum32(x.v[k+1]*y.v[k+1], 0, half.NearestEven))
			p = float64(sum32(x.v[k]*y.v[k], p, half.NearestEven))
			c = float64(sum32(c, p, half.NearestEven))
		}
		return c
	}
	if t.quads() {
		for k := range t.K {
			s = float64(sum32(x.v[k]*y.v[k], s, half.NearestEven))
		}
	} else {
		for k := 0; k < t.K; k += 16 {
			s = t.round(t.cores.sum(x.v[k:k+16], x.exp[k:], y.v[k:], y.exp[k:], s, -126))
		}
	}
	return float64(sum32(c, s, half.NearestEven))
}

// read decodes A and B. Binary16, which is most common, has a loop of its own.
func (t *Tensor) read(x *[maxM]operand, y *[maxN]operand, a, b []*Lanes, special *bool) {
	if t.A == ptx.F16 {
		var s bool
		for r, reg := range a {
			row, k := 8*(r&1), 8*(r>>1)
			for lane, v := range reg {
				o, at := &x[(row+lane>>2)&15], (k+lane&3*2)&30
				s = o.set(at, float64(half.F16(v).Float32()), -14) || s
				s = o.set(at+1, float64(half.F16(v>>16).Float32()), -14) || s
			}
		}
		for r, reg := range b {
			for lane, v := range reg {
				o, at := &y[lane>>2], (8*r+lane&3*2)&30
				s = o.set(at, float64(half.F16(v).Float32()), -14) || s
				s = o.set(at+1, float64(half.F16(v>>16).Float32()), -14) || s
			}
		}
		*special = s
		return
	}
	number, low := t.number(t.A)
	place := func(k int) int { return k }
	if isByte(t.A) && t.K == 32 { // in two steps: the even pairs of bytes first, and then the odd ones
		place = func(k int) int { return k&1 | k>>2<<1 | k&2<<3 }
	}
	each(a, Width(t.A), true, func(row, k int, v uint64) {
		*special = x[row].set(place(k), number(v), low) || *special
	})
	number, low = t.number(t.B)
	each(b, Width(t.B), false, func(col, k int, v uint64) {
		*special = y[col].set(place(k), number(v), low) || *special
	})
}

// sumSpecial is the sum where infinities or NaN take part; a finite result means
// that this one has none.
func sumSpecial(x, y []float64, s float64) float64 {
	for k := range x {
		p := x[k] * y[k]
		if p-p != 0 || s-s != 0 {
			s += p
		}
	}
	return s
}

// exponent is that of an accumulator whose normal numbers begin at 2**low.
func exponent(c float64, low int32) int32 {
	if c == 0 {
		return noExponent
	}
	return max(int32(math.Float64bits(c)>>52&0x7ff)-1023, low)
}

// sum16 adds 16 products to c: each is exact, and cut off below the last bit that
// the largest exponent of all leaves room for. It is where matrices spend their
// time, hence four at a time.
func (g cores) sum16(x, y *operand, c float64, low int32) float64 {
	m0, m1 := max(exponent(c, low), -126), int32(noExponent)
	m2, m3 := m1, m1
	for k := 0; k < 16; k += 4 {
		xe, ye := (*[4]int32)(x.exp[k:]), (*[4]int32)(y.exp[k:])
		m0 = max(m0, xe[0]+ye[0])
		m1 = max(m1, xe[1]+ye[1])
		m2 = max(m2, xe[2]+ye[2])
		m3 = max(m3, xe[3]+ye[3])
	}
	m := int(max(m0, m1, m2, m3))
	scale := math.Float64frombits(uint64(1023+g.fraction-m) << 52)
	s := int64(c * scale)
	for k := 0; k < 16; k += 4 {
		xv, yv := (*[4]float64)(x.v[k:]), (*[4]float64)(y.v[k:])
		p0, p1 := int64(xv[0]*yv[0]*scale), int64(xv[1]*yv[1]*scale)
		p2, p3 := int64(xv[2]*yv[2]*scale), int64(xv[3]*yv[3]*scale)
		s += p0 + p1 + (p2 + p3)
	}
	return float64(s) * math.Float64frombits(uint64(1023-g.fraction+m)<<52)
}

// sum is sum16 for other numbers of products.
func (g cores) sum(xv []float64, xe []int32, yv []float64, ye []int32, c float64, low int32) float64 {
	m := max(exponent(c, low), -126)
	for k := range xv {
		m = max(m, xe[k]+ye[k])
	}
	scale := math.Float64frombits(uint64(1023+g.fraction-int(m)) << 52)
	s := int64(c * scale)
	for k := range xv {
		s += int64(float64(xv[k]*yv[k]) * scale)
	}
	return float64(s) * math.Float64frombits(uint64(1023-g.fraction+int(m))<<52)
}

// round brings a sum to the format of the result: toward zero for float32, to
// nearest for binary16.
func (t *Tensor) round(s float64) float64 {
	if t.D == ptx.F16 {
		return half.F16FromFloat64(s).Float64()
	}
	switch m := math.Abs(s); {
	case m >= 0x1p128:
		return math.Inf(int(math.Copysign(1, s)))
	case m >= 0x1p-126:
		return math.Float64frombits(math.Float64bits(s) &^ 0x1fffffff)
	}
	return math.Trunc(s*0x1p149) * 0x1p-149
}

package arith

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/warpbook/warpbook/cuda/half"
	"github.com/warpbook/warpbook/cuda/ptx"
)

var tensors = []struct {
	m, n, k    int
	d, a, b, c ptx.Type
}{
	{16, 8, 8, ptx.F32, ptx.F16, ptx.F16, ptx.F32},
	{16, 8, 16, ptx.F32, ptx.F16, ptx.F16, ptx.F32},
	{16, 8, 16, ptx.F16, ptx.F16, ptx.F16, ptx.F16},
	{16, 8, 8, ptx.F32, ptx.BF16, ptx.BF16, ptx.F32},
	{16, 8, 16, ptx.F32, ptx.BF16, ptx.BF16, ptx.F32},
	{16, 8, 4, ptx.F32, ptx.TF32, ptx.TF32, ptx.F32},
	{16, 8, 8, ptx.F32, ptx.TF32, ptx.TF32, ptx.F32},
	{16, 8, 32, ptx.F32, ptx.E4M3, ptx.E5M2, ptx.F32},
	{16, 8, 16, ptx.F32, ptx.E4M3, ptx.E4M3, ptx.F32},
	{8, 8, 4, ptx.F64, ptx.F64, ptx.F64, ptx.F64},
	{16, 8, 16, ptx.F64, ptx.F64, ptx.F64, ptx.F64},
	{8, 8, 16, ptx.S32, ptx.S8, ptx.U8, ptx.S32},
	{16, 8, 16, ptx.S32, ptx.S8, ptx.S8, ptx.S32},
	{16, 8, 32, ptx.S32, ptx.U8, ptx.S8, ptx.S32},
	{8, 8, 32, ptx.S32, ptx.S4, ptx.U4, ptx.S32},
	{16, 8, 32, ptx.S32, ptx.S4, ptx.S4, ptx.S32},
	{16, 8, 64, ptx.S32, ptx.U4, ptx.S4, ptx.S32},
	{8, 8, 128, ptx.S32, ptx.B1, ptx.B1, ptx.S32},
	{16, 8, 128, ptx.S32, ptx.B1, ptx.B1, ptx.S32},
	{16, 8, 256, ptx.S32, ptx.B1, ptx.B1, ptx.S32},
}

// place says where element (row, col) of a matrix lies: the register, the lane, and
// the bit. It is written down from the manual's pictures, not from the code.
func placeA(t *Tensor, row, k int) (reg, lane, shift int) {
	w := Width(t.A)
	per := max(32/w, 1)
	chunk, in := k/(4*per), k%(4*per)
	reg = chunk
	if t.M == 16 {
		reg = 2*chunk + row/8
	}
	return reg, row%8*4 + in/per, in % per * w
}

func placeB(t *Tensor, k, col int) (reg, lane, shift int) {
	w := Width(t.B)
	per := max(32/w, 1)
	return k / (4 * per), col*4 + k%(4*per)/per, k % per * w
}

func placeC(w, row, col int) (reg, lane, shift int) {
	i := row/8*2 + col%2
	if w == 16 {
		return i / 2, row%8*4 + col/2, i % 2 * 16
	}
	return i, row%8*4 + col/2, 0
}

type matrices struct {
	a, b, c [][]uint64
}

// multiply spreads the matrices over registers, multiplies, and collects D.
func multiply(t *Tensor, x matrices) [][]uint64 {
	nd, na, nb, nc := t.Registers()
	regs := func(n int) []*Lanes {
		r := make([]*Lanes, n)
		for i := range r {
			r[i] = new(Lanes)
		}
		return r
	}
	d, a, b, c := regs(nd), regs(na), regs(nb), regs(nc)
	for i := range t.M {
		for k := range t.K {
			r, l, s := placeA(t, i, k)
			a[r][l] |= x.a[i][k] << s
		}
		for j := range t.N {
			r, l, s := placeC(Width(t.C), i, j)
			c[r][l] |= x.c[i][j] << s
		}
	}
	for k := range t.K {
		for j := range t.N {
			r, l, s := placeB(t, k, j)
			b[r][l] |= x.b[k][j] << s
		}
	}
	t.Multiply(d, a, b, c)
	out := make([][]uint64, t.M)
	for i := range out {
		for j := range t.N {
			r, l, s := placeC(Width(t.D), i, j)
			out[i] = append(out[i], d[r][l]>>s&ones(Width(t.D)))
		}
	}
	return out
}

func encode(t ptx.Type, v float64) uint64 {
	switch t {
	case ptx.F16:
		return uint64(half.F16FromFloat64(v))
	case ptx.BF16:
		return uint64(half.BF16FromFloat64(v))
	case ptx.F32, ptx.TF32:
		return uint64(math.Float32bits(float32(v)))
	case ptx.F64:
		return math.Float64bits(v)
	case ptx.E4M3:
		return uint64(half.E4M3.Round(v, half.NearestEven))
	case ptx.E5M2:
		return uint64(half.E5M2.Round(v, half.NearestEven))
	}
	return uint64(int64(v)) & ones(Width(t))
}

func decode(t ptx.Type, v uint64) float64 {
	switch t {
	case ptx.E4M3:
		return half.E4M3.Value(uint32(v))
	case ptx.E5M2:
		return half.E5M2.Value(uint32(v))
	case ptx.U8, ptx.U4, ptx.B1:
		return float64(v)
	case ptx.S8, ptx.S4, ptx.S32:
		return float64(signExtend(v, Width(t)))
	case ptx.TF32:
		return float64(f32(v &^ 0x1fff))
	}
	return loader(t, false)(v)
}

func matrix(rows, cols int, t ptx.Type, f func() float64) [][]uint64 {
	m := make([][]uint64, rows)
	for i := range m {
		for range cols {
			m[i] = append(m[i], encode(t, f()))
		}
	}
	return m
}

// Small whole numbers have exact products and sums: every element has to be right.
func TestTensorLayouts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for _, c := range tensors {
		for _, capability := range [][2]int{{8, 0}, {9, 0}} {
			x, err := NewTensor(c.m, c.n, c.k, c.d, c.a, c.b, c.c, capability)
			if err != nil {
				t.Fatal(err)
			}
			small := func() float64 { return float64(rng.IntN(8)) }
			in := matrices{matrix(c.m, c.k, c.a, small), matrix(c.k, c.n, c.b, small), matrix(c.m, c.n, c.c, small)}
			out := multiply(x, in)
			for i := range c.m {
				for j := range c.n {
					want := decode(c.c, in.c[i][j])
					for k := range c.k {
						want += decode(c.a, in.a[i][k]) * decode(c.b, in.b[k][j])
					}
					if got := decode(c.d, out[i][j]); got != want {
						t.Fatalf("%+v: D[%d,%d] is %v, want %v", c, i, j, got, want)
					}
				}
			}
		}
	}
}

// slowSum adds up as the tensor cores do, with big numbers.
func slowSum(g cores, a, b []float64, c float64, low, lowC int) *big.Float {
	exponentOf := func(v float64, low int) int {
		if v == 0 {
			return -100000
		}
		return max(math.Ilogb(v), low)
	}
	m := max(exponentOf(c, lowC), -126)
	for k := range a {
		if a[k] != 0 && b[k] != 0 {
			m = max(m, exponentOf(a[k], low)+exponentOf(b[k], low))
		}
	}
	cut := func(v *big.Float) *big.Float {
		i, _ := new(big.Float).SetMantExp(v, g.fraction-m).Int(nil)
		return new(big.Float).SetPrec(500).SetMantExp(new(big.Float).SetInt(i), m-g.fraction)
	}
	s := cut(exact(c))
	for k := range a {
		p := exact(a[k])
		s.Add(s, cut(p.Mul(p, exact(b[k]))))
	}
	return s
}

func TestTensorRounding(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	low := map[ptx.Type]int{ptx.F16: -14, ptx.BF16: -126, ptx.TF32: -126, ptx.F32: -126}
	for _, c := range tensors {
		if low[c.a] == 0 || c.a != c.b {
			continue
		}
		for _, capability := range [][2]int{{8, 0}, {9, 0}} {
			x, _ := NewTensor(c.m, c.n, c.k, c.d, c.a, c.b, c.c, capability)
			for spread := range 12 {
				f := func() float64 {
					if rng.IntN(10) == 0 {
						return 0
					}
					return math.Ldexp(rng.NormFloat64(), rng.IntN(3*spread+1)-2*spread)
				}
				in := matrices{matrix(c.m, c.k, c.a, f), matrix(c.k, c.n, c.b, f), matrix(c.m, c.n, c.c, f)}
				out := multiply(x, in)
				for i := range c.m {
					for j := range c.n {
						s := decode(c.c, in.c[i][j])
						for k0 := 0; k0 < c.k; k0 += x.step() {
							var av, bv []float64
							for k := k0; k < min(c.k, k0+x.step()); k++ {
								av = append(av, decode(c.a, in.a[i][k]))
								bv = append(bv, decode(c.b, in.b[k][j]))
							}
							if math.IsInf(s, 0) {
								break
							}
							v, _ := slowSum(x.cores, av, bv, s, low[c.a], low[c.c]).Float64()
							if c.d == ptx.F16 {
								s = half.F16FromFloat64(v).Float64()
							} else {
								s = half.Binary32.Value(half.Binary32.Round(v, half.TowardZero))
							}
						}
						if got := decode(c.d, out[i][j]); got != s {
							t.Fatalf("%+v on %v: D[%d,%d] is %v, want %v", c, capability, i, j, got, s)
						}
					}
				}
			}
		}
	}
}

func TestTensorSpecials(t *testing.T) {
	x, err := NewTensor(16, 8, 16, ptx.F32, ptx.F16, ptx.F16, ptx.F32, [2]int{9, 0})
	if err != nil {
		t.Fatal(err)
	}
	one := func() float64 { return 1 }
	in := matrices{matrix(16, 16, ptx.F16, one), matrix(16, 8, ptx.F16, one), matrix(16, 8, ptx.F32, one)}
	in.a[0][3] = 0x7c00 // infinity
	in.a[1][0], in.a[1][1] = 0x7c00, 0xfc00
	in.a[2][5] = 0x7e00
	in.b[3][2] = 0
	out := multiply(x, in)
	for _, c := range []struct {
		row, col int
		want     uint64
	}{
		{0, 0, 0x7f800000}, {0, 2, 0x7fffffff}, {1, 0, 0x7fffffff}, {2, 7, 0x7fffffff}, {3, 0, 0x41880000}, {3, 2, 0x41800000},
	} {
		if got := out[c.row][c.col]; got != c.want {
			t.Errorf("D[%d,%d] is %#x, want %#x", c.row, c.col, got, c.want)
		}
	}
}

// A term that is 2^-25 of the largest still counts on Hopper, half of that does not.
func TestTensorCutsOff(t *testing.T) {
	x, _ := NewTensor(16, 8, 16, ptx.F32, ptx.F16, ptx.F16, ptx.F32, [2]int{9, 0})
	sum := func(tiny float64, n int) float64 {
		in := matrices{matrix(16, 16, ptx.F16, func() float64 { return 0 }), matrix(16, 8, ptx.F16, func() float64 { return 1 }),
			matrix(16, 8, ptx.F32, func() float64 { return -1 })}
		in.a[0][0] = encode(ptx.F16, 1)
		for k := range n {
			in.a[0][k+1], in.b[k+1][0] = encode(ptx.F16, tiny*0x1p10), encode(ptx.F16, 0x1p-10)
		}
		return decode(ptx.F32, multiply(x, in)[0][0])
	}
	if got := sum(0x1p-25, 4); got != 0x1p-23 {
		t.Errorf("four times 2^-25 give %v", got)
	}
	if got := sum(0x1p-26, 8); got != 0 {
		t.Errorf("eight times 2^-26 give %v", got)
	}
}

func BenchmarkTensor(b *testing.B) {
	for _, c := range tensors {
		x, err := NewTensor(c.m, c.n, c.k, c.d, c.a, c.b, c.c, [2]int{9, 0})
		if err != nil {
			b.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(4, 5))
		nd, na, nb, nc := x.Registers()
		fill := func(n int, t ptx.Type) (r []*Lanes) {
			for range n {
				l := new(Lanes)
				for i := range l {
					for s := 0; s < max(32, Width(t)); s += Width(t) {
						l[i] |= encode(t, float64(rng.IntN(100))/8) << s
					}
				}
				r = append(r, l)
			}
			return r
		}
		d, a, bb, cc := fill(nd, c.d), fill(na, c.a), fill(nb, c.b), fill(nc, c.c)
		b.Run(fmt.Sprintf("m%dn%dk%d.%v.%v", c.m, c.n, c.k, c.d, c.a), func(b *testing.B) {
			for b.Loop() {
				x.Multiply(d, a, bb, cc)
			}
			b.ReportMetric(float64(c.m*c.n*c.k)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mmad/s")
		})
	}
}

package arith

import (
	"math/rand/v2"
	"testing"

	"github.com/warpbook/warpbook/cuda/ptx"
)

// registersFor makes n registers.
func registersFor(n int) []*Lanes {
	r := make([]*Lanes, n)
	for i := range r {
		r[i] = new(Lanes)
	}
	return r
}

func TestFragments(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 7))
	for _, c := range []struct {
		m, n, k        int
		d, a, c        ptx.Type
		rd, ra, rb, rc int // registers, as the manual has them
	}{
		{16, 16, 16, ptx.F32, ptx.F16, ptx.F32, 8, 8, 8, 8},
		{16, 16, 16, ptx.F16, ptx.F16, ptx.F16, 4, 8, 8, 4},
		{32, 8, 16, ptx.F32, ptx.F16, ptx.F16, 8, 8, 8, 4},
		{8, 32, 16, ptx.F32, ptx.BF16, ptx.F32, 8, 2, 8, 8},
		{16, 16, 8, ptx.F32, ptx.TF32, ptx.F32, 8, 4, 4, 8},
		{16, 16, 16, ptx.S32, ptx.S8, ptx.S32, 8, 2, 2, 8},
		{8, 8, 4, ptx.F64, ptx.F64, ptx.F64, 2, 1, 1, 2},
	} {
		f, err := NewFragments(c.m, c.n, c.k, c.d, c.a, c.a, c.c, [2]int{9, 0})
		if err != nil {
			t.Fatal(err)
		}
		d, a, b, z := registersFor(c.rd), registersFor(c.ra), registersFor(c.rb), registersFor(c.rc)
		fill := func(regs []*Lanes, n int, typ ptx.Type) []float64 {
			v := make([]float64, n)
			for i := range v {
				v[i] = float64(rng.IntN(6))
				Slots(i, n, len(regs), typ, func(reg, lane, shift int) { regs[reg][lane] |= encode(typ, v[i]) << shift })
			}
			return v
		}
		av, bv, cv := fill(a, c.m*c.k, c.a), fill(b, c.k*c.n, c.a), fill(z, c.m*c.n, c.c)
		f.Multiply(d, a, b, z)
		for i := range c.m {
			for j := range c.n {
				want := cv[i*c.n+j]
				for k := range c.k {
					want += av[i*c.k+k] * bv[k*c.n+j]
				}
				Slots(i*c.n+j, c.m*c.n, len(d), c.d, func(reg, lane, shift int) {
					if got := decode(c.d, d[reg][lane]>>shift&ones(Width(c.d))); got != want {
						t.Fatalf("%+v: D[%d,%d] is %v, want %v", c, i, j, got, want)
					}
				})
			}
		}
	}
}

// Volta's layouts, as the manual's tables give them for each lane.
func TestQuads(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	for _, byCols := range []bool{false, true} {
		for _, byRows := range []bool{false, true} {
			for _, typ := range []ptx.Type{ptx.F32, ptx.F16} {
				x, err := NewTensor(8, 8, 4, typ, ptx.F16, ptx.F16, typ, [2]int{9, 0})
				if err != nil {
					t.Fatal(err)
				}
				x.ByCols, x.ByRows = byCols, byRows
				nd, na, nb, nc := x.Registers()
				d, a, b, c := registersFor(nd), registersFor(na), registersFor(nb), registersFor(nc)
				var av [4][8][4]float64
				var bv [4][4][8]float64
				for q := range 4 {
					for i := range 8 {
						for k := range 4 {
							av[q][i][k], bv[q][k][i] = float64(rng.IntN(7)), float64(rng.IntN(7))
						}
					}
				}
				for lane := range WarpSize {
					q, upper := lane%16/4, lane/16*4
					for i := range 4 {
						v := av[q][lane%4+upper][i]
						if byCols {
							v = av[q][i+upper][lane%4]
						}
						a[i/2][lane] |= encode(ptx.F16, v) << (i % 2 * 16)
						v = bv[q][i][lane%4+upper]
						if byRows {
							v = bv[q][lane%4][i+upper]
						}
						b[i/2][lane] |= encode(ptx.F16, v) << (i % 2 * 16)
					}
				}
				x.Multiply(d, a, b, c)
				for lane := range WarpSize {
					q, upper := lane%16/4, lane/16*4
					for i := range 8 {
						row, col := lane%4+upper, i
						if typ == ptx.F32 {
							row, col = lane&1+i&2+upper, i&4+lane&2+i&1
						}
						want := 0.0
						for k := range 4 {
							want += av[q][row][k] * bv[q][k][col]
						}
						got := decode(ptx.F32, d[i%nd][lane])
						if typ == ptx.F16 {
							got = decode(typ, d[i/2][lane]>>(i%2*16)&0xffff)
						}
						if got != want {
							t.Fatalf("by columns %v, by rows %v, %v: lane %d element %d is %v, want %v", byCols, byRows, typ, lane, i, got, want)
						}
					}
				}
			}
		}
	}
}

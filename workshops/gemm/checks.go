package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/warpbook/warpbook/cuda"
	"github.com/warpbook/warpbook/workshops"
	"github.com/warpbook/warpbook/workshops/trial"
)

const (
	property = "c is relu(a*b + bias), accumulated in f32 and rounded once"
	function = "MatmulBiasReLU"
)

func options(group, tile int) trial.Options { return trial.Options{"GroupM": group, "TileM": tile} }

// Product is relu(A*B + bias) for A[m,k] and B[k,n], in float64.
func Product(a, b, bias []float64, m, n, k int) []float64 {
	c := make([]float64, m*n)
	for i := range m {
		row := c[i*n : (i+1)*n]
		copy(row, bias)
		for l := range k {
			v := a[i*k+l]
			for j, w := range b[l*n : (l+1)*n] {
				row[j] += v * w
			}
		}
		for j := range row {
			row[j] = max(row[j], 0)
		}
	}
	return c
}

func tolerance(d cuda.DType) trial.Tolerance {
	if d == cuda.BF16 {
		return trial.Tolerance{Abs: 0.06, Rel: 0.02}
	}
	return trial.Tolerance{Abs: 0.015, Rel: 0.02}
}

// verify calls the product and compares. ReLU leaves nothing below 0, and no -0, which a
// ReLU of something rounded could.
func verify(t *trial.T, f trial.Function, a, b, bias *trial.Input, o trial.Options, within trial.Tolerance) {
	m, k, n := a.Shape()[0], a.Shape()[1], b.Shape()[1]
	c := t.Call(function, trial.Want{DType: a.DType(), Shape: []int{m, n}}, func() (*cuda.Tensor, error) { return f(trial.Tensors(a, b, bias), o) })
	t.Near(property, c, Product(a.Values, b.Values, bias.Values, m, n, k), within)
	for i, v := range c.Values {
		if math.Signbit(v) {
			t.Fail(&workshops.Failure{Property: "ReLU comes before the rounding and leaves no -0", Index: []int{i / n, i % n}, Expected: 0.0, Actual: v})
		}
	}
}

func draw(t *trial.T, d cuda.DType, m, n, k int) (a, b, bias *trial.Input) {
	return t.Normal("a", d, m, k), t.Normal("b", d, k, n), t.Normal("bias", d, n)
}

// twice is up to which number of products a check calls a second time, with other values.
const twice = 1 << 17

func values(t *trial.T, f trial.Function, m, n, k int, d cuda.DType, o trial.Options) {
	for range 2 {
		a, b, bias := draw(t, d, m, n, k)
		verify(t, f, a, b, bias, o, tolerance(d))
		if m*n == 0 || m*n*k > twice {
			return
		}
	}
}

func checks() []workshops.NamedCheck {
	var list []workshops.NamedCheck
	add := func(name string, run func(*trial.T, trial.Function)) {
		list = append(list, trial.Check(name, function, run))
	}
	for _, s := range [][3]int{{0, 7, 3}, {3, 0, 7}, {3, 5, 0}, {1, 1, 1}, {33, 65, 17}, {257, 65, 33}} {
		for _, d := range []cuda.DType{cuda.F16, cuda.BF16} {
			add(fmt.Sprintf("values M,N,K = %d,%d,%d %v", s[0], s[1], s[2], d), func(t *trial.T, f trial.Function) {
				values(t, f, s[0], s[1], s[2], d, options(4, 32))
			})
		}
	}
	for _, group := range []int{1, 4, 8} {
		for _, tile := range []int{16, 32, 64} {
			add(fmt.Sprintf("group %d, tile %d with an incomplete last group", group, tile), func(t *trial.T, f trial.Function) {
				values(t, f, 257, 65, 33, cuda.F16, options(group, tile))
			})
		}
	}
	add("f32 accumulation and one rounding", oneRounding)
	add("K = 1024", func(t *trial.T, f trial.Function) {
		a, b, bias := draw(t, cuda.F16, 33, 65, 1024)
		verify(t, f, a, b, bias, options(4, 32), trial.Tolerance{Abs: 0.015, Rel: 0.003})
	})
	add("reject f32", func(t *trial.T, f trial.Function) {
		a, b, bias := draw(t, cuda.F32, 3, 5, 4)
		t.Rejects("tensors of f32", func() (*cuda.Tensor, error) { return f(trial.Tensors(a, b, bias), options(4, 32)) })
	})
	add("reject bias length", func(t *trial.T, f trial.Function) {
		a, b, _ := draw(t, cuda.F16, 3, 5, 4)
		bias := t.Normal("bias", cuda.F16, 4)
		t.Rejects("a bias of another length (4 for N = 5)", func() (*cuda.Tensor, error) { return f(trial.Tensors(a, b, bias), options(4, 32)) })
	})
	list = append(list, trial.Stream(function, func(t *trial.T, f trial.Function) { values(t, f, 33, 65, 17, cuda.F16, options(4, 32)) }))
	return append(list, trial.Lifetimes(function, func(t *trial.T) []*trial.Input {
		a, b, bias := draw(t, cuda.F16, 3, 5, 4)
		return []*trial.Input{a, b, bias}
	}, options(4, 32))...)
}

// oneRounding multiplies what only an f32 accumulator gets right: 2048 + 1 + 1 is 2050,
// and 2048 in f16 when 2049 is rounded on the way. A product that is too small for f16
// and negative is +0 behind a ReLU of the f32 value.
func oneRounding(t *trial.T, f trial.Function) {
	exact := trial.Tolerance{}
	a := t.From("a", cuda.F16, []float64{2048, 1}, 1, 2)
	b := t.From("b", cuda.F16, []float64{1, 1}, 2, 1)
	verify(t, f, a, b, t.From("bias", cuda.F16, []float64{1}, 1), options(4, 32), exact)

	tiny := math.Ldexp(1, -14)
	a = t.From("a", cuda.F16, []float64{tiny}, 1, 1)
	b = t.From("b", cuda.F16, []float64{-tiny}, 1, 1)
	verify(t, f, a, b, t.From("bias", cuda.F16, []float64{0}, 1), options(4, 32), exact)
}

// more are checks of random shapes, types and options.
func more(n int, seed uint64) (list []workshops.NamedCheck) {
	r := rand.New(rand.NewPCG(seed, 3))
	for range n {
		m, n, k := 1+r.IntN(150), 1+r.IntN(150), r.IntN(120)
		d := []cuda.DType{cuda.F16, cuda.BF16}[r.IntN(2)]
		group, tile := []int{1, 4, 8}[r.IntN(3)], 16<<r.IntN(3)
		name := fmt.Sprintf("more: M,N,K = %d,%d,%d %v, group %d, tile %d", m, n, k, d, group, tile)
		list = append(list, trial.Check(name, function, func(t *trial.T, f trial.Function) {
			a, b, bias := draw(t, d, m, n, k)
			verify(t, f, a, b, bias, options(group, tile), tolerance(d))
		}))
	}
	return list
}

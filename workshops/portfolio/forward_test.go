package portfolio_test

import (
	"math"

	"github.com/warpbook/warpbook/cuda"
	"github.com/warpbook/warpbook/workshops/portfolio"
	"github.com/warpbook/warpbook/workshops/trial"
)

var (
	inf = math.Inf(1)
	nan = math.NaN()
)

// verifyAdd asserts that a sum is right to the last bit.
func verifyAdd(t *trial.T, a, b *trial.Input) *trial.Output {
	y := t.Call("Add", trial.Like(a), func() (*cuda.Tensor, error) { return portfolio.Add(a.Tensor, b.Tensor) })
	want := make([]float64, len(a.Values))
	for i := range want {
		want[i] = a.DType().Round(a.Values[i] + b.Values[i])
	}
	exact(t, "y is a + b, rounded once", y.Values, want)
	return y
}

func addTests() []test {
	list := eachType("ragged lengths", func(t *trial.T, d cuda.DType) {
		for _, n := range []int{1, 31, 256, 257, 1000} {
			verifyAdd(t, t.Normal("a", d, n), t.Normal("b", d, n))
		}
	})
	return append(list, []test{
		{"nothing, of which nothing is launched", func(t *trial.T) {
			verifyAdd(t, t.Normal("a", cuda.F32, 0), t.Normal("b", cuda.F32, 0))
		}},
		{"longer than all threads of the grid", func(t *trial.T) {
			const n = 2048*256 + 3
			verifyAdd(t, t.From("a", cuda.F32, full(0.5, n), n), t.Normal("b", cuda.F32, n))
		}},
		{"strided columns of matrices", func(t *trial.T) {
			a, b := t.Normal("a", cuda.F32, 300, 3), t.Normal("b", cuda.F32, 300, 5)
			verifyAdd(t, t.View(a, column(1)), t.View(b, column(4)))
		}},
		{"a number that is broadcast", func(t *trial.T) {
			one := t.View(t.From("b", cuda.F16, []float64{1}, 1), func(x *cuda.Tensor) (*cuda.Tensor, error) { return x.Broadcast(77) })
			verifyAdd(t, t.Normal("a", cuda.F16, 77), one)
		}},
		{"a vector to itself", func(t *trial.T) {
			a := t.Normal("a", cuda.F32, 100)
			verifyAdd(t, a, a)
		}},
		{"extreme values: infinities, NaN, signed zeros and subnormals", func(t *trial.T) {
			negative := math.Copysign(0, -1)
			a := t.From("a", cuda.F32, []float64{inf, inf, nan, negative, negative, 1e-45, math.MaxFloat32}, 7)
			b := t.From("b", cuda.F32, []float64{1, -inf, 1, negative, 0, 1e-45, math.MaxFloat32}, 7)
			verifyAdd(t, a, b)
		}},
		{"a sum beyond f16 is infinite", func(t *trial.T) {
			a := t.From("a", cuda.F16, []float64{65504, 65504}, 2)
			verifyAdd(t, a, t.From("b", cuda.F16, []float64{65504, 8}, 2))
		}},
	}...)
}

// sums calls RowSum.
func sums(t *trial.T, x *trial.Input) *trial.Output {
	want := trial.Want{DType: cuda.F32, Shape: x.Shape()[:1]}
	return t.Call("RowSum", want, func() (*cuda.Tensor, error) { return portfolio.RowSum(x.Tensor) })
}

// verifySums allows the roundings of a tree of f32 sums: in units of the sum of all magnitudes.
func verifySums(t *trial.T, x *trial.Input) *trial.Output {
	rows, columns := x.Shape()[0], x.Shape()[1]
	y := sums(t, x)
	largest := 0.0
	magnitudes := make([]float64, len(x.Values))
	for i, v := range x.Values {
		magnitudes[i] = math.Abs(v)
	}
	for _, v := range rowSums(magnitudes, rows, columns) {
		largest = math.Max(largest, v)
	}
	t.Near("each element is the sum of a row", y, rowSums(x.Values, rows, columns), trial.Tolerance{Abs: 3e-7 * largest, Rel: 2e-7})
	return y
}

func rowSumTests() []test {
	list := eachType("ragged widths", func(t *trial.T, d cuda.DType) {
		for _, columns := range widths() {
			verifySums(t, t.Normal("x", d, 3, columns))
		}
	})
	return append(list, []test{
		{"no rows, of which nothing is launched", func(t *trial.T) { verifySums(t, t.Normal("x", cuda.F32, 0, 5)) }},
		{"the sum of no columns is 0", func(t *trial.T) {
			exact(t, "a row without elements sums to 0", sums(t, t.Normal("x", cuda.F32, 4, 0)).Values, full(0, 4))
		}},
		{"transposed rows", func(t *trial.T) { verifySums(t, t.View(t.Normal("x", cuda.F32, 40, 7), transposed)) }},
		{"rows of every other column", func(t *trial.T) { verifySums(t, t.View(t.Normal("x", cuda.F16, 7, 81), everyOther)) }},
		{"one row, broadcast", func(t *trial.T) { verifySums(t, t.View(t.Normal("x", cuda.F32, 1, 50), repeated(6))) }},
		{"rows that are just split and just not", func(t *trial.T) {
			verifySums(t, t.Normal("x", cuda.F32, 2, 8192))
			verifySums(t, t.Normal("x", cuda.F32, 2, 8193))
		}},
		{"strided rows that are split", func(t *trial.T) {
			verifySums(t, t.View(t.Normal("x", cuda.F32, 2, 20001), everyOther))
		}},
		{"2^20 columns of f32", func(t *trial.T) { verifySums(t, t.Normal("x", cuda.F32, 1, 1<<20)) }},
		{"2^20 ones of f16 are counted to the last", func(t *trial.T) {
			y := sums(t, t.From("x", cuda.F16, full(1, 1<<20), 1, 1<<20))
			exact(t, "the sum is the number of ones", y.Values, []float64{1 << 20})
		}},
		{"values beyond f16 in the sum of f16", func(t *trial.T) {
			y := sums(t, t.From("x", cuda.F16, full(65504, 100), 1, 100))
			exact(t, "f32 holds the sum", y.Values, []float64{6550400})
		}},
		{"infinities and NaN stay in their rows", func(t *trial.T) {
			y := sums(t, t.From("x", cuda.F32, []float64{1, inf, -inf, inf, nan, 1, 2, 3}, 4, 2))
			exact(t, "the sum is as IEEE 754 adds", y.Values, []float64{inf, nan, nan, 5})
		}},
		{"every run gives the same bits", func(t *trial.T) {
			x := t.Normal("x", cuda.F32, 2, 10000)
			exact(t, "two runs agree", sums(t, x).Values, sums(t, x).Values)
		}},
		{"scratch memory of a split is given back", func(t *trial.T) {
			x := t.Normal("x", cuda.F32, 2, 10000)
			before := t.Dev.Memory()
			sums(t, x)
			grown := t.Dev.Memory() - before
			expect(t, grown == 2*4, "the device holds the two sums more", grown)
		}},
	}...)
}

// probabilities calls Softmax.
func probabilities(t *trial.T, x *trial.Input) *trial.Output {
	return t.Call("Softmax", trial.Like(x), func() (*cuda.Tensor, error) { return portfolio.Softmax(x.Tensor) })
}

func verifySoftmax(t *trial.T, x *trial.Input) *trial.Output {
	y := probabilities(t, x)
	t.Near("each row is exp(x - max) / sum of exp(x - max)", y, softmax(x.Values, x.Shape()[1]), probability(x.DType()))
	return y
}

func softmaxTests() []test {
	list := eachType("ragged widths", func(t *trial.T, d cuda.DType) {
		for _, columns := range widths() {
			y := verifySoftmax(t, t.Normal("x", d, 3, columns))
			t.RowSums("each row sums to 1", y, 1, 0.005)
		}
	})
	return append(list, append(maskTests(), []test{
		{"no rows, of which nothing is launched", func(t *trial.T) { verifySoftmax(t, t.Normal("x", cuda.F32, 0, 5)) }},
		{"no columns, of which nothing is launched", func(t *trial.T) { probabilities(t, t.Normal("x", cuda.F32, 5, 0)) }},
		{"transposed rows", func(t *trial.T) { verifySoftmax(t, t.View(t.Normal("x", cuda.F32, 40, 7), transposed)) }},
		{"rows of every other column", func(t *trial.T) { verifySoftmax(t, t.View(t.Normal("x", cuda.BF16, 7, 81), everyOther)) }},
		{"one row, broadcast", func(t *trial.T) { verifySoftmax(t, t.View(t.Normal("x", cuda.F32, 1, 50), repeated(6))) }},
		{"extreme values: large constants and an isolated maximum", func(t *trial.T) {
			x := append(append(full(1000, 40), full(-1000, 40)...), full(-1000, 40)...)
			x[119] = 1000
			verifySoftmax(t, t.From("x", cuda.F32, x, 3, 40))
		}},
		{"extreme values: the largest of f32 and its negative", func(t *trial.T) {
			verifySoftmax(t, t.From("x", cuda.F32, []float64{math.MaxFloat32, -math.MaxFloat32, math.MaxFloat32}, 1, 3))
		}},
		{"+inf and NaN make NaN of their row only", func(t *trial.T) {
			y := probabilities(t, t.From("x", cuda.F32, []float64{1, inf, nan, 1, 1, 1}, 3, 2))
			exact(t, "rows one and two are NaN", y.Values, []float64{nan, nan, nan, nan, 0.5, 0.5})
		}},
		{"the same number added to a row changes no bit", func(t *trial.T) {
			x, moved := make([]float64, 100), make([]float64, 100)
			for i := range x {
				x[i] = float64(i%17) / 8 // exact with and without 1000
				moved[i] = x[i] + 1000
			}
			still := probabilities(t, t.From("x", cuda.F32, x, 1, 100))
			exact(t, "softmax(x + 1000) is softmax(x)", probabilities(t, t.From("x", cuda.F32, moved, 1, 100)).Values, still.Values)
		}},
		{"2^20 columns of f32", func(t *trial.T) { verifySoftmax(t, t.Normal("x", cuda.F32, 1, 1<<20)) }},
		{"8193 columns of bf16", func(t *trial.T) { verifySoftmax(t, t.Normal("x", cuda.BF16, 2, 8193)) }},
	}...)...)
}

func maskTests() []test {
	return []test{
		{"-inf masks are exactly 0", func(t *trial.T) {
			const n = 40
			x := t.Numbers(n, n)
			for i := range x {
				if i%n > i/n { // what comes later, as in causal attention
					x[i] = -inf
				}
			}
			for _, d := range trial.DTypes() {
				y := verifySoftmax(t, t.From("x", d, x, n, n))
				for i, v := range y.Values {
					expect(t, v == 0 || !math.IsInf(x[i], -1), "a masked element is 0", v)
				}
			}
		}},
		{"-inf masks of everything that most threads see", func(t *trial.T) {
			x := full(-inf, 2051)
			x[2050] = -3
			exact(t, "all of it is in the last element", verifySoftmax(t, t.From("x", cuda.F32, x, 1, 2051)).Values, append(full(0, 2050), 1))
		}},
		{"-inf masks of whole rows give zeros", func(t *trial.T) {
			y := probabilities(t, t.From("x", cuda.F32, append(full(-inf, 40), full(1, 40)...), 2, 40))
			exact(t, "the masked row is zeros", y.Values[:40], full(0, 40))
			expect(t, y.Values[40] > 0, "the other row is not zeros", y.Values[40])
		}},
	}
}

const eps = 1e-5

// norm calls RMSNorm.
func norm(t *trial.T, x, residual, weight *trial.Input, eps float64) (y, h *trial.Output) {
	return both(t, "RMSNorm", trial.Like(x), trial.Like(x), func() (y, h *cuda.Tensor, err error) {
		return portfolio.RMSNorm(x.Tensor, residual.Tensor, weight.Tensor, eps)
	})
}

func verifyNorm(t *trial.T, x, residual, weight *trial.Input, eps float64) *trial.Output {
	y, h := norm(t, x, residual, weight, eps)
	sum := make([]float64, len(x.Values))
	for i := range sum {
		sum[i] = x.DType().Round(x.Values[i] + residual.Values[i])
	}
	exact(t, "h is x + residual, rounded once", h.Values, sum)
	t.Near("y is h / sqrt(mean(h*h) + eps) * weight", y, rmsNorm(sum, weight.Values, eps), rounding(x.DType()))
	return y
}

func rmsNormTests() []test {
	list := eachType("ragged widths", func(t *trial.T, d cuda.DType) {
		for _, n := range widths() {
			verifyNorm(t, t.Normal("x", d, 3, n), t.Normal("residual", d, 3, n), t.Normal("weight", d, n), eps)
		}
	})
	// alone is a row of f32 with nothing added and a weight of ones.
	alone := func(t *trial.T, x []float64, rows int) (a, b, c *trial.Input) {
		n := len(x) / rows
		return t.From("x", cuda.F32, x, rows, n), t.From("residual", cuda.F32, full(0, len(x)), rows, n), t.From("weight", cuda.F32, full(1, n), n)
	}
	return append(list, []test{
		{"no rows, of which nothing is launched", func(t *trial.T) {
			norm(t, t.Normal("x", cuda.F32, 0, 5), t.Normal("residual", cuda.F32, 0, 5), t.Normal("weight", cuda.F32, 5), eps)
		}},
		{"no columns, of which nothing is launched", func(t *trial.T) {
			norm(t, t.Normal("x", cuda.F32, 5, 0), t.Normal("residual", cuda.F32, 5, 0), t.Normal("weight", cuda.F32, 0), eps)
		}},
		{"every input strided in its own way", func(t *trial.T) {
			x := t.View(t.Normal("x", cuda.F32, 40, 7), transposed)
			residual := t.View(t.Normal("residual", cuda.F32, 7, 81), everyOther)
			verifyNorm(t, x, residual, t.View(t.Normal("weight", cuda.F32, 40, 3), column(2)), eps)
		}},
		{"a residual that is one row, broadcast", func(t *trial.T) {
			verifyNorm(t, t.Normal("x", cuda.F16, 6, 50), t.View(t.Normal("residual", cuda.F16, 1, 50), repeated(6)), t.Normal("weight", cuda.F16, 50), eps)
		}},
		{"the norm is of the rounded sum", func(t *trial.T) {
			// In f16, 2048 + 1 is 2048, so y is exactly 1.
			x, residual := t.From("x", cuda.F16, full(2048, 32), 1, 32), t.From("residual", cuda.F16, full(1, 32), 1, 32)
			exact(t, "y is 1", verifyNorm(t, x, residual, t.From("weight", cuda.F16, full(1, 32), 32), eps).Values, full(1, 32))
		}},
		{"eps keeps zeros from being divided by zero", func(t *trial.T) {
			x, zero, one := alone(t, full(0, 40), 1)
			y, _ := norm(t, x, zero, one, portfolio.MinEps)
			exact(t, "y is 0", y.Values, full(0, 40))
		}},
		{"eps counts beside small values", func(t *trial.T) {
			x, zero, one := alone(t, scaled(t.Numbers(3, 40), 1e-3), 3)
			verifyNorm(t, x, zero, one, 1e-6)
			verifyNorm(t, x, zero, one, portfolio.MaxEps)
		}},
		{"extreme values: squares that are infinite as f32", func(t *trial.T) {
			x, zero, one := alone(t, scaled(t.Numbers(3, 40), 1e37), 3)
			verifyNorm(t, x, zero, one, eps)
		}},
		{"extreme values: little beside the least eps", func(t *trial.T) {
			x, zero, weight := alone(t, scaled(t.Numbers(3, 40), 1e-14), 3)
			verifyNorm(t, x, zero, weight, portfolio.MinEps)
		}},
		{"infinities and NaN stay in their rows", func(t *trial.T) {
			x, zero, one := alone(t, []float64{inf, 1, nan, 1, 0, 0}, 3)
			y, _ := norm(t, x, zero, one, eps)
			exact(t, "rows one and two are NaN", y.Values, []float64{nan, nan, nan, nan, 0, 0})
		}},
		{"2^20 columns of f32", func(t *trial.T) {
			const n = 1 << 20
			zero := t.View(t.From("residual", cuda.F32, []float64{0}, 1, 1), func(x *cuda.Tensor) (*cuda.Tensor, error) { return x.Broadcast(1, n) })
			weight := t.View(t.From("weight", cuda.F32, []float64{0.5}, 1), func(x *cuda.Tensor) (*cuda.Tensor, error) { return x.Broadcast(n) })
			verifyNorm(t, t.Normal("x", cuda.F32, 1, n), zero, weight, eps)
		}},
	}...)
}

// product calls MatMul.
func product(t *trial.T, a, b *trial.Input) *trial.Output {
	want := trial.Want{DType: a.DType(), Shape: []int{a.Shape()[0], b.Shape()[1]}}
	return t.Call("MatMul", want, func() (*cuda.Tensor, error) { return portfolio.MatMul(a.Tensor, b.Tensor) })
}

// verifyProduct allows errors in proportion to the root of k, as they are random.
func verifyProduct(t *trial.T, a, b *trial.Input) *trial.Output {
	m, k, n := a.Shape()[0], a.Shape()[1], b.Shape()[1]
	within := rounding(a.DType())
	within.Abs *= math.Sqrt(float64(k))
	y := product(t, a, b)
	t.Near("y is the product of a and b", y, matMul(a.Values, b.Values, m, n, k), within)
	return y
}

func matMulTests() []test {
	list := eachType("ragged tiles", func(t *trial.T, d cuda.DType) {
		for _, s := range [][3]int{{1, 1, 1}, {16, 16, 16}, {15, 17, 33}, {33, 1, 16}, {1, 65, 5}} {
			verifyProduct(t, t.Normal("a", d, s[0], s[2]), t.Normal("b", d, s[2], s[1]))
		}
	})
	return append(list, []test{
		{"no rows and no columns, of which nothing is launched", func(t *trial.T) {
			product(t, t.Normal("a", cuda.F32, 0, 3), t.Normal("b", cuda.F32, 3, 5))
			product(t, t.Normal("a", cuda.F32, 5, 3), t.Normal("b", cuda.F32, 3, 0))
		}},
		{"k = 0 gives zeros", func(t *trial.T) {
			y := product(t, t.Normal("a", cuda.F16, 3, 0), t.Normal("b", cuda.F16, 0, 5))
			exact(t, "a sum of no products is 0", y.Values, full(0, 15))
		}},
		{"transposed operands", func(t *trial.T) {
			a, b := t.Normal("a", cuda.F32, 20, 33), t.Normal("b", cuda.F32, 18, 20)
			verifyProduct(t, t.View(a, transposed), t.View(b, transposed))
		}},
		{"operands of every other column", func(t *trial.T) {
			a, b := t.Normal("a", cuda.BF16, 17, 41), t.Normal("b", cuda.BF16, 20, 37)
			verifyProduct(t, t.View(a, everyOther), t.View(b, everyOther))
		}},
		{"one row, broadcast", func(t *trial.T) {
			verifyProduct(t, t.View(t.Normal("a", cuda.F32, 1, 20), repeated(18)), t.Normal("b", cuda.F32, 20, 7))
		}},
		{"a matrix by itself", func(t *trial.T) {
			a := t.Normal("a", cuda.F32, 18, 18)
			verifyProduct(t, a, a)
		}},
		{"the identity changes no bit", func(t *trial.T) {
			const n = 19
			one := full(0, n*n)
			for i := range n {
				one[i*n+i] = 1
			}
			a := t.Normal("a", cuda.F32, 5, n)
			exact(t, "a * 1 is a", product(t, a, t.From("b", cuda.F32, one, n, n)).Values, a.Values)
		}},
		{"2050 ones of f16 are counted, where a sum in f16 stops at 2048", func(t *trial.T) {
			const k = 2050
			y := product(t, t.From("a", cuda.F16, full(1, k), 1, k), t.From("b", cuda.F16, full(1, k), k, 1))
			exact(t, "the sum is the number of ones", y.Values, []float64{k})
		}},
		{"a product beyond f16 is infinite, and one between is not", func(t *trial.T) {
			a := t.From("a", cuda.F16, []float64{65504, 65504, -65504, 1}, 2, 2)
			y := product(t, a, t.From("b", cuda.F16, []float64{1, 1, 1, -1}, 2, 2))
			exact(t, "only what is rounded overflows", y.Values, []float64{inf, 0, -65504, -65504})
		}},
		{"an infinity never meets the padding of tiles", func(t *trial.T) {
			a := t.From("a", cuda.F32, append(full(1, 17), full(inf, 17)...), 2, 17)
			y := product(t, a, t.From("b", cuda.F32, full(1, 17*3), 17, 3))
			exact(t, "row one is finite and row two infinite", y.Values, []float64{17, 17, 17, inf, inf, inf})
		}},
		{"a long k", func(t *trial.T) {
			verifyProduct(t, t.Normal("a", cuda.F32, 2, 8193), t.Normal("b", cuda.F32, 8193, 3))
		}},
	}...)
}

package portfolio_test

import (
	"math"

	"github.com/warpbook/warpbook/cuda"
	"github.com/warpbook/warpbook/workshops/portfolio"
	"github.com/warpbook/warpbook/workshops/trial"
)

// softmaxGradient calls SoftmaxBackward.
func softmaxGradient(t *trial.T, y, g *trial.Input) *trial.Output {
	return t.Call("SoftmaxBackward", trial.Like(y), func() (*cuda.Tensor, error) { return portfolio.SoftmaxBackward(y.Tensor, g.Tensor) })
}

func verifySoftmaxGradient(t *trial.T, y, g *trial.Input) *trial.Output {
	dx := softmaxGradient(t, y, g)
	within := rounding(y.DType())
	if y.DType() != cuda.F32 {
		within.Abs = 1e-6 // values lie where f16 has fewer bits
	}
	t.Near("dx is y * (g - sum(y * g))", dx, softmaxBackward(y.Values, g.Values, y.Shape()[1]), within)
	return dx
}

// softmaxOf is an input that is the softmax of normal numbers.
func softmaxOf(t *trial.T, d cuda.DType, rows, columns int) *trial.Input {
	return t.From("y", d, softmax(t.Numbers(rows, columns), columns), rows, columns)
}

func softmaxBackwardTests() []test {
	list := eachType("ragged widths", func(t *trial.T, d cuda.DType) {
		for _, n := range widths() {
			verifySoftmaxGradient(t, softmaxOf(t, d, 3, n), t.Normal("g", d, 3, n))
		}
	})
	return append(list, []test{
		{"no rows and no columns, of which nothing is launched", func(t *trial.T) {
			softmaxGradient(t, t.Normal("y", cuda.F32, 0, 5), t.Normal("g", cuda.F32, 0, 5))
			softmaxGradient(t, t.Normal("y", cuda.F32, 5, 0), t.Normal("g", cuda.F32, 5, 0))
		}},
		{"both operands strided in their own way", func(t *trial.T) {
			y := t.From("y", cuda.F32, softmax(t.Numbers(7, 81), 81), 7, 81)
			g := t.Normal("g", cuda.F32, 40, 7)
			verifySoftmaxGradient(t, t.View(y, everyOther), t.View(g, transposed))
		}},
		{"a gradient that is one row, broadcast", func(t *trial.T) {
			verifySoftmaxGradient(t, softmaxOf(t, cuda.F16, 6, 50), t.View(t.Normal("g", cuda.F16, 1, 50), repeated(6)))
		}},
		{"a masked element has no gradient", func(t *trial.T) {
			y := t.From("y", cuda.F32, softmax([]float64{1, -inf, 2, -inf, -inf, -inf}, 3), 2, 3)
			dx := verifySoftmaxGradient(t, y, t.Normal("g", cuda.F32, 2, 3))
			for i, v := range dx.Values {
				expect(t, v == 0 || y.Values[i] != 0, "dx is 0 where y is 0", v)
			}
		}},
		{"each row sums to 0", func(t *trial.T) {
			t.RowSums("a softmax does not change with a number added to its row", verifySoftmaxGradient(t, softmaxOf(t, cuda.F32, 5, 333), t.Normal("g", cuda.F32, 5, 333)), 0, 3e-7)
		}},
		{"the same gradient everywhere changes nothing", func(t *trial.T) {
			y := t.From("y", cuda.F32, full(1./64, 64), 1, 64)
			exact(t, "dx is 0", softmaxGradient(t, y, t.From("g", cuda.F32, full(3, 64), 1, 64)).Values, full(0, 64))
		}},
		{"extreme values: a gradient of 1e30", func(t *trial.T) {
			y, g := softmaxOf(t, cuda.F32, 3, 50), t.From("g", cuda.F32, scaled(t.Numbers(3, 50), 1e30), 3, 50)
			within := trial.Tolerance{Abs: 1e23, Rel: 1e-5}
			t.Near("dx is y * (g - sum(y * g))", softmaxGradient(t, y, g), softmaxBackward(y.Values, g.Values, 50), within)
		}},
		{"of the softmax that the device computed", func(t *trial.T) {
			const n = 77
			x, g := t.Normal("x", cuda.F32, 4, n), t.Normal("g", cuda.F32, 4, n)
			dx := t.Call("SoftmaxBackward", trial.Like(x), func() (*cuda.Tensor, error) {
				y, err := portfolio.Softmax(x.Tensor)
				if err != nil {
					return nil, err
				}
				return portfolio.SoftmaxBackward(y, g.Tensor)
			})
			t.Near("dx is the gradient of the softmax of x", dx, softmaxBackward(softmax(x.Values, n), g.Values, n), rounding(cuda.F32))
		}},
		{"2^20 columns of f32", func(t *trial.T) {
			const n = 1 << 20
			y, g := softmaxOf(t, cuda.F32, 1, n), t.Normal("g", cuda.F32, 1, n)
			t.Near("dx is y * (g - sum(y * g))", softmaxGradient(t, y, g), softmaxBackward(y.Values, g.Values, n), trial.Tolerance{Abs: 1e-10, Rel: 1e-5})
		}},
	}...)
}

// normGradients calls RMSNormBackward.
func normGradients(t *trial.T, g, h, weight *trial.Input, eps float64) (dh, dweight *trial.Output) {
	likeWeight := trial.Want{DType: h.DType(), Shape: h.Shape()[1:]}
	return both(t, "RMSNormBackward", trial.Like(h), likeWeight, func() (dh, dweight *cuda.Tensor, err error) {
		return portfolio.RMSNormBackward(g.Tensor, h.Tensor, weight.Tensor, eps)
	})
}

// verifyNormGradients takes tolerances in units of what the results are: they grow as h
// gets smaller, and dweight with the number of rows.
func verifyNormGradients(t *trial.T, g, h, weight *trial.Input, eps, unit float64) (dh, dweight *trial.Output) {
	dh, dweight = normGradients(t, g, h, weight, eps)
	wantH, wantWeight := rmsNormBackward(g.Values, h.Values, weight.Values, eps)
	within := rounding(h.DType())
	t.Near("dweight is the sum of g * h / rms over the rows", dweight, wantWeight, within)
	within.Abs *= unit
	t.Near("dh is (weight * g - n * mean(weight * g * n)) / rms, with n = h / rms", dh, wantH, within)
	return dh, dweight
}

func rmsNormBackwardTests() []test {
	list := eachType("ragged widths", func(t *trial.T, d cuda.DType) {
		for _, n := range widths() {
			verifyNormGradients(t, t.Normal("g", d, 3, n), t.Normal("h", d, 3, n), t.Normal("weight", d, n), 1e-2, 10)
		}
	})
	return append(list, []test{
		{"no rows: the weight's gradient is zeros, and nothing is launched", func(t *trial.T) {
			g, h, weight := t.Normal("g", cuda.F32, 0, 5), t.Normal("h", cuda.F32, 0, 5), t.Normal("weight", cuda.F32, 5)
			dh, dweight := normGradients(t, g, h, weight, eps)
			expect(t, dh.Launches() == 0, "nothing is launched", dh.Actions)
			exact(t, "a sum over no rows is 0", dweight.Values, full(0, 5))
		}},
		{"no columns, of which nothing is launched", func(t *trial.T) {
			normGradients(t, t.Normal("g", cuda.F32, 5, 0), t.Normal("h", cuda.F32, 5, 0), t.Normal("weight", cuda.F32, 0), eps)
		}},
		{"every input strided in its own way", func(t *trial.T) {
			g := t.View(t.Normal("g", cuda.F32, 40, 7), transposed)
			h := t.View(t.Normal("h", cuda.F32, 7, 81), everyOther)
			verifyNormGradients(t, g, h, t.View(t.Normal("weight", cuda.F32, 40, 3), column(2)), eps, 10)
		}},
		{"a gradient that is one row, broadcast", func(t *trial.T) {
			verifyNormGradients(t, t.View(t.Normal("g", cuda.F16, 1, 50), repeated(6)), t.Normal("h", cuda.F16, 6, 50), t.Normal("weight", cuda.F16, 50), eps, 10)
		}},
		{"many rows of one column", func(t *trial.T) {
			verifyNormGradients(t, t.Normal("g", cuda.F32, 1000, 1), t.From("h", cuda.F32, full(2, 1000), 1000, 1), t.Normal("weight", cuda.F32, 1), eps, 10)
		}},
		{"zeros: only eps is divided by", func(t *trial.T) {
			const n = 40
			g, h, weight := t.Normal("g", cuda.F32, 2, n), t.From("h", cuda.F32, full(0, 2*n), 2, n), t.Normal("weight", cuda.F32, n)
			verifyNormGradients(t, g, h, weight, 1e-4, 100)
		}},
		{"without eps the gradient is at right angles to h", func(t *trial.T) {
			const n = 300
			g, h, weight := t.Normal("g", cuda.F32, 2, n), t.Normal("h", cuda.F32, 2, n), t.Normal("weight", cuda.F32, n)
			dh, _ := verifyNormGradients(t, g, h, weight, portfolio.MinEps, 10)
			dot := 0.0
			for i, v := range dh.Values {
				dot += v * h.Values[i]
			}
			expect(t, math.Abs(dot) < 1e-4, "the norm does not change with h's length", dot)
		}},
		{"extreme values: squares that are infinite as f32", func(t *trial.T) {
			const n = 40
			g := t.From("g", cuda.F32, scaled(t.Numbers(3, n), 1e30), 3, n)
			h := t.From("h", cuda.F32, scaled(t.Numbers(3, n), 1e30), 3, n)
			weight := t.From("weight", cuda.F32, full(1, n), n)
			wantH, wantWeight := rmsNormBackward(g.Values, h.Values, weight.Values, eps)
			dh, dweight := normGradients(t, g, h, weight, eps)
			t.Near("dweight is the sum of g * h / rms over the rows", dweight, wantWeight, trial.Tolerance{Abs: 1e24, Rel: 1e-5})
			t.Near("dh is (weight * g - n * mean(weight * g * n)) / rms, with n = h / rms", dh, wantH, rounding(cuda.F32))
		}},
		{"infinities stay in their rows, and reach the weight", func(t *trial.T) {
			g, h := t.From("g", cuda.F32, full(1, 4), 2, 2), t.From("h", cuda.F32, []float64{inf, 1, 0, 0}, 2, 2)
			dh, dweight := normGradients(t, g, h, t.From("weight", cuda.F32, full(1, 2), 2), 0.25)
			exact(t, "row one of dh is NaN, and row two g / sqrt(eps)", dh.Values, []float64{nan, nan, 2, 2})
			exact(t, "dweight is NaN", dweight.Values, []float64{nan, nan})
		}},
		{"of the h that the device computed", func(t *trial.T) {
			const n = 77
			x, residual, g, weight := t.Normal("x", cuda.F32, 4, n), t.Normal("residual", cuda.F32, 4, n), t.Normal("g", cuda.F32, 4, n), t.Normal("weight", cuda.F32, n)
			dx := t.Call("RMSNormBackward", trial.Like(x), func() (*cuda.Tensor, error) {
				_, h, err := portfolio.RMSNorm(x.Tensor, residual.Tensor, weight.Tensor, eps)
				if err != nil {
					return nil, err
				}
				return first(portfolio.RMSNormBackward(g.Tensor, h, weight.Tensor, eps))
			})
			h := make([]float64, 4*n)
			for i := range h {
				h[i] = x.Values[i] + residual.Values[i]
			}
			want, _ := rmsNormBackward(g.Values, h, weight.Values, eps)
			t.Near("dx is the gradient of the norm of x + residual", dx, want, rounding(cuda.F32))
		}},
		{"2^20 columns of f32", func(t *trial.T) {
			const n = 1 << 20
			weight := t.View(t.From("weight", cuda.F32, []float64{0.5}, 1), func(x *cuda.Tensor) (*cuda.Tensor, error) { return x.Broadcast(n) })
			verifyNormGradients(t, t.Normal("g", cuda.F32, 1, n), t.Normal("h", cuda.F32, 1, n), weight, eps, 1)
		}},
	}...)
}

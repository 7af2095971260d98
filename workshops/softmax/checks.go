package softmax

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/warpbook/warpbook/cuda"
	"github.com/warpbook/warpbook/workshops"
	"github.com/warpbook/warpbook/workshops/trial"
)

const (
	property = "each row is exp(x - max) / sum of exp(x - max)"
	function = "Softmax"
)

func warps(n int) trial.Options { return trial.Options{"NumWarps": n} }

// Rows is the softmax of each row, in float64.
func Rows(x []float64, columns int) []float64 {
	y := make([]float64, len(x))
	for at := 0; at+columns <= len(x) && columns > 0; at += columns {
		row, out := x[at:at+columns], y[at:at+columns]
		top, sum := math.Inf(-1), 0.0
		for _, v := range row {
			top = max(top, v)
		}
		for i, v := range row {
			out[i] = math.Exp(v - top)
			sum += out[i]
		}
		for i := range out {
			out[i] /= sum
		}
	}
	return y
}

// Tolerance is how near the values of a softmax must be.
func Tolerance(d cuda.DType) trial.Tolerance {
	if d == cuda.F32 {
		return trial.Tolerance{Abs: 2e-7, Rel: 3e-5}
	}
	return trial.Tolerance{Abs: 2e-5, Rel: 0.01}
}

// Verify calls a softmax on x and compares.
func Verify(t *trial.T, f trial.Function, x *trial.Input, o trial.Options) *trial.Output {
	y := t.Call(function, trial.Like(x), func() (*cuda.Tensor, error) { return f(trial.Tensors(x), o) })
	shape := x.Shape()
	t.Near(property, y, Rows(x.Values, shape[1]), Tolerance(x.DType()))
	within := 0.001
	if x.DType() == cuda.BF16 {
		within = 0.005
	}
	t.RowSums("each row sums to 1", y, 1, within)
	return y
}

// twice is up to which number of elements a check calls a second time, with other
// values: what is kept from the first call shows.
const twice = 1 << 16

// Values is the check of one shape and type, by what verifies one call. The second call's
// values are smaller, so that a maximum that is kept is too large.
func Values(t *trial.T, rows, columns int, d cuda.DType, verify func(x *trial.Input)) {
	verify(t.Normal("x", d, rows, columns))
	if n := rows * columns; n > 0 && n <= twice {
		again := t.Numbers(rows, columns)
		for i := range again {
			again[i] = again[i]/2 - 3
		}
		verify(t.From("x", d, again, rows, columns))
	}
}

// Transposed is the view with rows and columns exchanged.
func Transposed(x *cuda.Tensor) (*cuda.Tensor, error) { return x.T(), nil }

// Sliced makes an input of rows x columns that is the slice [1:, 1:2*columns+1:2] of a
// larger matrix.
func Sliced(t *trial.T, name string, rows, columns int) *trial.Input {
	return t.View(t.Normal(name, cuda.F32, rows+1, 2*columns+3), func(x *cuda.Tensor) (*cuda.Tensor, error) {
		x, err := x.Slice(0, 1, rows+1, 1)
		if err != nil {
			return nil, err
		}
		return x.Slice(1, 1, 2*columns+1, 2)
	})
}

// Extreme are rows that overflow or vanish without the maximum: all 1000, all -1000,
// and -1000 with 1000 at the end.
func Extreme(columns int) []float64 {
	x := make([]float64, 3*columns)
	for i := range columns {
		x[i], x[columns+i], x[2*columns+i] = 1000, -1000, -1000
	}
	x[3*columns-1] = 1000
	return x
}

func checks() []workshops.NamedCheck {
	var list []workshops.NamedCheck
	add := func(name string, run func(*trial.T, trial.Function)) {
		list = append(list, trial.Check(name, function, run))
	}
	for _, shape := range [][2]int{{0, 3}, {1, 1}, {7, 33}, {3, 8192}} {
		for _, d := range trial.DTypes() {
			add(fmt.Sprintf("values %dx%d %v", shape[0], shape[1], d), func(t *trial.T, f trial.Function) {
				Values(t, shape[0], shape[1], d, func(x *trial.Input) { Verify(t, f, x, warps(4)) })
			})
		}
	}
	add("large constants and isolated maximum", func(t *trial.T, f trial.Function) {
		Verify(t, f, t.From("x", cuda.F32, Extreme(4097), 3, 4097), warps(4))
	})
	const r, n = 7, 33
	add("transpose: physical addressing", func(t *trial.T, f trial.Function) {
		Verify(t, f, t.View(t.Normal("x", cuda.F32, n, r), Transposed), warps(8))
	})
	add("slice: physical addressing", func(t *trial.T, f trial.Function) {
		Verify(t, f, Sliced(t, "x", r, n), warps(8))
	})
	add("broadcast: physical addressing", func(t *trial.T, f trial.Function) {
		x := t.View(t.Normal("x", cuda.F32, 1, n), func(x *cuda.Tensor) (*cuda.Tensor, error) { return x.Broadcast(r, n) })
		Verify(t, f, x, warps(8))
	})
	reject := func(name, what string, rows, columns, n int) {
		add(name, func(t *trial.T, f trial.Function) {
			x := t.Normal("x", cuda.F32, rows, columns)
			t.Rejects(what, func() (*cuda.Tensor, error) { return f(trial.Tensors(x), warps(n)) })
		})
	}
	reject("reject zero width", "rows of no columns", 3, 0, 4)
	reject("reject bad warps", "a number of warps that is neither 4 nor 8 (3)", 3, 5, 3)
	reject("reject oversized width", "rows of more than 8192 columns (8193)", 1, 8193, 4)
	list = append(list, trial.Stream(function, func(t *trial.T, f trial.Function) {
		Values(t, 3, 1025, cuda.F32, func(x *trial.Input) { Verify(t, f, x, warps(4)) })
	}))
	return append(list, trial.Lifetimes(function, func(t *trial.T) []*trial.Input { return []*trial.Input{t.Normal("x", cuda.F32, 3, 5)} }, warps(4))...)
}

// more are checks of random shapes, types, strides and options.
func more(n int, seed uint64) (list []workshops.NamedCheck) {
	r := rand.New(rand.NewPCG(seed, 1))
	for range n {
		rows, columns, d, w := 1+r.IntN(12), 1+r.IntN(1<<(1+r.IntN(13))), trial.DTypes()[r.IntN(3)], 4+4*r.IntN(2)
		transposed := r.IntN(2) == 1
		name := fmt.Sprintf("more: %dx%d %v, %d warps", rows, columns, d, w)
		if transposed {
			name += ", transposed"
		}
		list = append(list, trial.Check(name, function, func(t *trial.T, f trial.Function) {
			if !transposed {
				Verify(t, f, t.Normal("x", d, rows, columns), warps(w))
				return
			}
			Verify(t, f, t.View(t.Normal("x", d, columns, rows), Transposed), warps(w))
		}))
	}
	return list
}

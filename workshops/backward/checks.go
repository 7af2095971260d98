package backward

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/warpbook/warpbook/cuda"
	"github.com/warpbook/warpbook/workshops"
	"github.com/warpbook/warpbook/workshops/softmax"
	"github.com/warpbook/warpbook/workshops/trial"
)

const (
	property = "dx is y * (g - sum of y * g) for each row"
	function = "Backward"
)

func warps(n int) trial.Options { return trial.Options{"NumWarps": n} }

// Gradient is y*(g - sum(y*g)) for each row, in float64.
func Gradient(y, g []float64, columns int) []float64 {
	dx := make([]float64, len(y))
	for at := 0; at+columns <= len(y) && columns > 0; at += columns {
		sum := 0.0
		for i := at; i < at+columns; i++ {
			sum += y[i] * g[i]
		}
		for i := at; i < at+columns; i++ {
			dx[i] = y[i] * (g[i] - sum)
		}
	}
	return dx
}

func tolerance(d cuda.DType) trial.Tolerance {
	if d == cuda.F32 {
		return trial.Tolerance{Abs: 2e-7, Rel: 0.01}
	}
	return trial.Tolerance{Abs: 3e-4, Rel: 0.01}
}

// inputs are a softmax of normal numbers, and a gradient.
func inputs(t *trial.T, d cuda.DType, rows, columns int) (y, g *trial.Input) {
	y = t.From("y", d, softmax.Rows(t.Numbers(rows, columns), columns), rows, columns)
	return y, t.Normal("g", d, rows, columns)
}

func verify(t *trial.T, f trial.Function, y, g *trial.Input, o trial.Options) *trial.Output {
	dx := t.Call(function, trial.Like(y), func() (*cuda.Tensor, error) { return f(trial.Tensors(y, g), o) })
	t.Near(property, dx, Gradient(y.Values, g.Values, y.Shape()[1]), tolerance(y.DType()))
	return dx
}

// twice is up to which number of elements a check calls a second time, with other values.
const twice = 1 << 16

func values(t *trial.T, f trial.Function, rows, columns int, d cuda.DType, o trial.Options) {
	for range 2 {
		y, g := inputs(t, d, rows, columns)
		verify(t, f, y, g, o)
		if n := rows * columns; n == 0 || n > twice {
			return
		}
	}
}

func checks() []workshops.NamedCheck {
	var list []workshops.NamedCheck
	add := func(name string, run func(*trial.T, trial.Function)) {
		list = append(list, trial.Check(name, function, run))
	}
	for _, shape := range [][2]int{{0, 3}, {1, 1}, {7, 33}, {3, 8192}} {
		for _, d := range trial.DTypes() {
			add(fmt.Sprintf("values %dx%d %v", shape[0], shape[1], d), func(t *trial.T, f trial.Function) {
				values(t, f, shape[0], shape[1], d, warps(4))
			})
		}
	}
	const r, n = 7, 33
	add("strided upstream gradient", func(t *trial.T, f trial.Function) {
		y, _ := inputs(t, cuda.F32, r, n)
		g := t.View(t.Normal("g", cuda.F32, n, r), softmax.Transposed)
		verify(t, f, y, g, warps(4))
	})
	add("both operands strided and eight warps", func(t *trial.T, f trial.Function) {
		y := t.View(t.From("y", cuda.F32, softmax.Rows(t.Numbers(n, r), r), n, r), softmax.Transposed)
		g := softmax.Sliced(t, "g", r, n)
		verify(t, f, y, g, warps(8))
	})
	add("autograd, finite difference and row-sum invariant", invariants)
	add("reject shape mismatch", func(t *trial.T, f trial.Function) {
		y, _ := inputs(t, cuda.F32, 3, 5)
		g := t.Normal("g", cuda.F32, 3, 4)
		t.Rejects("a g of another shape (3x4 for 3x5)", func() (*cuda.Tensor, error) { return f(trial.Tensors(y, g), warps(4)) })
	})
	add("reject dtype mismatch", func(t *trial.T, f trial.Function) {
		y, _ := inputs(t, cuda.F32, 3, 5)
		g := t.Normal("g", cuda.F16, 3, 5)
		t.Rejects("a g of another type (f16 for f32)", func() (*cuda.Tensor, error) { return f(trial.Tensors(y, g), warps(4)) })
	})
	list = append(list, trial.Stream(function, func(t *trial.T, f trial.Function) { values(t, f, 3, 1025, cuda.F32, warps(4)) }))
	return append(list, trial.Lifetimes(function, func(t *trial.T) []*trial.Input {
		y, g := inputs(t, cuda.F32, 3, 5)
		return []*trial.Input{y, g}
	}, warps(4))...)
}

// invariants compare with the exact product of the softmax's derivative and g, with the
// sum of a row, which is 0, and with a central difference of L = sum(softmax(x) * g).
func invariants(t *trial.T, f trial.Function) {
	const rows, columns = 3, 17
	x := t.Numbers(rows, columns)
	y := t.From("y", cuda.F32, softmax.Rows(x, columns), rows, columns)
	g := t.Normal("g", cuda.F32, rows, columns)
	dx := verify(t, f, y, g, warps(4))
	t.Near("dx is the derivative of the softmax times g", dx, Gradient(softmax.Rows(x, columns), g.Values, columns), trial.Tolerance{Abs: 2e-7, Rel: 2e-5})
	t.RowSums("each row of dx sums to 0", dx, 0, 3e-7)

	const row, column, step = 1, 4, 1e-5
	loss := func(change float64) (l float64) {
		moved := append([]float64{}, x...)
		moved[row*columns+column] += change
		for i, p := range softmax.Rows(moved, columns) {
			l += p * g.Values[i]
		}
		return l
	}
	slope := (loss(step) - loss(-step)) / (2 * step)
	if got := dx.Values[row*columns+column]; !(math.Abs(got-slope) <= 1e-6+1e-4*math.Abs(slope)) {
		t.Fail(&workshops.Failure{Property: "dx is the slope of the loss", Index: []int{row, column}, Expected: slope, Actual: got})
	}
}

// more are checks of random shapes, types, strides and options.
func more(n int, seed uint64) (list []workshops.NamedCheck) {
	r := rand.New(rand.NewPCG(seed, 2))
	for range n {
		rows, columns, d, w := 1+r.IntN(12), 1+r.IntN(1<<(1+r.IntN(13))), trial.DTypes()[r.IntN(3)], 4+4*r.IntN(2)
		strided := r.IntN(2) == 1
		name := fmt.Sprintf("more: %dx%d %v, %d warps", rows, columns, d, w)
		if strided {
			name += ", g transposed"
		}
		list = append(list, trial.Check(name, function, func(t *trial.T, f trial.Function) {
			y, g := inputs(t, d, rows, columns)
			if strided {
				g = t.View(t.Normal("g", d, columns, rows), softmax.Transposed)
			}
			verify(t, f, y, g, warps(w))
		}))
	}
	return list
}

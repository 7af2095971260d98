package split

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/warpbook/warpbook/cuda"
	"github.com/warpbook/warpbook/workshops"
	"github.com/warpbook/warpbook/workshops/softmax"
	"github.com/warpbook/warpbook/workshops/trial"
)

const function = "Softmax"

func chunk(n int) trial.Options { return trial.Options{"ChunkSize": n} }

// verify also asserts that the work is three launches.
func verify(t *trial.T, f trial.Function, x *trial.Input, o trial.Options) {
	y := softmax.Verify(t, f, x, o)
	if n := y.Launches(); y.Len() > 0 && n != 3 {
		t.Fail(&workshops.Failure{Property: "the softmax is three launches on the current stream", Expected: 3, Actual: n})
	}
}

func values(t *trial.T, f trial.Function, rows, columns int, d cuda.DType, o trial.Options) {
	softmax.Values(t, rows, columns, d, func(x *trial.Input) { verify(t, f, x, o) })
}

func checks() []workshops.NamedCheck {
	var list []workshops.NamedCheck
	add := func(name string, run func(*trial.T, trial.Function)) {
		list = append(list, trial.Check(name, function, run))
	}
	for _, shape := range [][2]int{{0, 3}, {1, 1}, {3, 1025}, {2, 32769}, {1, 131072}} {
		for _, d := range trial.DTypes() {
			add(fmt.Sprintf("values %dx%d %v", shape[0], shape[1], d), func(t *trial.T, f trial.Function) {
				values(t, f, shape[0], shape[1], d, chunk(1024))
			})
		}
	}
	extreme := func(name string, columns, n int) {
		add(name, func(t *trial.T, f trial.Function) {
			verify(t, f, t.From("x", cuda.F32, softmax.Extreme(columns), 3, columns), chunk(n))
		})
	}
	extreme("large constants and isolated maximum", 4097, 1024)
	add("chunk 256 with a partial tail, extreme rows", func(t *trial.T, f trial.Function) {
		verify(t, f, t.From("x", cuda.F32, softmax.Extreme(8193), 3, 8193), chunk(256))
		masked := t.Numbers(1, 600) // with a chunk of which nothing is left
		for i := range 256 {
			masked[256+i] = math.Inf(-1)
		}
		verify(t, f, t.From("x", cuda.F32, masked, 1, 600), chunk(256))
	})
	extreme("chunk 4096 with a partial tail, extreme rows", 8193, 4096)
	add("reject bad chunk", func(t *trial.T, f trial.Function) {
		x := t.Normal("x", cuda.F32, 3, 5)
		t.Rejects("a chunk that is none of 256, 1024 and 4096 (511)", func() (*cuda.Tensor, error) { return f(trial.Tensors(x), chunk(511)) })
	})
	add("reject noncontiguous input", func(t *trial.T, f trial.Function) {
		x := t.Normal("x", cuda.F32, 5, 3)
		t.Rejects("a transposed tensor", func() (*cuda.Tensor, error) { return f([]*cuda.Tensor{x.T()}, chunk(1024)) })
	})
	add("reject oversized width", func(t *trial.T, f trial.Function) {
		x := t.Normal("x", cuda.F32, 1, 131073)
		t.Rejects("rows of more than 131072 columns (131073)", func() (*cuda.Tensor, error) { return f(trial.Tensors(x), chunk(1024)) })
	})
	list = append(list, trial.Stream(function, func(t *trial.T, f trial.Function) { values(t, f, 3, 1025, cuda.F32, chunk(1024)) }))
	return append(list, trial.Lifetimes(function, func(t *trial.T) []*trial.Input { return []*trial.Input{t.Normal("x", cuda.F32, 3, 5)} }, chunk(1024))...)
}

// more are checks of random shapes, types and options.
func more(n int, seed uint64) (list []workshops.NamedCheck) {
	r := rand.New(rand.NewPCG(seed, 5))
	for range n {
		rows, columns, d, c := 1+r.IntN(4), 1+r.IntN(1<<(1+r.IntN(15))), trial.DTypes()[r.IntN(3)], 256<<(2*r.IntN(3))
		list = append(list, trial.Check(fmt.Sprintf("more: %dx%d %v, chunks of %d", rows, columns, d, c), function, func(t *trial.T, f trial.Function) {
			verify(t, f, t.Normal("x", d, rows, columns), chunk(c))
		}))
	}
	return list
}

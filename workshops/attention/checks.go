package attention

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/warpbook/warpbook/cuda"
	"github.com/warpbook/warpbook/workshops"
	"github.com/warpbook/warpbook/workshops/trial"
)

const (
	property = "o is softmax(q*k'/sqrt(d))*v"
	function = "Attention"
)

func options(causal bool, block int) trial.Options {
	return trial.Options{"Causal": causal, "BlockN": block}
}

// Attention is softmax(Q*K'/sqrt(D))*V for Q, K, V[n,d], in float64.
func Attention(q, k, v []float64, n, d int, causal bool) []float64 {
	out, scores := make([]float64, n*d), make([]float64, n)
	for i := range n {
		keys := n
		if causal {
			keys = i + 1
		}
		top, sum := math.Inf(-1), 0.0
		for j := range keys {
			s := 0.0
			for c := range d {
				s += q[i*d+c] * k[j*d+c]
			}
			scores[j] = s / math.Sqrt(float64(d))
			top = max(top, scores[j])
		}
		row := out[i*d : (i+1)*d]
		for j := range keys {
			p := math.Exp(scores[j] - top)
			sum += p
			for c := range row {
				row[c] += p * v[j*d+c]
			}
		}
		for c := range row {
			row[c] /= sum
		}
	}
	return out
}

func tolerance(d cuda.DType) trial.Tolerance {
	if d == cuda.BF16 {
		return trial.Tolerance{Abs: 0.015, Rel: 0.02}
	}
	return trial.Tolerance{Abs: 0.002, Rel: 0.005}
}

func call(t *trial.T, f trial.Function, q, k, v *trial.Input, causal bool, block int) *trial.Output {
	return t.Call(function, trial.Like(q), func() (*cuda.Tensor, error) { return f(trial.Tensors(q, k, v), options(causal, block)) })
}

// verify calls the attention and compares; of a causal one it also asserts that later
// values change no earlier output, by not one bit.
func verify(t *trial.T, f trial.Function, q, k, v *trial.Input, causal bool, block int) {
	n, d := q.Shape()[0], q.Shape()[1]
	o := call(t, f, q, k, v, causal, block)
	t.Near(property, o, Attention(q.Values, k.Values, v.Values, n, d, causal), tolerance(q.DType()))
	if scores := int64(n) * int64(n) * int64(q.DType().Size()); n >= 256 {
		for _, a := range o.Actions {
			if a.Kind == "alloc" && a.Bytes >= scores {
				t.Fail(&workshops.Failure{Property: "the N x N scores are never allocated", Actual: fmt.Sprintf("an allocation of %d bytes for N = %d", a.Bytes, n)})
			}
		}
	}
	if causal && n > 1 {
		prefix(t, f, q, k, v, o, block)
	}
}

func prefix(t *trial.T, f trial.Function, q, k, v *trial.Input, o *trial.Output, block int) {
	n, d := q.Shape()[0], q.Shape()[1]
	changed := append([]float64{}, v.Values...)
	for i := n / 2 * d; i < n*d; i++ {
		changed[i] += 10
	}
	after := call(t, f, q, k, t.From("v", v.DType(), changed, n, d), true, block)
	for i := range n / 2 * d {
		if o.Values[i] != after.Values[i] {
			t.Fail(&workshops.Failure{Property: "a causal output does not depend on later rows of v", Index: []int{i / d, i % d}, Expected: o.Values[i], Actual: after.Values[i],
				Detail: fmt.Sprintf("rows of v from %d on were changed", n/2)})
		}
	}
}

func draw(t *trial.T, dt cuda.DType, n, d int) (q, k, v *trial.Input) {
	return t.Normal("q", dt, n, d), t.Normal("k", dt, n, d), t.Normal("v", dt, n, d)
}

func values(t *trial.T, f trial.Function, n, d int, dt cuda.DType, causal bool, block int) {
	for range 2 {
		q, k, v := draw(t, dt, n, d)
		verify(t, f, q, k, v, causal, block)
		if n == 0 {
			return
		}
	}
}

func checks() []workshops.NamedCheck {
	var list []workshops.NamedCheck
	add := func(name string, run func(*trial.T, trial.Function)) {
		list = append(list, trial.Check(name, function, run))
	}
	for _, s := range [][2]int{{0, 16}, {1, 32}, {17, 16}, {65, 32}, {129, 64}} {
		for _, causal := range []bool{false, true} {
			for _, dt := range []cuda.DType{cuda.F16, cuda.BF16} {
				name := fmt.Sprintf("values N,D = %d,%d %v", s[0], s[1], dt)
				if causal {
					name += ", causal"
				}
				add(name, func(t *trial.T, f trial.Function) { values(t, f, s[0], s[1], dt, causal, 32) })
			}
		}
	}
	add("N = 2048, D = 64, causal, block 64", func(t *trial.T, f trial.Function) {
		q, k, v := draw(t, cuda.F16, 2048, 64)
		verify(t, f, q, k, v, true, 64)
	})
	add("uniform causal is the prefix average", func(t *trial.T, f trial.Function) {
		_, k, v := draw(t, cuda.F16, 65, 32)
		verify(t, f, t.From("q", cuda.F16, make([]float64, 65*32), 65, 32), k, v, true, 32)
	})
	add("large logits, the running maximum changes", func(t *trial.T, f trial.Function) {
		four := func(values []float64) []float64 {
			for i := range values {
				values[i] *= 4
			}
			return values
		}
		q, k := t.From("q", cuda.F16, four(t.Numbers(129, 64)), 129, 64), t.From("k", cuda.F16, four(t.Numbers(129, 64)), 129, 64)
		verify(t, f, q, k, t.Normal("v", cuda.F16, 129, 64), false, 64)
	})
	add("reject unsupported D", func(t *trial.T, f trial.Function) {
		q, k, v := draw(t, cuda.F16, 5, 24)
		t.Rejects("a D that is none of 16, 32 and 64 (24)", func() (*cuda.Tensor, error) { return f(trial.Tensors(q, k, v), options(false, 32)) })
	})
	add("reject unequal lengths", func(t *trial.T, f trial.Function) {
		q, k, _ := draw(t, cuda.F16, 5, 16)
		v := t.Normal("v", cuda.F16, 4, 16)
		t.Rejects("tensors of unequal lengths (5 and 4)", func() (*cuda.Tensor, error) { return f(trial.Tensors(q, k, v), options(false, 32)) })
	})
	list = append(list, trial.Stream(function, func(t *trial.T, f trial.Function) { values(t, f, 65, 32, cuda.F16, true, 32) }))
	return append(list, trial.Lifetimes(function, func(t *trial.T) []*trial.Input {
		q, k, v := draw(t, cuda.F16, 5, 16)
		return []*trial.Input{q, k, v}
	}, options(false, 32))...)
}

// more are checks of random shapes, types and options.
func more(n int, seed uint64) (list []workshops.NamedCheck) {
	r := rand.New(rand.NewPCG(seed, 6))
	for range n {
		n, d, dt := 1+r.IntN(300), 16<<r.IntN(3), []cuda.DType{cuda.F16, cuda.BF16}[r.IntN(2)]
		causal, block := r.IntN(2) == 1, 32<<r.IntN(2)
		name := fmt.Sprintf("more: N,D = %d,%d %v, causal %v, block %d", n, d, dt, causal, block)
		list = append(list, trial.Check(name, function, func(t *trial.T, f trial.Function) {
			q, k, v := draw(t, dt, n, d)
			verify(t, f, q, k, v, causal, block)
		}))
	}
	return list
}

package portfolio_test

import (
	"slices"
	"testing"

	"github.com/warpbook/warpbook/cuda"
	"github.com/warpbook/warpbook/workshops/portfolio"
	"github.com/warpbook/warpbook/workshops/trial"
)

// operator makes a call of a size, asserts its values and returns what came of it.
type operator struct {
	name string
	call func(t *trial.T, n int) *trial.Output
}

func operators() []operator {
	matrix := func(t *trial.T, name string, n int) *trial.Input { return t.Normal(name, cuda.F32, n, n) }
	vector := func(t *trial.T, name string, n int) *trial.Input { return t.Normal(name, cuda.F32, n) }
	return []operator{
		{"Add", func(t *trial.T, n int) *trial.Output { return verifyAdd(t, vector(t, "a", n), vector(t, "b", n)) }},
		{"RowSum", func(t *trial.T, n int) *trial.Output { return verifySums(t, matrix(t, "x", n)) }},
		{"RowSum of rows that are split", func(t *trial.T, n int) *trial.Output {
			return verifySums(t, t.Normal("x", cuda.F32, 2, 8192+n))
		}},
		{"Softmax", func(t *trial.T, n int) *trial.Output { return verifySoftmax(t, matrix(t, "x", n)) }},
		{"RMSNorm", func(t *trial.T, n int) *trial.Output {
			return verifyNorm(t, matrix(t, "x", n), matrix(t, "residual", n), vector(t, "weight", n), eps)
		}},
		{"MatMul", func(t *trial.T, n int) *trial.Output { return verifyProduct(t, matrix(t, "a", n), matrix(t, "b", n)) }},
		{"SoftmaxBackward", func(t *trial.T, n int) *trial.Output {
			return verifySoftmaxGradient(t, softmaxOf(t, cuda.F32, n, n), matrix(t, "g", n))
		}},
		{"RMSNormBackward", func(t *trial.T, n int) *trial.Output {
			dh, _ := verifyNormGradients(t, matrix(t, "g", n), matrix(t, "h", n), vector(t, "weight", n), 1e-2, 10)
			return dh
		}},
	}
}

// commonTests are the properties of all functions.
func commonTests() (list []test) {
	for _, o := range operators() {
		list = append(list,
			test{o.name + " launches on the current stream, which is not the default one", func(t *trial.T) { onStream(t, o) }},
			test{o.name + " reuses the compiled kernels for all sizes", func(t *trial.T) { reuses(t, o) }})
	}
	return append(list, test{"a stride beyond 32 bits, where there is no second row", func(t *trial.T) {
		far := t.View(t.Normal("x", cuda.F32, 3, 40), func(x *cuda.Tensor) (*cuda.Tensor, error) { return x.Slice(0, 1, 2, 1<<40) })
		verifySums(t, far)
		verifySoftmax(t, far)
		verifyProduct(t, far, t.Normal("b", cuda.F32, 40, 2))
	}})
}

// onStream asserts where launches go.
func onStream(t *trial.T, o operator) {
	t.OnStream(func() {
		y := o.call(t, 33)
		expect(t, y.Launches() > 0, "there are launches", y.Actions)
		for _, a := range y.Actions {
			expect(t, a.Kind != "launch" || a.Current && !a.Default, "every launch is on the current stream", a)
		}
	})
}

// reuses asserts that calls of all sizes launch the same kernels of one module, which is
// not compiled again.
func reuses(t *trial.T, o operator) {
	before := launched(o.call(t, 70))
	module, err := portfolio.Kernels.Module()
	must(t, err)
	for _, n := range []int{1, 33, 70} {
		now := launched(o.call(t, n))
		expect(t, slices.Equal(now, before), "the kernels are "+before[0]+" as for other sizes", now)
	}
	same, err := portfolio.Kernels.Module()
	must(t, err)
	expect(t, same == module, "the module is the one from before", same)
}

// launched are the kernels of a call, in order.
func launched(y *trial.Output) (names []string) {
	for _, a := range y.Actions {
		if a.Kind == "launch" {
			names = append(names, a.Kernel)
		}
	}
	return names
}

// TestGPUAndSimulator is what one GPU can show of two devices: their tensors do not mix.
func TestGPUAndSimulator(t *testing.T) {
	gpu, err := cuda.Open("gpu:0")
	if err != nil {
		t.Skip("device guard of a GPU and the simulator: there is no GPU:", err)
	}
	a, b := cuda.Must(gpu.Zeros(cuda.F32, 3)), cuda.Must(cuda.Must(cuda.Open("sim")).Zeros(cuda.F32, 3))
	if _, err := portfolio.Add(a, b); err == nil || err.Error() != "b is on sim; it must be where a is, on gpu:0" {
		t.Errorf("tensors of a GPU and the simulator: %v", err)
	}
}

// TestTwoGPUs is of the second GPU: work goes to where the tensors are, whatever was used
// before, and tensors of two devices are refused.
func TestTwoGPUs(t *testing.T) {
	zero, err := cuda.Open("gpu:0")
	if err != nil {
		t.Skip("two-GPU device guard: there is no GPU:", err)
	}
	one, err := cuda.Open("gpu:1")
	if err != nil {
		t.Skip("two-GPU device guard: there is one GPU:", err)
	}
	a, b := cuda.Must(zero.Full(cuda.F32, 1, 100)), cuda.Must(one.Full(cuda.F32, 2, 100))
	if _, err := portfolio.Add(a, b); err == nil || err.Error() != "b is on gpu:1; it must be where a is, on gpu:0" {
		t.Errorf("tensors of two GPUs: %v", err)
	}
	for _, c := range []struct {
		x           *cuda.Tensor
		here, other *cuda.Device
		want        float64
	}{{a, zero, one, 2}, {b, one, zero, 4}, {a, zero, one, 2}} {
		var y *cuda.Tensor
		var elsewhere []cuda.Action
		here, err := c.here.Trace(func() error {
			elsewhere, err = c.other.Trace(func() (err error) {
				y, err = portfolio.Add(c.x, c.x)
				return err
			})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if y.Device() != c.here || len(elsewhere) != 0 || len(here) == 0 {
			t.Errorf("a sum of tensors of %v is on %v; there the actions are %v, and %v on %v", c.here, y.Device(), here, elsewhere, c.other)
		}
		if v, err := y.At(99); err != nil || v != c.want {
			t.Errorf("the sum on %v is %v, %v", c.here, v, err)
		}
	}
}

package portfolio_test

import (
	"math"
	"testing"

	"github.com/warpbook/warpbook/cuda"
	"github.com/warpbook/warpbook/workshops"
	"github.com/warpbook/warpbook/workshops/portfolio"
	"github.com/warpbook/warpbook/workshops/trial"
	"github.com/warpbook/warpbook/workshops/trial/trialtest"
)

func TestMain(m *testing.M) { trialtest.Main(m) }

func TestShipped(t *testing.T) {
	trialtest.Kept(t, ".", workshops.File{Name: "portfolio.cu", Text: portfolio.Source})
}

// test is a property. Of every call that it makes, trial's T also asserts what holds for
// all: the output is new, contiguous and whole, nothing else is written, and the
// simulator has no findings.
type test struct {
	name string
	run  func(t *trial.T)
}

// TestPortfolio runs every test on the device that WARPBOOK_TEST_DEVICE names. All of
// them run on the simulator: TestPortfolio/sim is its suite.
func TestPortfolio(t *testing.T) {
	t.Run(trialtest.Device(), func(t *testing.T) {
		for _, group := range []struct {
			operator string
			tests    []test
		}{
			{"Add", addTests()},
			{"RowSum", rowSumTests()},
			{"Softmax", softmaxTests()},
			{"RMSNorm", rmsNormTests()},
			{"MatMul", matMulTests()},
			{"SoftmaxBackward", softmaxBackwardTests()},
			{"RMSNormBackward", rmsNormBackwardTests()},
			{"all", commonTests()},
			{"rejects", rejectTests()},
		} {
			t.Run(group.operator, func(t *testing.T) {
				for _, c := range group.tests {
					t.Run(c.name, func(t *testing.T) {
						if err := trial.Run(trialtest.Context(t), trial.Seed, c.run); err != nil {
							t.Error(err)
						}
					})
				}
			})
		}
	})
}

// eachType makes a test for each element type.
func eachType(name string, run func(*trial.T, cuda.DType)) (list []test) {
	for _, d := range trial.DTypes() {
		list = append(list, test{d.String() + " " + name, func(t *trial.T) { run(t, d) }})
	}
	return list
}

// widths are those at which threads, warps, blocks and chunks begin or end.
func widths() []int { return []int{1, 31, 32, 33, 1023, 1024, 1025, 2051} }

// first and second are one output of a call that has two.
func first(a, _ *cuda.Tensor, err error) (*cuda.Tensor, error)  { return a, err }
func second(_, b *cuda.Tensor, err error) (*cuda.Tensor, error) { return b, err }

// both calls a function with two outputs, once, and asserts of each what Call does. The
// actions of the call are the first output's.
func both(t *trial.T, name string, want1, want2 trial.Want, call func() (*cuda.Tensor, *cuda.Tensor, error)) (one, two *trial.Output) {
	var other *cuda.Tensor
	one = t.Call(name, want1, func() (y *cuda.Tensor, err error) {
		y, other, err = call()
		return y, err
	})
	two = t.Call(name, want2, func() (*cuda.Tensor, error) { return other, nil })
	return one, two
}

// rounding is how far a result may be from the exact one, rounded: a few units in the
// last place of the type, and as much of a small number beside larger ones.
func rounding(d cuda.DType) trial.Tolerance {
	switch d {
	case cuda.F16:
		return trial.Tolerance{Abs: 2e-4, Rel: 2e-3}
	case cuda.BF16:
		return trial.Tolerance{Abs: 2e-3, Rel: 1.6e-2}
	}
	return trial.Tolerance{Abs: 2e-6, Rel: 1e-5}
}

// probability is rounding for numbers that are small beside 1.
func probability(d cuda.DType) trial.Tolerance {
	if d == cuda.F32 {
		return trial.Tolerance{Abs: 1e-9, Rel: 1e-5}
	}
	return trial.Tolerance{Abs: 1e-7, Rel: rounding(d).Rel}
}

// exact asserts that values are the expected ones to the last bit, NaN included.
func exact(t *trial.T, property string, got, want []float64) {
	if len(got) != len(want) {
		t.Fail(&workshops.Failure{Property: property, Expected: len(want), Actual: len(got), Detail: "these are numbers of elements"})
	}
	for i := range got {
		same := math.Float64bits(got[i]) == math.Float64bits(want[i])
		if !same && !(math.IsNaN(got[i]) && math.IsNaN(want[i])) {
			t.Fail(&workshops.Failure{Property: property, Index: []int{i}, Expected: want[i], Actual: got[i]})
		}
	}
}

// must ends a test with an error.
func must(t *trial.T, err error) {
	if err != nil {
		t.Fail(&workshops.Failure{Property: "what the test needs can be made", Detail: err.Error()})
	}
}

// expect ends a test when something does not hold.
func expect(t *trial.T, holds bool, property string, actual any) {
	if !holds {
		t.Fail(&workshops.Failure{Property: property, Expected: true, Actual: actual})
	}
}

// full is a list of n times v.
func full(v float64, n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = v
	}
	return list
}

// scaled is a list times a number.
func scaled(list []float64, by float64) []float64 {
	out := make([]float64, len(list))
	for i, v := range list {
		out[i] = v * by
	}
	return out
}

// transposed, everyOther and repeated are views: of a matrix with rows and columns
// exchanged, of all rows and every second column from the second on, and of one row as
// many.
func transposed(x *cuda.Tensor) (*cuda.Tensor, error) { return x.T(), nil }
func everyOther(x *cuda.Tensor) (*cuda.Tensor, error) {
	return x.Slice(1, 1, x.Shape()[1], 2)
}
func repeated(rows int) func(*cuda.Tensor) (*cuda.Tensor, error) {
	return func(x *cuda.Tensor) (*cuda.Tensor, error) { return x.Broadcast(rows, x.Shape()[1]) }
}

// column is the view of one column of a matrix, a vector.
func column(c int) func(*cuda.Tensor) (*cuda.Tensor, error) {
	return func(x *cuda.Tensor) (*cuda.Tensor, error) { return x.T().Row(c) }
}

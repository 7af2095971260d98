package portfolio_test

import (
	"math"
	"strings"

	"github.com/warpbook/warpbook/cuda"
	"github.com/warpbook/warpbook/workshops"
	"github.com/warpbook/warpbook/workshops/portfolio"
	"github.com/warpbook/warpbook/workshops/trial"
)

// inputs makes tensors of a test's device.
type inputs struct{ t *trial.T }

// of makes a tensor of zeros.
func (in inputs) of(d cuda.DType, shape ...int) *cuda.Tensor {
	x, err := in.t.Dev.Zeros(d, shape...)
	must(in.t, err)
	return x
}

// f32 makes one of f32.
func (in inputs) f32(shape ...int) *cuda.Tensor { return in.of(cuda.F32, shape...) }

// wide is one row of so many columns, in one element's memory.
func (in inputs) wide(columns int) *cuda.Tensor {
	x, err := in.f32(1, 1).Broadcast(1, columns)
	must(in.t, err)
	return x
}

// rejection is a call that must give this error before anything is launched.
type rejection struct {
	name string
	call func(in inputs) (*cuda.Tensor, error)
	want string
}

func rejectTests() (list []test) {
	for _, r := range append(append(rejectedTensors(), rejectedPairs()...), rejectedNorms()...) {
		list = append(list, test{r.name, func(t *trial.T) {
			var err error
			t.Rejects(r.name, func() (y *cuda.Tensor, _ error) {
				y, err = r.call(inputs{t})
				return y, err
			})
			if !strings.Contains(err.Error(), r.want) {
				t.Fail(&workshops.Failure{Property: "the error names the argument and the limit", Expected: r.want, Actual: err.Error()})
			}
		}})
	}
	return list
}

// rejectedTensors are those that no function takes.
func rejectedTensors() []rejection {
	return []rejection{
		{"no tensor", func(in inputs) (*cuda.Tensor, error) { return portfolio.Softmax(nil) }, "x is nil; it must be a tensor"},
		{"a released tensor", func(in inputs) (*cuda.Tensor, error) {
			x := in.f32(2, 3)
			must(in.t, x.Release())
			return portfolio.RowSum(x)
		}, "x: "},
		{"a tensor in the host's memory", func(in inputs) (*cuda.Tensor, error) {
			x, err := cuda.Host(cuda.F32, full(1, 6), 2, 3)
			must(in.t, err)
			return portfolio.MatMul(in.f32(2, 2), x)
		}, "b is in the host's memory; it must be on a device, where To copies it"},
		{"a vector for a matrix", func(in inputs) (*cuda.Tensor, error) { return portfolio.RowSum(in.f32(3)) }, "x has 1 dimensions; it must have 2"},
		{"a matrix for a vector", func(in inputs) (*cuda.Tensor, error) { return portfolio.Add(in.f32(3), in.f32(1, 3)) }, "b has 2 dimensions; it must have 1"},
		{"elements of f64", func(in inputs) (*cuda.Tensor, error) { return portfolio.Softmax(in.of(cuda.F64, 2, 3)) },
			"x has elements of f64; they must be f32, f16 or bf16"},
		{"a row wider than 2^20 in RowSum", func(in inputs) (*cuda.Tensor, error) { return portfolio.RowSum(in.wide(1<<20 + 1)) },
			"x has 1048577 columns; it must have at most 1048576"},
		{"a row wider than 2^20 in Softmax", func(in inputs) (*cuda.Tensor, error) { return portfolio.Softmax(in.wide(1<<20 + 1)) },
			"x has 1048577 columns; it must have at most 1048576"},
		{"a row wider than 2^20 in MatMul", func(in inputs) (*cuda.Tensor, error) {
			return portfolio.MatMul(in.f32(2, 1), in.wide(1<<20+1))
		}, "b has 1048577 columns; it must have at most 1048576"},
	}
}

// rejectedPairs are tensors that do not fit each other.
func rejectedPairs() []rejection {
	return []rejection{
		{"vectors of two lengths", func(in inputs) (*cuda.Tensor, error) { return portfolio.Add(in.f32(3), in.f32(4)) },
			"b has the shape [4]; it must be that of a, [3]"},
		{"vectors of two types", func(in inputs) (*cuda.Tensor, error) { return portfolio.Add(in.f32(3), in.of(cuda.F16, 3)) },
			"b has elements of f16; they must be of a's type, f32"},
		{"a product whose inner lengths differ", func(in inputs) (*cuda.Tensor, error) { return portfolio.MatMul(in.f32(2, 3), in.f32(4, 2)) },
			"b has 4 rows; it must have as many as a has columns, 3"},
		{"a product of two types", func(in inputs) (*cuda.Tensor, error) {
			return portfolio.MatMul(in.of(cuda.BF16, 2, 3), in.of(cuda.F16, 3, 2))
		}, "b has elements of f16; they must be of a's type, bf16"},
		{"a gradient of another shape", func(in inputs) (*cuda.Tensor, error) {
			return portfolio.SoftmaxBackward(in.f32(2, 3), in.f32(3, 2))
		}, "g has the shape [3 2]; it must be that of y, [2 3]"},
		{"a gradient of another type", func(in inputs) (*cuda.Tensor, error) {
			return portfolio.SoftmaxBackward(in.f32(2, 3), in.of(cuda.BF16, 2, 3))
		}, "g has elements of bf16; they must be of y's type, f32"},
	}
}

// rejectedNorms are what RMSNorm and its gradient do not take.
func rejectedNorms() []rejection {
	norm := func(in inputs, eps float64) (*cuda.Tensor, error) {
		return first(portfolio.RMSNorm(in.f32(2, 3), in.f32(2, 3), in.f32(3), eps))
	}
	const limits = "; it must be from 1e-30 to 1"
	return []rejection{
		{"a residual of another shape", func(in inputs) (*cuda.Tensor, error) {
			return first(portfolio.RMSNorm(in.f32(2, 3), in.f32(1, 3), in.f32(3), eps))
		}, "residual has the shape [1 3]; it must be that of x, [2 3]"},
		{"a weight of another length", func(in inputs) (*cuda.Tensor, error) {
			return first(portfolio.RMSNorm(in.f32(2, 3), in.f32(2, 3), in.f32(2), eps))
		}, "weight has 2 elements; it must have as many as x has columns, 3"},
		{"a weight of another type", func(in inputs) (*cuda.Tensor, error) {
			return first(portfolio.RMSNormBackward(in.f32(2, 3), in.f32(2, 3), in.of(cuda.F16, 3), eps))
		}, "weight has elements of f16; they must be of g's type, f32"},
		{"an h of another shape", func(in inputs) (*cuda.Tensor, error) {
			return second(portfolio.RMSNormBackward(in.f32(2, 3), in.f32(2, 4), in.f32(3), eps))
		}, "h has the shape [2 4]; it must be that of g, [2 3]"},
		{"eps of 0", func(in inputs) (*cuda.Tensor, error) { return norm(in, 0) }, "eps is 0" + limits},
		{"eps below 0", func(in inputs) (*cuda.Tensor, error) { return norm(in, -1e-5) }, "eps is -1e-05" + limits},
		{"eps that is NaN", func(in inputs) (*cuda.Tensor, error) { return norm(in, math.NaN()) }, "eps is NaN" + limits},
		{"eps above 1", func(in inputs) (*cuda.Tensor, error) { return norm(in, 2) }, "eps is 2" + limits},
	}
}

// Package portfolio is the base operators that the lessons lean on, as kernels that are
// written to be read (portfolio.cu) with a Go function for each: vector add, row sum,
// softmax, residual RMSNorm and matrix product, and the gradients of softmax and RMSNorm.
//
// The model: a function takes tensors of one device and one element type, f32, f16 or
// bf16, which may be any view: slices, transposes and broadcasts are read where they lie.
// It looks at what its arguments are, never at their values, and returns an error that
// names the argument and the limit before it launches anything. Outputs are new and
// contiguous, inputs stay as they are, and work is queued on the device's current stream
// without waiting for it. Kernels compute in float and round once.
//
// Sizes and strides are arguments of a kernel, so one compiled kernel serves them all.
// Any dimension may be 0: an empty output launches nothing. Matrices have at most
// MaxColumns columns: rows are looped over by one block, and for RowSum split.
package portfolio

import (
	_ "embed" // for the kernels
	"fmt"
	"slices"
	"sync"

	"github.com/warpbook/warpbook/cuda"
)

// MaxColumns is the widest row of a matrix.
const MaxColumns = 1 << 20

//go:embed portfolio.cu
var source string

// shipped is for machines without NVRTC.
//
//go:embed portfolio.ptx
var shipped string

var kernels = cuda.NewSource("portfolio.cu", source)

// ship makes the kept PTX known, once.
var ship = sync.OnceValue(func() error { return cuda.Ship(shipped) })

// element is how kernels' names spell the type, and "" for a type without kernels.
func element(t cuda.DType) string {
	switch t {
	case cuda.F32:
		return "float"
	case cuda.F16:
		return "__half"
	case cuda.BF16:
		return "__nv_bfloat16"
	}
	return ""
}

// launch queues a kernel for elements of type t. A []int among the arguments, which is
// what strides returns, stands for as many numbers.
func launch(name string, t cuda.DType, c cuda.Config, args ...any) error {
	if err := ship(); err != nil {
		return fmt.Errorf("portfolio.ptx cannot be used: %w; go test ./workshops/portfolio -run TestShipped -update makes it anew", err)
	}
	kernel, err := kernels.Kernel(fmt.Sprintf("%s<%s>", name, element(t)))
	if err != nil {
		return err
	}
	var flat []any
	for _, arg := range args {
		list, ok := arg.([]int)
		if !ok {
			flat = append(flat, arg)
		}
		for _, n := range list {
			flat = append(flat, n)
		}
	}
	return kernel.Launch(c, flat...)
}

// strides are a tensor's strides as kernels take them. That of a dimension without a
// second element never matters, and is 0: a view's own may not fit 32 bits there.
func strides(x *cuda.Tensor) []int {
	s := x.Strides()
	for i, n := range x.Shape() {
		if n <= 1 {
			s[i] = 0
		}
	}
	return s
}

// perRow has a block for each row, with a thread for each column up to what a block can
// have, in whole warps, as block_sum wants it.
func perRow(rows, columns int) cuda.Config {
	threads := min(max(ceil(columns, 32)*32, 32), 1024)
	return cuda.Config{Grid: cuda.D(rows), Block: cuda.D(threads)}
}

// ceil is n/d, rounded up.
func ceil(n, d int) int { return (n + d - 1) / d }

// argument is a tensor with the name that errors call it by.
type argument struct {
	name string
	*cuda.Tensor
}

// usable says why the tensor is none with so many dimensions that a kernel can take.
func (a argument) usable(dimensions int) error {
	if a.Tensor == nil {
		return fmt.Errorf("%s is nil; it must be a tensor", a.name)
	}
	if err := a.Err(); err != nil {
		return fmt.Errorf("%s: %w", a.name, err)
	}
	if a.IsHost() {
		return fmt.Errorf("%s is in the host's memory; it must be on a device, where To copies it", a.name)
	}
	if n := len(a.Shape()); n != dimensions {
		return fmt.Errorf("%s has %d dimensions; it must have %d", a.name, n, dimensions)
	}
	if element(a.DType()) == "" {
		return fmt.Errorf("%s has elements of %v; they must be f32, f16 or bf16", a.name, a.DType())
	}
	return nil
}

// matrix is usable for a matrix, whose width is limited.
func (a argument) matrix() error {
	if err := a.usable(2); err != nil {
		return err
	}
	if columns := a.Shape()[1]; columns > MaxColumns {
		return fmt.Errorf("%s has %d columns; it must have at most %d", a.name, columns, MaxColumns)
	}
	return nil
}

// vector is usable for a vector.
func (a argument) vector() error { return a.usable(1) }

// with says why the tensor cannot be used together with another one.
func (a argument) with(other argument) error {
	if a.Device() != other.Device() {
		return fmt.Errorf("%s is on %v; it must be where %s is, on %v", a.name, a.Device(), other.name, other.Device())
	}
	if a.DType() != other.DType() {
		return fmt.Errorf("%s has elements of %v; they must be of %s's type, %v", a.name, a.DType(), other.name, other.DType())
	}
	return nil
}

// like says why the tensor is not such a one as another: of its shape, type and device.
func (a argument) like(other argument) error {
	if err := a.with(other); err != nil {
		return err
	}
	if !slices.Equal(a.Shape(), other.Shape()) {
		return fmt.Errorf("%s has the shape %v; it must be that of %s, %v", a.name, a.Shape(), other.name, other.Shape())
	}
	return nil
}

// pair checks two matrices of one shape.
func pair(a, b argument) error {
	if err := a.matrix(); err != nil {
		return err
	}
	if err := b.matrix(); err != nil {
		return err
	}
	return b.like(a)
}

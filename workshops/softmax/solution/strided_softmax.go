// Package exercise is the reference solution of the workshop strided_softmax.
package exercise

import (
	_ "embed" // for the kernels
	"fmt"
	"math"

	"github.com/warpbook/warpbook/cuda"
)

//go:embed strided_softmax.cu
var source string

var kernels = cuda.NewSource("strided_softmax.cu", source)

// MaxColumns is the widest row.
const MaxColumns = 8192

// Options are those of Softmax.
type Options struct {
	NumWarps int // of a block: 4 or 8
}

// Softmax returns the softmax of each row of x, a matrix of f32, f16 or bf16 with any
// strides, as a new contiguous tensor of the same shape and type.
func Softmax(x *cuda.Tensor, o Options) (*cuda.Tensor, error) {
	if err := check(x, o); err != nil {
		return nil, err
	}
	rows, columns := x.Shape()[0], x.Shape()[1]
	y, err := x.Device().Empty(x.DType(), rows, columns)
	if err != nil || rows == 0 {
		return y, err
	}
	kernel, err := kernels.Kernel("softmax_" + x.DType().String())
	if err != nil {
		return nil, err
	}
	c := cuda.Config{Grid: cuda.D(rows), Block: cuda.D(32 * o.NumWarps), Shared: 4 * columns}
	return y, kernel.Launch(c, x, y, columns, x.Strides()[0], x.Strides()[1])
}

// check says what is wrong with the arguments. It looks at what x is, never at its values.
func check(x *cuda.Tensor, o Options) error {
	if err := x.Err(); err != nil {
		return fmt.Errorf("x: %w", err)
	}
	if x.IsHost() {
		return fmt.Errorf("x is in the host's memory; it must be on a device")
	}
	if len(x.Shape()) != 2 {
		return fmt.Errorf("x has %d dimensions; it must have 2", len(x.Shape()))
	}
	if d := x.DType(); d != cuda.F32 && d != cuda.F16 && d != cuda.BF16 {
		return fmt.Errorf("x has elements of %v; they must be f32, f16 or bf16", d)
	}
	rows, columns := x.Shape()[0], x.Shape()[1]
	if columns < 1 || columns > MaxColumns {
		return fmt.Errorf("x has %d columns; it must have 1 to %d", columns, MaxColumns)
	}
	if o.NumWarps != 4 && o.NumWarps != 8 {
		return fmt.Errorf("NumWarps is %d; it must be 4 or 8", o.NumWarps)
	}
	if last := (rows-1)*x.Strides()[0] + (columns-1)*x.Strides()[1]; rows > 0 && last > math.MaxInt32 {
		return fmt.Errorf("x reaches %d elements far; an index must fit 32 bits", last)
	}
	if rows*columns > math.MaxInt32 {
		return fmt.Errorf("the output has %d elements; an index must fit 32 bits", rows*columns)
	}
	return nil
}

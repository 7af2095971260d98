// Package exercise is the reference solution of the workshop softmax_backward.
package exercise

import (
	_ "embed" // for the kernels
	"fmt"
	"math"

	"github.com/warpbook/warpbook/cuda"
)

//go:embed softmax_backward.cu
var source string

var kernels = cuda.NewSource("softmax_backward.cu", source)

// MaxColumns is the widest row.
const MaxColumns = 8192

// Options are those of Backward.
type Options struct {
	NumWarps int // of a block: 4 or 8
}

// Backward returns the gradient of the softmax's input, y*(g - sum(y*g)) for each row,
// from the softmax y and the gradient g of its output: matrices of one shape and type,
// f32, f16 or bf16, each with any strides.
func Backward(y, g *cuda.Tensor, o Options) (*cuda.Tensor, error) {
	if err := check("y", y); err != nil {
		return nil, err
	}
	if err := check("g", g); err != nil {
		return nil, err
	}
	rows, columns := y.Shape()[0], y.Shape()[1]
	switch {
	case g.Shape()[0] != rows || g.Shape()[1] != columns:
		return nil, fmt.Errorf("g has the shape %v; it must be that of y, %v", g.Shape(), y.Shape())
	case g.DType() != y.DType():
		return nil, fmt.Errorf("g has elements of %v; they must be of y's type, %v", g.DType(), y.DType())
	case g.Device() != y.Device():
		return nil, fmt.Errorf("g is on %v; it must be where y is, on %v", g.Device(), y.Device())
	case o.NumWarps != 4 && o.NumWarps != 8:
		return nil, fmt.Errorf("NumWarps is %d; it must be 4 or 8", o.NumWarps)
	}
	dx, err := y.Device().Empty(y.DType(), rows, columns)
	if err != nil || rows == 0 {
		return dx, err
	}
	kernel, err := kernels.Kernel("backward_" + y.DType().String())
	if err != nil {
		return nil, err
	}
	c := cuda.Config{Grid: cuda.D(rows), Block: cuda.D(32 * o.NumWarps)}
	return dx, kernel.Launch(c, y, g, dx, columns, y.Strides()[0], y.Strides()[1], g.Strides()[0], g.Strides()[1])
}

// check says what is wrong with one of the matrices. It looks at what it is, never at
// its values.
func check(name string, x *cuda.Tensor) error {
	if err := x.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if x.IsHost() {
		return fmt.Errorf("%s is in the host's memory; it must be on a device", name)
	}
	if len(x.Shape()) != 2 {
		return fmt.Errorf("%s has %d dimensions; it must have 2", name, len(x.Shape()))
	}
	if d := x.DType(); d != cuda.F32 && d != cuda.F16 && d != cuda.BF16 {
		return fmt.Errorf("%s has elements of %v; they must be f32, f16 or bf16", name, d)
	}
	rows, columns := x.Shape()[0], x.Shape()[1]
	if columns < 1 || columns > MaxColumns {
		return fmt.Errorf("%s has %d columns; it must have 1 to %d", name, columns, MaxColumns)
	}
	if last := (rows-1)*x.Strides()[0] + (columns-1)*x.Strides()[1]; rows > 0 && last > math.MaxInt32 {
		return fmt.Errorf("%s reaches %d elements far; an index must fit 32 bits", name, last)
	}
	if rows*columns > math.MaxInt32 {
		return fmt.Errorf("the output has %d elements; an index must fit 32 bits", rows*columns)
	}
	return nil
}

// Package exercise is the reference solution of the workshop split_softmax.
package exercise

import (
	_ "embed" // for the kernels
	"errors"
	"fmt"
	"math"

	"github.com/warpbook/warpbook/cuda"
)

//go:embed split_softmax.cu
var source string

var kernels = cuda.NewSource("split_softmax.cu", source)

// MaxColumns is the widest row.
const MaxColumns = 131072

// Options are those of Softmax.
type Options struct {
	ChunkSize int // columns that a block has: 256, 1024 or 4096; 0 is 1024
}

const threads = 256 // of a block

// Softmax returns the softmax of each row of x, a contiguous matrix of f32, f16 or bf16,
// as a new tensor of the same shape and type.
func Softmax(x *cuda.Tensor, o Options) (*cuda.Tensor, error) {
	if o.ChunkSize == 0 {
		o.ChunkSize = 1024
	}
	if err := check(x, o); err != nil {
		return nil, err
	}
	rows, columns := x.Shape()[0], x.Shape()[1]
	y, err := x.Device().Empty(x.DType(), rows, columns)
	if err != nil || rows == 0 {
		return y, err
	}
	return y, launch(x, y, rows, columns, o.ChunkSize)
}

// launch queues the three kernels. The scratch memory is this call's own, and given back
// behind them.
func launch(x, y *cuda.Tensor, rows, columns, chunk int) error {
	summarize, err := kernels.Kernel("summarize_" + x.DType().String())
	if err != nil {
		return err
	}
	merge, err := kernels.Kernel("merge")
	if err != nil {
		return err
	}
	normalize, err := kernels.Kernel("normalize_" + x.DType().String())
	if err != nil {
		return err
	}
	chunks := (columns + chunk - 1) / chunk
	top, err := x.Device().Empty(cuda.F32, rows, chunks)
	if err != nil {
		return err
	}
	sum, err := x.Device().Empty(cuda.F32, rows, chunks)
	if err != nil {
		return err
	}
	every := cuda.Config{Grid: cuda.D(rows * chunks), Block: cuda.D(threads)}
	return errors.Join(
		summarize.Launch(every, x, top, sum, columns, chunk, chunks),
		merge.Launch(cuda.Config{Grid: cuda.D(rows), Block: cuda.D(threads)}, top, sum, chunks),
		normalize.Launch(every, x, y, top, sum, columns, chunk, chunks),
		top.Release(), sum.Release())
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
	if !x.IsContiguous() {
		return fmt.Errorf("x has strides %v; it must be contiguous", x.Strides())
	}
	if rows*columns > math.MaxInt32 {
		return fmt.Errorf("x has %d elements; an index must fit 32 bits", rows*columns)
	}
	if c := o.ChunkSize; c != 256 && c != 1024 && c != 4096 {
		return fmt.Errorf("ChunkSize is %d; it must be 256, 1024 or 4096", c)
	}
	return nil
}

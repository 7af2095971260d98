// Package exercise is your work on the workshop softmax_backward: the kernel in
// softmax_backward.cu, and the function that launches it. Run
//
//	warpbook check softmax_backward
package exercise

import (
	_ "embed" // for the kernels

	"github.com/warpbook/warpbook/cuda"
	"github.com/warpbook/warpbook/workshops"
)

//go:embed softmax_backward.cu
var source string

// The kernels are compiled when the first one is asked for.
var kernels = cuda.NewSource("softmax_backward.cu", source)

// Options are those of Backward.
type Options struct {
	NumWarps int // of a block: 4 or 8
}

// Backward returns the gradient of the softmax's input, y*(g - sum(y*g)) for each row,
// from the softmax y and the gradient g of its output: matrices of one shape and type,
// f32, f16 or bf16, each with any strides. Rows have 1 to 8192 columns.
func Backward(y, g *cuda.Tensor, o Options) (*cuda.Tensor, error) {
	// 1. Reject what the kernel cannot do, for y and for g, and g when its shape, type or
	//    device is not y's.
	// 2. Make the output. Without rows there is nothing to launch.
	// 3. Launch "backward_" + y.DType().String(): a block for each row.
	return nil, workshops.TODO("Backward")
}

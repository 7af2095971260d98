// Package exercise is your work on the workshop strided_softmax: the kernel in
// strided_softmax.cu, and the function that launches it. Run
//
//	warpbook check strided_softmax
package exercise

import (
	_ "embed" // for the kernels

	"github.com/warpbook/warpbook/cuda"
	"github.com/warpbook/warpbook/workshops"
)

//go:embed strided_softmax.cu
var source string

// The kernels are compiled when the first one is asked for.
var kernels = cuda.NewSource("strided_softmax.cu", source)

// Options are those of Softmax.
type Options struct {
	NumWarps int // of a block: 4 or 8
}

// Softmax returns the softmax of each row of x, a matrix of f32, f16 or bf16 with any
// strides, as a new contiguous tensor of the same shape and type. Rows have 1 to 8192
// columns; there may be none of them.
func Softmax(x *cuda.Tensor, o Options) (*cuda.Tensor, error) {
	// 1. Reject what the kernel cannot do, with an error that names the argument and
	//    the limit: x.Err(), x.IsHost(), len(x.Shape()), x.DType(), the number of
	//    columns, o.NumWarps.
	// 2. Make the output: x.Device().Empty(x.DType(), rows, columns). Without rows
	//    there is nothing to launch.
	// 3. Find the kernel for the type: kernels.Kernel("softmax_" + x.DType().String()).
	// 4. Launch it: a block for each row, with 32 * o.NumWarps threads. The strides are
	//    x.Strides()[0] and x.Strides()[1]; the kernel gets x as it is, so the offset of
	//    a view is in its address already.
	return nil, workshops.TODO("Softmax")
}

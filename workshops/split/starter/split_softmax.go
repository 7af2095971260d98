// Package exercise is your work on the workshop split_softmax: the kernels in
// split_softmax.cu, and the function that launches them. Run
//
//	warpbook check split_softmax
package exercise

import (
	_ "embed" // for the kernels

	"github.com/warpbook/warpbook/cuda"
	"github.com/warpbook/warpbook/workshops"
)

//go:embed split_softmax.cu
var source string

// The kernels are compiled when the first one is asked for.
var kernels = cuda.NewSource("split_softmax.cu", source)

// Options are those of Softmax.
type Options struct {
	ChunkSize int // columns that a block has: 256, 1024 or 4096; 0 is 1024
}

// Softmax returns the softmax of each row of x, a contiguous matrix of f32, f16 or bf16,
// as a new tensor of the same shape and type. Rows have 1 to 131072 columns.
func Softmax(x *cuda.Tensor, o Options) (*cuda.Tensor, error) {
	// 1. Reject what the kernels cannot do; 0 for ChunkSize means 1024.
	// 2. Make the output, and scratch memory of this call's own: two f32 tensors of
	//    rows x chunks. Without rows there is nothing to launch.
	// 3. Launch "summarize_" + type on rows*chunks blocks, "merge" on rows blocks and
	//    "normalize_" + type on rows*chunks blocks. They are done in this order, because
	//    they go to one stream.
	// 4. Release the scratch memory: it is given back behind the launches.
	return nil, workshops.TODO("Softmax")
}

// Package exercise is your work on the workshop streaming_attention: the kernel in
// streaming_attention.cu, and the function that launches it. Run
//
//	warpbook check streaming_attention
package exercise

import (
	_ "embed" // for the kernels

	"github.com/warpbook/warpbook/cuda"
	"github.com/warpbook/warpbook/workshops"
)

//go:embed streaming_attention.cu
var source string

// The kernels are compiled when the first one is asked for.
var kernels = cuda.NewSource("streaming_attention.cu", source)

// Options are those of Attention.
type Options struct {
	Causal bool // query i sees keys 0 to i only
	BlockN int  // keys a step: 32 or 64; 0 is 32
}

// Attention returns softmax(Q*K'/sqrt(D))*V for contiguous Q, K and V[N,D] of f16 or bf16
// as a new tensor. D is 16, 32 or 64, and N is 0 to 2048.
func Attention(q, k, v *cuda.Tensor, o Options) (*cuda.Tensor, error) {
	// 1. 0 for BlockN means 32. Reject what the kernel cannot do: q, k and v must be of
	//    one shape, type and device.
	// 2. Make the output. Without rows there is nothing to launch.
	// 3. Launch fmt.Sprintf("attention_%v_%d_%d", q.DType(), d, o.BlockN) on one block of
	//    128 threads for each 64 queries, with the scale 1/math.Sqrt(float64(d)).
	return nil, workshops.TODO("Attention")
}

// Package exercise is your work on the workshop fused_gemm: the kernel in fused_gemm.cu,
// and the function that launches it. Run
//
//	warpbook check fused_gemm
package exercise

import (
	_ "embed" // for the kernels

	"github.com/warpbook/warpbook/cuda"
	"github.com/warpbook/warpbook/workshops"
)

//go:embed fused_gemm.cu
var source string

// The kernels are compiled when the first one is asked for.
var kernels = cuda.NewSource("fused_gemm.cu", source)

// Options are those of MatmulBiasReLU.
type Options struct {
	GroupM int // tiles below each other that come first: 1, 4 or 8; 0 is 4
	TileM  int // rows of C that a block makes: 16, 32 or 64; 0 is 32
}

// MatmulBiasReLU returns relu(A*B + bias) for contiguous A[M,K], B[K,N] and bias[N] of
// f16 or bf16: computed in float and rounded once. Any dimension may be 0; K = 0 still
// gives relu(bias).
func MatmulBiasReLU(a, b, bias *cuda.Tensor, o Options) (*cuda.Tensor, error) {
	// 1. Put the defaults in for options that are 0, and reject what the kernel cannot do.
	// 2. Make the output, [M,N]. When it is empty there is nothing to launch.
	// 3. Launch fmt.Sprintf("gemm_%v_%d", a.DType(), o.TileM) on one block of 128 threads
	//    for each tile of o.TileM x 64 elements.
	return nil, workshops.TODO("MatmulBiasReLU")
}

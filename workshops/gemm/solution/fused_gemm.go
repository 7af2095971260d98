// Package exercise is the reference solution of the workshop fused_gemm.
package exercise

import (
	_ "embed" // for the kernels
	"fmt"
	"math"

	"github.com/warpbook/warpbook/cuda"
)

//go:embed fused_gemm.cu
var source string

var kernels = cuda.NewSource("fused_gemm.cu", source)

// Options are those of MatmulBiasReLU.
type Options struct {
	GroupM int // tiles below each other that come first: 1, 4 or 8; 0 is 4
	TileM  int // rows of C that a block makes: 16, 32 or 64; 0 is 32
}

const (
	tileN   = 64  // columns of C that a block makes, as in the kernel
	threads = 128 // of a block
)

// MatmulBiasReLU returns relu(A*B + bias) for contiguous A[M,K], B[K,N] and bias[N] of
// f16 or bf16: computed in float and rounded once. Any dimension may be 0.
func MatmulBiasReLU(a, b, bias *cuda.Tensor, o Options) (*cuda.Tensor, error) {
	if o.GroupM == 0 {
		o.GroupM = 4
	}
	if o.TileM == 0 {
		o.TileM = 32
	}
	if err := check(a, b, bias, o); err != nil {
		return nil, err
	}
	m, k, n := a.Shape()[0], a.Shape()[1], b.Shape()[1]
	c, err := a.Device().Empty(a.DType(), m, n)
	if err != nil || m == 0 || n == 0 {
		return c, err
	}
	kernel, err := kernels.Kernel(fmt.Sprintf("gemm_%v_%d", a.DType(), o.TileM))
	if err != nil {
		return nil, err
	}
	tiles := (m + o.TileM - 1) / o.TileM * ((n + tileN - 1) / tileN)
	return c, kernel.Launch(cuda.Config{Grid: cuda.D(tiles), Block: cuda.D(threads)}, a, b, bias, c, m, n, k, o.GroupM)
}

// check says what is wrong with the arguments. It looks at what tensors are, never at
// their values.
func check(a, b, bias *cuda.Tensor, o Options) error {
	if err := operand("a", a, 2, a); err != nil {
		return err
	}
	if err := operand("b", b, 2, a); err != nil {
		return err
	}
	if err := operand("bias", bias, 1, a); err != nil {
		return err
	}
	m, k, n := a.Shape()[0], a.Shape()[1], b.Shape()[1]
	switch {
	case b.Shape()[0] != k:
		return fmt.Errorf("b has %d rows; it must have as many as a has columns, %d", b.Shape()[0], k)
	case bias.Shape()[0] != n:
		return fmt.Errorf("bias has %d elements; it must have as many as b has columns, %d", bias.Shape()[0], n)
	case m*n > math.MaxInt32:
		return fmt.Errorf("the output has %d elements; an index must fit 32 bits", m*n)
	case o.GroupM != 1 && o.GroupM != 4 && o.GroupM != 8:
		return fmt.Errorf("GroupM is %d; it must be 1, 4 or 8", o.GroupM)
	case o.TileM != 16 && o.TileM != 32 && o.TileM != 64:
		return fmt.Errorf("TileM is %d; it must be 16, 32 or 64", o.TileM)
	}
	return nil
}

// operand says what is wrong with one of the tensors, next to a.
func operand(name string, x *cuda.Tensor, dimensions int, a *cuda.Tensor) error {
	if err := x.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	switch d := x.DType(); {
	case x.IsHost():
		return fmt.Errorf("%s is in the host's memory; it must be on a device", name)
	case len(x.Shape()) != dimensions:
		return fmt.Errorf("%s has %d dimensions; it must have %d", name, len(x.Shape()), dimensions)
	case d != cuda.F16 && d != cuda.BF16:
		return fmt.Errorf("%s has elements of %v; they must be f16 or bf16", name, d)
	case d != a.DType():
		return fmt.Errorf("%s has elements of %v; they must be of a's type, %v", name, d, a.DType())
	case x.Device() != a.Device():
		return fmt.Errorf("%s is on %v; it must be where a is, on %v", name, x.Device(), a.Device())
	case !x.IsContiguous():
		return fmt.Errorf("%s has strides %v; it must be contiguous", name, x.Strides())
	case x.Len() > math.MaxInt32:
		return fmt.Errorf("%s has %d elements; an index must fit 32 bits", name, x.Len())
	}
	return nil
}

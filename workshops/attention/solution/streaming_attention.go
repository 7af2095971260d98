// Package exercise is the reference solution of the workshop streaming_attention.
package exercise

import (
	_ "embed" // for the kernels
	"fmt"
	"math"

	"github.com/warpbook/warpbook/cuda"
)

//go:embed streaming_attention.cu
var source string

var kernels = cuda.NewSource("streaming_attention.cu", source)

// MaxRows is the longest sequence.
const MaxRows = 2048

// Options are those of Attention.
type Options struct {
	Causal bool // query i sees keys 0 to i only
	BlockN int  // keys a step: 32 or 64; 0 is 32
}

const (
	queries = 64  // of a block, as in the kernel
	threads = 128 // of a block
)

// Attention returns softmax(Q*K'/sqrt(D))*V for contiguous Q, K and V[N,D] of f16 or bf16
// as a new tensor. D is 16, 32 or 64, and N is 0 to 2048.
func Attention(q, k, v *cuda.Tensor, o Options) (*cuda.Tensor, error) {
	if o.BlockN == 0 {
		o.BlockN = 32
	}
	if err := check(q, k, v, o); err != nil {
		return nil, err
	}
	n, d := q.Shape()[0], q.Shape()[1]
	out, err := q.Device().Empty(q.DType(), n, d)
	if err != nil || n == 0 {
		return out, err
	}
	kernel, err := kernels.Kernel(fmt.Sprintf("attention_%v_%d_%d", q.DType(), d, o.BlockN))
	if err != nil {
		return nil, err
	}
	c := cuda.Config{Grid: cuda.D((n + queries - 1) / queries), Block: cuda.D(threads)}
	return out, kernel.Launch(c, q, k, v, out, n, 1/math.Sqrt(float64(d)), o.Causal)
}

// check says what is wrong with the arguments. It looks at what tensors are, never at
// their values.
func check(q, k, v *cuda.Tensor, o Options) error {
	if err := operand("q", q, q); err != nil {
		return err
	}
	if err := operand("k", k, q); err != nil {
		return err
	}
	if err := operand("v", v, q); err != nil {
		return err
	}
	n, d := q.Shape()[0], q.Shape()[1]
	switch {
	case n > MaxRows:
		return fmt.Errorf("q has %d rows; it must have 0 to %d", n, MaxRows)
	case d != 16 && d != 32 && d != 64:
		return fmt.Errorf("q has %d columns; they must be 16, 32 or 64", d)
	case o.BlockN != 32 && o.BlockN != 64:
		return fmt.Errorf("BlockN is %d; it must be 32 or 64", o.BlockN)
	}
	return nil
}

// operand says what is wrong with one of the tensors, next to q.
func operand(name string, x, q *cuda.Tensor) error {
	if err := x.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if x.IsHost() {
		return fmt.Errorf("%s is in the host's memory; it must be on a device", name)
	}
	if len(x.Shape()) != 2 {
		return fmt.Errorf("%s has %d dimensions; it must have 2", name, len(x.Shape()))
	}
	switch d := x.DType(); {
	case d != cuda.F16 && d != cuda.BF16:
		return fmt.Errorf("%s has elements of %v; they must be f16 or bf16", name, d)
	case d != q.DType():
		return fmt.Errorf("%s has elements of %v; they must be of q's type, %v", name, d, q.DType())
	case x.Device() != q.Device():
		return fmt.Errorf("%s is on %v; it must be where q is, on %v", name, x.Device(), q.Device())
	case x.Shape()[0] != q.Shape()[0] || x.Shape()[1] != q.Shape()[1]:
		return fmt.Errorf("%s has the shape %v; it must be that of q, %v", name, x.Shape(), q.Shape())
	case !x.IsContiguous():
		return fmt.Errorf("%s has strides %v; it must be contiguous", name, x.Strides())
	}
	return nil
}

package portfolio

import (
	"errors"
	"fmt"

	"github.com/warpbook/warpbook/cuda"
)

// Add returns a + b, for vectors of one length and type.
func Add(a, b *cuda.Tensor) (*cuda.Tensor, error) {
	left, right := argument{"a", a}, argument{"b", b}
	if err := left.vector(); err != nil {
		return nil, err
	}
	if err := right.vector(); err != nil {
		return nil, err
	}
	if err := right.like(left); err != nil {
		return nil, err
	}
	n := a.Len()
	y, err := a.Device().Empty(a.DType(), n)
	if err != nil || n == 0 {
		return y, err
	}
	// Enough blocks to fill a GPU; what is beyond them is looped over.
	const threads, most = 256, 2048
	c := cuda.Config{Grid: cuda.D(min(ceil(n, threads), most)), Block: cuda.D(threads)}
	return y, launch("add", a.DType(), c, a, b, y, n, strides(a), strides(b))
}

// chunk is how many columns a block of RowSum sums.
const chunk = 8192

// RowSum returns the sum of each row of x, as a vector of f32. The sum of no elements
// is 0. A row of more than 8192 columns is split among blocks, whose sums a second
// launch sums; the order of the terms, and so the result, is always the same.
func RowSum(x *cuda.Tensor) (*cuda.Tensor, error) {
	if err := (argument{"x", x}).matrix(); err != nil {
		return nil, err
	}
	rows, columns := x.Shape()[0], x.Shape()[1]
	y, err := x.Device().Empty(cuda.F32, rows)
	if err != nil || rows == 0 {
		return y, err
	}
	chunks := ceil(columns, chunk)
	if chunks <= 1 {
		return y, launch("row_sum", x.DType(), perRow(rows, columns), x, y, columns, chunk, 1, strides(x))
	}
	sums, err := x.Device().Empty(cuda.F32, rows, chunks) // this call's own
	if err != nil {
		return nil, err
	}
	return y, errors.Join(
		launch("row_sum", x.DType(), perRow(rows*chunks, chunk), x, sums, columns, chunk, chunks, strides(x)),
		launch("row_sum", cuda.F32, perRow(rows, chunks), sums, y, chunks, chunk, 1, strides(sums)),
		sums.Release())
}

// Softmax returns exp(x)/sum(exp(x)) of each row of x, of x's shape and type. An
// element of -inf is masked: it becomes 0. A row of nothing else becomes zeros, and
// a row with +inf or NaN becomes NaN.
func Softmax(x *cuda.Tensor) (*cuda.Tensor, error) {
	if err := (argument{"x", x}).matrix(); err != nil {
		return nil, err
	}
	rows, columns := x.Shape()[0], x.Shape()[1]
	y, err := x.Device().Empty(x.DType(), rows, columns)
	if err != nil || y.Len() == 0 {
		return y, err
	}
	return y, launch("softmax", x.DType(), perRow(rows, columns), x, y, columns, strides(x))
}

// RMSNorm returns h = x + residual, rounded to the element type, and the norm of its
// rows, y = h/sqrt(mean(h*h) + eps) * weight. x and residual are matrices of one shape,
// which y and h have as well; weight is a vector with an element for each column. eps is
// a number from MinEps to MaxEps.
func RMSNorm(x, residual, weight *cuda.Tensor, eps float64) (y, h *cuda.Tensor, err error) {
	if err := checkNorm(argument{"x", x}, argument{"residual", residual}, argument{"weight", weight}, eps); err != nil {
		return nil, nil, err
	}
	rows, columns := x.Shape()[0], x.Shape()[1]
	if y, err = x.Device().Empty(x.DType(), rows, columns); err != nil {
		return nil, nil, err
	}
	if h, err = x.Device().Empty(x.DType(), rows, columns); err != nil {
		return nil, nil, err
	}
	if y.Len() == 0 {
		return y, h, nil
	}
	return y, h, launch("rms_norm", x.DType(), perRow(rows, columns),
		x, residual, weight, y, h, columns, rootOf(eps), strides(x), strides(residual), strides(weight))
}

// MatMul returns the matrix product of a, m x k, and b, k x n. Products are summed in
// f32 and rounded once. With k = 0 it is zeros.
func MatMul(a, b *cuda.Tensor) (*cuda.Tensor, error) {
	left, right := argument{"a", a}, argument{"b", b}
	if err := left.matrix(); err != nil {
		return nil, err
	}
	if err := right.matrix(); err != nil {
		return nil, err
	}
	if err := right.with(left); err != nil {
		return nil, err
	}
	m, k, n := a.Shape()[0], a.Shape()[1], b.Shape()[1]
	if b.Shape()[0] != k {
		return nil, fmt.Errorf("b has %d rows; it must have as many as a has columns, %d", b.Shape()[0], k)
	}
	y, err := a.Device().Empty(a.DType(), m, n)
	if err != nil || y.Len() == 0 {
		return y, err
	}
	const tile = 16 // TILE in portfolio.cu
	c := cuda.Config{Grid: cuda.D(ceil(m, tile) * ceil(n, tile)), Block: cuda.D(tile, tile)}
	return y, launch("matmul", a.DType(), c, a, b, y, m, n, k, strides(a), strides(b))
}

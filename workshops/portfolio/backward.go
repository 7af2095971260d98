package portfolio

import (
	"errors"
	"fmt"
	"math"

	"github.com/warpbook/warpbook/cuda"
)

// SoftmaxBackward returns the gradient of Softmax's input, y*(g - sum(y*g)) for each
// row, from its output y and the gradient g of that: matrices of one shape and type.
// Where y is 0, as it is for a masked element, so is the result.
func SoftmaxBackward(y, g *cuda.Tensor) (*cuda.Tensor, error) {
	if err := pair(argument{"y", y}, argument{"g", g}); err != nil {
		return nil, err
	}
	rows, columns := y.Shape()[0], y.Shape()[1]
	dx, err := y.Device().Empty(y.DType(), rows, columns)
	if err != nil || dx.Len() == 0 {
		return dx, err
	}
	return dx, launch("softmax_backward", y.DType(), perRow(rows, columns), y, g, dx, columns, strides(y), strides(g))
}

// RMSNormBackward returns the gradients of what RMSNorm takes, from the gradient g of
// its output y, the sum h that it returned, and the same weight and eps. dh, of h's
// shape, is the gradient of x and of residual alike; dweight is that of weight, summed
// over the rows, and zeros when there are none.
func RMSNormBackward(g, h, weight *cuda.Tensor, eps float64) (dh, dweight *cuda.Tensor, err error) {
	if err := checkNorm(argument{"g", g}, argument{"h", h}, argument{"weight", weight}, eps); err != nil {
		return nil, nil, err
	}
	rows, columns := h.Shape()[0], h.Shape()[1]
	if dh, err = h.Device().Empty(h.DType(), rows, columns); err != nil {
		return nil, nil, err
	}
	if dh.Len() == 0 {
		dweight, err = h.Device().Zeros(h.DType(), columns)
		return dh, dweight, err
	}
	if dweight, err = h.Device().Empty(h.DType(), columns); err != nil {
		return nil, nil, err
	}
	rms, err := h.Device().Empty(cuda.F32, rows) // this call's own
	if err != nil {
		return nil, nil, err
	}
	const threads = 256
	perColumn := cuda.Config{Grid: cuda.D(ceil(columns, threads)), Block: cuda.D(threads)}
	return dh, dweight, errors.Join(
		launch("rms_norm_backward", h.DType(), perRow(rows, columns),
			g, h, weight, dh, rms, columns, rootOf(eps), strides(g), strides(h), strides(weight)),
		launch("rms_norm_weight", h.DType(), perColumn, g, h, rms, dweight, rows, columns, strides(g), strides(h)),
		rms.Release())
}

// The limits of eps, which keeps a row of zeros from being divided by zero.
const (
	MinEps = 1e-30
	MaxEps = 1
)

// rootOf is eps as kernels take it.
func rootOf(eps float64) float32 { return float32(math.Sqrt(eps)) }

// checkNorm says what is wrong with the arguments of RMSNorm or its gradient.
func checkNorm(a, b, weight argument, eps float64) error {
	if err := pair(a, b); err != nil {
		return err
	}
	if err := weight.vector(); err != nil {
		return err
	}
	if err := weight.with(a); err != nil {
		return err
	}
	if n, columns := weight.Len(), a.Shape()[1]; n != columns {
		return fmt.Errorf("weight has %d elements; it must have as many as %s has columns, %d", n, a.name, columns)
	}
	if !(eps >= MinEps && eps <= MaxEps) { // NaN is not
		return fmt.Errorf("eps is %g; it must be from %g to %d", eps, MinEps, MaxEps)
	}
	return nil
}

package portfolio_test

import (
	"math"
	"testing"
)

// The oracles compute in float64, on rows of so many columns.

func rowSums(x []float64, rows, columns int) []float64 {
	sums := make([]float64, rows)
	for i, v := range x {
		sums[i/columns] += v
	}
	return sums
}

// softmax knows of masks: a row of -inf only is zeros.
func softmax(x []float64, columns int) []float64 {
	y := make([]float64, len(x))
	for at := 0; at < len(x); at += columns {
		row, out := x[at:at+columns], y[at:at+columns]
		top, sum := math.Inf(-1), 0.0
		for _, v := range row {
			top = math.Max(top, v)
		}
		if math.IsInf(top, -1) {
			continue
		}
		for i, v := range row {
			out[i] = math.Exp(v - top)
			sum += out[i]
		}
		for i := range out {
			out[i] /= sum
		}
	}
	return y
}

func softmaxBackward(y, g []float64, columns int) []float64 {
	dx := make([]float64, len(y))
	for at := 0; at < len(y); at += columns {
		sum := 0.0
		for i := at; i < at+columns; i++ {
			sum += y[i] * g[i]
		}
		for i := at; i < at+columns; i++ {
			dx[i] = y[i] * (g[i] - sum)
		}
	}
	return dx
}

// rms is the square root of mean(row*row) + eps.
func rms(row []float64, eps float64) float64 {
	sum := 0.0
	for _, v := range row {
		sum += v * v
	}
	return math.Sqrt(sum/float64(len(row)) + eps)
}

func rmsNorm(h, weight []float64, eps float64) []float64 {
	y, columns := make([]float64, len(h)), len(weight)
	for at := 0; at < len(h); at += columns {
		r := rms(h[at:at+columns], eps)
		for c, w := range weight {
			y[at+c] = h[at+c] / r * w
		}
	}
	return y
}

func rmsNormBackward(g, h, weight []float64, eps float64) (dh, dweight []float64) {
	columns := len(weight)
	dh, dweight = make([]float64, len(h)), make([]float64, columns)
	for at := 0; at < len(h); at += columns {
		r, sum := rms(h[at:at+columns], eps), 0.0
		for c, w := range weight {
			sum += w * g[at+c] * h[at+c]
			dweight[c] += g[at+c] * h[at+c] / r
		}
		for c, w := range weight {
			dh[at+c] = (w*g[at+c] - h[at+c]*sum/(r*r*float64(columns))) / r
		}
	}
	return dh, dweight
}

func matMul(a, b []float64, m, n, k int) []float64 {
	y := make([]float64, m*n)
	for r := range m {
		for i := range k {
			for c := range n {
				y[r*n+c] += a[r*k+i] * b[i*n+c]
			}
		}
	}
	return y
}

// The oracles of gradients are the slopes of those of what they are the gradients of.
func TestOracles(t *testing.T) {
	const columns, eps = 4, 1e-3
	x := []float64{0.5, -1, 2, 0.25, 1, 1.5, -0.5, 0}
	g := []float64{1, -2, 0.5, 3, 0.25, 1, -1, 2}
	weight := []float64{1, 0.5, -2, 1.5}
	dh, dweight := rmsNormBackward(g, x, weight, eps)
	for _, c := range []struct {
		name    string
		at      []float64 // where the slopes are taken
		forward func(at []float64) []float64
		want    []float64
	}{
		{"softmax by x", x, func(x []float64) []float64 { return softmax(x, columns) }, softmaxBackward(softmax(x, columns), g, columns)},
		{"RMSNorm by h", x, func(h []float64) []float64 { return rmsNorm(h, weight, eps) }, dh},
		{"RMSNorm by weight", weight, func(w []float64) []float64 { return rmsNorm(x, w, eps) }, dweight},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i := range c.at {
				if slope := slope(c.at, i, g, c.forward); math.Abs(slope-c.want[i]) > 1e-8 {
					t.Errorf("by element %d the slope is %v and the oracle says %v", i, slope, c.want[i])
				}
			}
		})
	}
}

// slope is the change of sum(f(x)*g) with x[i], by a central difference.
func slope(x []float64, i int, g []float64, f func([]float64) []float64) float64 {
	const step = 1e-5
	loss := func(d float64) (sum float64) {
		moved := append([]float64{}, x...)
		moved[i] += d
		for j, v := range f(moved) {
			sum += v * g[j]
		}
		return sum
	}
	return (loss(step) - loss(-step)) / (2 * step)
}

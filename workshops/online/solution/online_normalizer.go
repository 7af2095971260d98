// Package exercise is the reference solution of the workshop online_normalizer.
package exercise

import (
	"fmt"
	"math"
)

// State summarises a stretch of values.
type State struct {
	Max float64 // the greatest value
	Sum float64 // the sum of exp(x - Max) over the values
}

// Summarize returns the state of values; that of no values is (-Inf, 0).
func Summarize(values []float64) State {
	s := State{Max: math.Inf(-1)}
	for _, x := range values {
		s.Max = max(s.Max, x)
	}
	for _, x := range values {
		s.Sum += math.Exp(x - s.Max)
	}
	return s
}

// Merge returns the state of a's values followed by b's.
func Merge(a, b State) State {
	m := max(a.Max, b.Max)
	if math.IsInf(m, -1) {
		return State{Max: m} // both are empty, and -Inf - -Inf would be NaN
	}
	return State{
		Max: m,
		Sum: a.Sum*math.Exp(a.Max-m) + b.Sum*math.Exp(b.Max-m),
	}
}

// StreamingSoftmax returns the softmax of values, which it reads chunk values
// at a time; a chunk below 1 is an error. It does not change values.
func StreamingSoftmax(values []float64, chunk int) ([]float64, error) {
	if chunk < 1 {
		return nil, fmt.Errorf("chunk is %d; it must be at least 1", chunk)
	}
	total := State{Max: math.Inf(-1)}
	for start := 0; start < len(values); start += chunk {
		end := start + min(chunk, len(values)-start)
		total = Merge(total, Summarize(values[start:end]))
	}
	p := make([]float64, len(values))
	for i, x := range values {
		p[i] = math.Exp(x-total.Max) / total.Sum
	}
	return p, nil
}

// Package exercise is your work on the workshop online_normalizer.
//
// Replace each panic by your code, then run
//
//	warpbook check online_normalizer
package exercise

import "github.com/warpbook/warpbook/workshops"

// State summarises a stretch of values.
type State struct {
	Max float64 // the greatest value
	Sum float64 // the sum of exp(x - Max) over the values
}

// Summarize returns the state of values; that of no values is (-Inf, 0).
func Summarize(values []float64) State {
	// 1. Start with the empty state: math.Inf(-1) and 0.
	// 2. Find the greatest value.
	// 3. Add math.Exp(x - greatest) for each x.
	panic(workshops.TODO("Summarize"))
}

// Merge returns the state of a's values followed by b's.
func Merge(a, b State) State {
	// 1. The new maximum is the greater of the two.
	// 2. If it is -Inf, both are empty: stop before you compute -Inf - -Inf.
	// 3. Rescale each sum from its own maximum to the new one, and add them.
	panic(workshops.TODO("Merge"))
}

// StreamingSoftmax returns the softmax of values, which it reads chunk values
// at a time; a chunk below 1 is an error. It does not change values.
func StreamingSoftmax(values []float64, chunk int) ([]float64, error) {
	// 1. Reject a chunk that is not positive.
	// 2. Summarize each chunk, and Merge it into the state of all before it.
	// 3. Return math.Exp(x - Max) / Sum for each x, in a new slice.
	return nil, workshops.TODO("StreamingSoftmax")
}

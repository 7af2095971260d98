package online

import (
	"errors"
	"fmt"
	"math"

	"github.com/warpbook/warpbook/workshops"
)

// String writes a state as the lesson does.
func (s State) String() string { return fmt.Sprintf("(%v, %v)", s.Max, s.Sum) }

// tolerance allows for another order of the same few float64 operations.
const tolerance = 1e-12

// near compares two numbers; NaN is near nothing, and infinities only to
// themselves.
func near(got, want float64) bool {
	return got == want || math.Abs(got-want) <= tolerance*(1+math.Abs(want)) && !math.IsInf(got, 0)
}

// same returns a failure unless got is the state wanted.
func same(property, call string, got, want State) error {
	if got.Max == want.Max && near(got.Sum, want.Sum) {
		return nil
	}
	return &workshops.Failure{Property: property, Expected: want, Actual: got, Detail: call}
}

// noError is the failure of a call that must succeed; a TODO stays one.
func noError(property, call string, err error) error {
	if todo := unfinished(err); todo != nil {
		return todo
	}
	return &workshops.Failure{Property: property, Expected: "no error", Actual: fmt.Sprintf("the error %q", err), Detail: call}
}

func unfinished(err error) error {
	if errors.Is(err, workshops.ErrTODO) {
		return err
	}
	return nil
}

// oracle computes the state and the probabilities in the plainest way: with the
// maximum known before the first exponential.
func oracle(values []float64) (State, []float64) {
	s := empty
	for _, x := range values {
		s.Max = math.Max(s.Max, x)
	}
	p := make([]float64, len(values))
	for i, x := range values {
		p[i] = math.Exp(x - s.Max)
		s.Sum += p[i]
	}
	for i := range p {
		p[i] /= s.Sum
	}
	return s, p
}

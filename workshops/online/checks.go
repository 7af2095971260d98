package online

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/warpbook/warpbook/workshops"
)

// values overflow exp at 1000 and underflow it at -1000; the maximum comes
// twice, late, and with a smaller value between.
var values = []float64{-1000, -999, 0, 1000, 999, 1000, -700} // cloned before each use

// moderate has no zero among its probabilities.
var moderate = []float64{0.5, -1.25, 2, 1.75, -0.5} // cloned before each use

var empty = State{math.Inf(-1), 0}

// check is a check of this workshop; the context is not needed, because nothing
// here waits.
func check(name, needs string, run func(Exercise) error) workshops.NamedCheck {
	return workshops.On(name, needs, func(_ context.Context, e Exercise) error { return run(e) })
}

func checks() []workshops.NamedCheck {
	return []workshops.NamedCheck{
		check("empty summary identity", "Summarize", emptySummary),
		check("worked summary", "Summarize", workedSummary),
		check("empty/empty avoids NaN", "Merge", emptyEmpty),
		check("left identity", "Merge", leftIdentity),
		check("right identity", "Merge", rightIdentity),
		check("rescale old sum", "Merge", rescale),
		check("partition invariance and overflow resistance", "Summarize Merge StreamingSoftmax", partition),
		check("merge tree and order invariance", "Merge", treeAndOrder),
		check("empty probabilities", "StreamingSoftmax", emptyProbabilities),
		check("input unchanged", "Summarize StreamingSoftmax", inputUnchanged),
		check("invalid chunk size rejected", "StreamingSoftmax", invalidChunk),
	}
}

func emptySummary(e Exercise) error {
	const property = "the summary of no values is the identity (-Inf, 0)"
	if err := same(property, "Summarize(nil)", e.Summarize(nil), empty); err != nil {
		return err
	}
	return same(property, "Summarize([]float64{})", e.Summarize([]float64{}), empty)
}

func workedSummary(e Exercise) error {
	const property = "a summary is the greatest value and the sum of exp(x - greatest)"
	if err := same(property, "Summarize([2 2])", e.Summarize([]float64{2, 2}), State{2, 2}); err != nil {
		return err
	}
	return same(property, "Summarize([1 3 2])", e.Summarize([]float64{1, 3, 2}), State{3, 1 + math.Exp(-1) + math.Exp(-2)})
}

func emptyEmpty(e Exercise) error {
	return same("merging two empty states gives the empty state, not NaN", "Merge((-Inf, 0), (-Inf, 0))", e.Merge(empty, empty), empty)
}

// others are states that a merge with the empty one must leave as they are.
var others = []State{{2, 2}, {-1000, 1.5}, {1000, 3}, {0, 1}}

func leftIdentity(e Exercise) error {
	for _, s := range others {
		if err := same("the empty state is a left identity", fmt.Sprintf("Merge((-Inf, 0), %v)", s), e.Merge(empty, s), s); err != nil {
			return err
		}
	}
	return nil
}

func rightIdentity(e Exercise) error {
	for _, s := range others {
		if err := same("the empty state is a right identity", fmt.Sprintf("Merge(%v, (-Inf, 0))", s), e.Merge(s, empty), s); err != nil {
			return err
		}
	}
	return nil
}

func rescale(e Exercise) error {
	return same("the sum of the smaller maximum is rescaled by exp(old max - new max)", "Merge((2, 2), (4, 1))",
		e.Merge(State{2, 2}, State{4, 1}), State{4, 1 + 2*math.Exp(-2)})
}

func partition(e Exercise) error {
	for _, input := range [][]float64{values, moderate} {
		want, probabilities := oracle(input)
		for _, chunk := range []int{1, 2, 3, 32} {
			total := empty
			for part := range slices.Chunk(slices.Clone(input), chunk) {
				total = e.Merge(total, e.Summarize(slices.Clone(part)))
			}
			call := fmt.Sprintf("the summaries of %v in chunks of %d, merged from left to right", input, chunk)
			if err := same("the state of all values does not depend on how they are cut, and does not overflow", call, total, want); err != nil {
				return err
			}
			if err := softmax(e, input, chunk, probabilities); err != nil {
				return err
			}
		}
	}
	return nil
}

// softmax compares the probabilities of one call.
func softmax(e Exercise, input []float64, chunk int, want []float64) error {
	const property = "the probabilities are exp(x - max) / sum over all values, whatever the chunk"
	call := fmt.Sprintf("StreamingSoftmax(%v, %d)", input, chunk)
	got, err := e.StreamingSoftmax(slices.Clone(input), float64(chunk))
	if err != nil {
		return noError(property, call, err)
	}
	if len(got) != len(want) {
		return &workshops.Failure{Property: "there is one probability for each value", Detail: call,
			Expected: fmt.Sprintf("%d probabilities", len(want)), Actual: len(got)}
	}
	for i := range want {
		if !near(got[i], want[i]) {
			return &workshops.Failure{Property: property, Index: []int{i}, Expected: want[i], Actual: got[i], Detail: call}
		}
	}
	return nil
}

func treeAndOrder(e Exercise) error {
	const property = "merging in any tree and any order gives the same state"
	leaves := []State{{0, 2}, {1000, 1}, {999, 3}}
	want := State{1000, 1 + 3*math.Exp(-1)}
	for _, p := range [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		a, b, c := leaves[p[0]], leaves[p[1]], leaves[p[2]]
		if err := same(property, fmt.Sprintf("Merge(Merge(%v, %v), %v)", a, b, c), e.Merge(e.Merge(a, b), c), want); err != nil {
			return err
		}
		if err := same(property, fmt.Sprintf("Merge(%v, Merge(%v, %v))", a, b, c), e.Merge(a, e.Merge(b, c)), want); err != nil {
			return err
		}
	}
	return nil
}

func emptyProbabilities(e Exercise) error {
	for _, input := range [][]float64{nil, {}} {
		got, err := e.StreamingSoftmax(input, 3)
		if err != nil {
			return noError("no values have no probabilities, which is no error", "StreamingSoftmax of no values, chunk 3", err)
		}
		if len(got) != 0 {
			return &workshops.Failure{Property: "no values have no probabilities", Expected: "[]", Actual: got, Detail: "StreamingSoftmax of no values, chunk 3"}
		}
	}
	return nil
}

// inputUnchanged also looks behind the end of the input, where an append in
// place would write, and at whether the result shares the input's memory.
func inputUnchanged(e Exercise) error {
	const guard = 12345.5
	memory := append(slices.Clone(values), guard, guard)
	want := slices.Clone(memory)
	changed := func(property, call string) error {
		for i := range want {
			if math.Float64bits(memory[i]) != math.Float64bits(want[i]) {
				return &workshops.Failure{Property: property, Index: []int{i}, Expected: want[i], Actual: memory[i], Detail: call}
			}
		}
		return nil
	}
	input := memory[:len(values)]
	e.Summarize(input)
	if err := changed("Summarize leaves its input unchanged", fmt.Sprintf("after Summarize(%v)", values)); err != nil {
		return err
	}
	got, err := e.StreamingSoftmax(input, 3)
	call := fmt.Sprintf("StreamingSoftmax(%v, 3)", values)
	if err != nil {
		return noError("a valid call returns no error", call, err)
	}
	if err := changed("StreamingSoftmax leaves its input unchanged", "after "+call); err != nil {
		return err
	}
	for i := range got {
		got[i] = guard
	}
	return changed("the probabilities are a fresh slice, not the input's memory", "after writing into the result of "+call)
}

func invalidChunk(e Exercise) error {
	chunks := []float64{0}
	if e.Signed {
		chunks = append(chunks, -1)
	}
	if e.Fractional {
		chunks = append(chunks, 1.5)
	}
	for _, chunk := range chunks {
		got, err := e.StreamingSoftmax(slices.Clone(moderate), chunk)
		if todo := unfinished(err); todo != nil {
			return todo
		}
		if err == nil {
			return &workshops.Failure{Property: "a chunk that is not a positive integer is rejected with an error",
				Expected: "an error", Actual: fmt.Sprintf("%v and no error", got), Detail: fmt.Sprintf("StreamingSoftmax(%v, %v)", moderate, chunk)}
		}
	}
	return nil
}

package online_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/warpbook/warpbook/workshops"
	"github.com/warpbook/warpbook/workshops/online"
	solution "github.com/warpbook/warpbook/workshops/online/solution"
	starter "github.com/warpbook/warpbook/workshops/online/starter"
)

// state is how a learner would declare it in a cell.
type state struct{ Max, Sum float64 }

func summarize(values []float64) state              { return state(solution.Summarize(values)) }
func merge(a, b state) state                        { return state(solution.Merge(solution.State(a), solution.State(b))) }
func softmax(v []float64, n int) ([]float64, error) { return solution.StreamingSoftmax(v, n) }

// stream is a StreamingSoftmax on someone's own Summarize and Merge.
func stream(summarize func([]float64) state, merge func(a, b state) state) func([]float64, int) ([]float64, error) {
	return func(values []float64, chunk int) ([]float64, error) {
		if chunk < 1 {
			return nil, errors.New("the chunk must be positive")
		}
		total := state{math.Inf(-1), 0}
		for part := range slices.Chunk(values, chunk) {
			total = merge(total, summarize(part))
		}
		p := make([]float64, 0, len(values))
		for _, x := range values {
			p = append(p, math.Exp(x-total.Max)/total.Sum)
		}
		return p, nil
	}
}

func check(functions ...any) workshops.Report {
	return workshops.CheckWithin(time.Minute, online.ID, functions...)
}

func TestTheElevenChecks(t *testing.T) {
	want := []string{
		"empty summary identity", "worked summary", "empty/empty avoids NaN", "left identity", "right identity",
		"rescale old sum", "partition invariance and overflow resistance", "merge tree and order invariance",
		"empty probabilities", "input unchanged", "invalid chunk size rejected",
	}
	report := check(solution.Summarize, solution.Merge, solution.StreamingSoftmax)
	if !report.Passed() {
		t.Errorf("the solution does not pass:\n%s", report)
	}
	var got []string
	for _, r := range report.Results {
		got = append(got, r.Name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("checks = %q", got)
	}
}

func TestTheStarterIsAllTODO(t *testing.T) {
	report := check(starter.Summarize, starter.Merge, starter.StreamingSoftmax)
	if report.Count(workshops.Todo) != 11 {
		t.Errorf("want 11 to do:\n%s", report)
	}
}

// Other correct ways to write the exercise, all of which must pass.
func TestCorrectButDifferent(t *testing.T) {
	type lower struct{ sum, max float64 }
	type vector []float64
	onePass := func(values []float64) state {
		s := state{math.Inf(-1), 0}
		for _, x := range values {
			if x > s.Max {
				s.Sum *= math.Exp(s.Max - x)
				s.Max = x
			}
			s.Sum += math.Exp(x - s.Max)
		}
		return s
	}
	branches := func(a, b state) state {
		switch {
		case a.Sum == 0:
			return b
		case b.Sum == 0:
			return a
		case a.Max < b.Max:
			a, b = b, a
		}
		return state{a.Max, a.Sum + b.Sum*math.Exp(b.Max-a.Max)}
	}
	tree := func(values []float64) state { return state{} }
	tree = func(values []float64) state {
		switch len(values) {
		case 0:
			return state{math.Inf(-1), 0}
		case 1:
			return state{values[0], 1}
		}
		return merge(tree(values[:len(values)/2]), tree(values[len(values)/2:]))
	}
	for _, test := range []struct {
		name      string
		functions []any
	}{
		{"one pass with a running maximum", []any{onePass, merge, stream(onePass, merge)}},
		{"merge by cases", []any{summarize, branches, stream(summarize, branches)}},
		{"a tree", []any{tree, merge, stream(tree, merge)}},
		{"functions in another order", []any{softmax, merge, summarize}},
		{"a state of its own type for each function", []any{solution.Summarize, merge, softmax}},
		{"unexported fields in another order", []any{
			func(v []float64) lower { s := summarize(v); return lower{s.Sum, s.Max} },
			func(a, b lower) lower {
				s := merge(state{a.max, a.sum}, state{b.max, b.sum})
				return lower{s.Sum, s.Max}
			},
			softmax}},
		{"named slices and a small chunk", []any{summarize, merge,
			func(v vector, n int16) (vector, error) { return softmax(v, int(n)) }}},
		{"an unsigned chunk", []any{summarize, merge,
			func(v []float64, n uint) ([]float64, error) { return softmax(v, int(n)) }}},
		{"a fractional chunk", []any{summarize, merge, func(v []float64, n float64) ([]float64, error) {
			if n != math.Trunc(n) {
				return nil, errors.New("the chunk must be whole")
			}
			return softmax(v, int(n))
		}}},
		{"log of the sum", []any{summarize, merge, func(v []float64, n int) ([]float64, error) {
			if n <= 0 {
				return nil, errors.New("the chunk must be positive")
			}
			s, p := onePass(v), []float64{}
			for _, x := range v {
				p = append(p, math.Exp(x-s.Max-math.Log(s.Sum)))
			}
			return p, nil
		}}},
		{"empty slice for empty input", []any{summarize, merge, func(v []float64, n int) ([]float64, error) {
			if len(v) == 0 && n > 0 {
				return nil, nil
			}
			return softmax(v, n)
		}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if report := check(test.functions...); !report.Passed() {
				t.Errorf("%s", report)
			}
		})
	}
}

func TestHint(t *testing.T) {
	if hint := workshops.Hint(online.ID); hint.MIMEBundle()["text/markdown"] != online.Workshop().Hint {
		t.Errorf("hint = %q", hint)
	}
}

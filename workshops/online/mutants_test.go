package online_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/warpbook/warpbook/workshops"
)

// A checker is as good as what it rejects. Each mutant is a mistake that a
// learner makes; it must fail the check named, with a message that names the
// property.
func TestMutants(t *testing.T) {
	negInf := math.Inf(-1)
	for _, test := range []struct {
		name     string
		sum      func([]float64) state // nil: the reference
		merge    func(a, b state) state
		soft     func([]float64, int) ([]float64, error) // nil: on the two above
		check    string                                  // which fails
		property string                                  // what its message says
	}{
		{name: "maximum starts at 0",
			sum: func(v []float64) state {
				s := state{}
				for _, x := range v {
					s.Max = max(s.Max, x)
				}
				for _, x := range v {
					s.Sum += math.Exp(x - s.Max)
				}
				return s
			},
			check: "empty summary identity", property: "the identity (-Inf, 0)"},
		{name: "sum of nothing is 1",
			sum: func(v []float64) state {
				if len(v) == 0 {
					return state{negInf, 1}
				}
				return summarize(v)
			},
			check: "empty summary identity", property: "the identity (-Inf, 0)"},
		{name: "sum of nothing is NaN",
			sum: func(v []float64) state {
				s := summarize(v)
				if len(v) == 0 {
					s.Sum = math.NaN()
				}
				return s
			},
			check: "empty summary identity", property: "the identity (-Inf, 0)"},
		{name: "maximum not subtracted",
			sum: func(v []float64) state {
				s := state{Max: negInf}
				for _, x := range v {
					s.Max = max(s.Max, x)
					s.Sum += math.Exp(x)
				}
				return s
			},
			check: "worked summary", property: "exp(x - greatest)"},
		{name: "counts instead of exponentials",
			sum:   func(v []float64) state { return state{summarize(v).Max, float64(len(v))} },
			check: "worked summary", property: "exp(x - greatest)"},
		{name: "running maximum without rescaling",
			sum: func(v []float64) state {
				s := state{Max: negInf}
				for _, x := range v {
					s.Max = max(s.Max, x)
					s.Sum += math.Exp(x - s.Max)
				}
				return s
			},
			check: "worked summary", property: "exp(x - greatest)"},
		{name: "last value left out",
			sum: func(v []float64) state {
				if len(v) > 2 {
					v = v[:len(v)-1]
				}
				return summarize(v)
			},
			check: "worked summary", property: "exp(x - greatest)"},
		{name: "NaN for empty and empty",
			merge: func(a, b state) state {
				m := max(a.Max, b.Max)
				return state{m, a.Sum*math.Exp(a.Max-m) + b.Sum*math.Exp(b.Max-m)}
			},
			check: "empty/empty avoids NaN", property: "not NaN"},
		{name: "empty left state forgotten",
			merge: func(a, b state) state {
				if a.Sum == 0 {
					return a
				}
				return merge(a, b)
			},
			check: "left identity", property: "left identity"},
		{name: "empty right state forgotten",
			merge: func(a, b state) state {
				if b.Sum == 0 {
					return b
				}
				return merge(a, b)
			},
			check: "right identity", property: "right identity"},
		{name: "no rescaling in the merge",
			merge: func(a, b state) state { return state{max(a.Max, b.Max), a.Sum + b.Sum} },
			check: "rescale old sum", property: "rescaled by exp(old max - new max)"},
		{name: "rescaled the wrong way",
			merge: func(a, b state) state {
				m := max(a.Max, b.Max)
				if math.IsInf(min(a.Max, b.Max), -1) {
					return merge(a, b)
				}
				return state{m, a.Sum*math.Exp(m-a.Max) + b.Sum*math.Exp(m-b.Max)}
			},
			check: "rescale old sum", property: "rescaled by exp(old max - new max)"},
		{name: "rescaled by the ratio of maxima",
			merge: func(a, b state) state {
				if a.Sum == 0 || b.Sum == 0 || a.Max == b.Max {
					return merge(a, b)
				}
				if a.Max > b.Max {
					a, b = b, a
				}
				return state{b.Max, b.Sum + a.Sum*a.Max/b.Max}
			},
			check: "rescale old sum", property: "rescaled by exp(old max - new max)"},
		{name: "only the left sum rescaled: order matters",
			merge: func(a, b state) state {
				m := max(a.Max, b.Max)
				if math.IsInf(m, -1) {
					return state{m, 0}
				}
				return state{m, a.Sum*math.Exp(a.Max-m) + b.Sum}
			},
			check: "merge tree and order invariance", property: "any tree and any order"},
		{name: "the last maximum wins",
			merge: func(a, b state) state {
				if a.Sum == 0 || b.Sum == 0 {
					return merge(a, b)
				}
				return state{b.Max, b.Sum + a.Sum*math.Exp(a.Max-b.Max)}
			},
			check: "merge tree and order invariance", property: "any tree and any order"},
		{name: "denominators not rescaled over chunks",
			soft: stream(summarize, func(a, b state) state {
				return state{max(a.Max, b.Max), a.Sum + b.Sum}
			}),
			check: "partition invariance and overflow resistance", property: "whatever the chunk"},
		{name: "each chunk normalised by itself",
			soft: func(v []float64, n int) ([]float64, error) {
				if n < 1 {
					return nil, errors.New("chunk")
				}
				var p []float64
				for part := range slices.Chunk(v, n) {
					q, err := softmax(part, n)
					if err != nil {
						return nil, err
					}
					p = append(p, q...)
				}
				return p, nil
			},
			check: "partition invariance and overflow resistance", property: "whatever the chunk"},
		{name: "exp without the maximum: overflow to NaN",
			soft: func(v []float64, n int) ([]float64, error) {
				if n < 1 {
					return nil, errors.New("chunk")
				}
				p, sum := make([]float64, len(v)), 0.0
				for i, x := range v {
					p[i] = math.Exp(x)
					sum += p[i]
				}
				for i := range p {
					p[i] /= sum
				}
				return p, nil
			},
			check: "partition invariance and overflow resistance", property: "whatever the chunk"},
		{name: "not divided by the sum",
			soft: func(v []float64, n int) ([]float64, error) {
				p, err := softmax(v, n)
				for i := range p {
					p[i] *= summarize(v).Sum
				}
				return p, err
			},
			check: "partition invariance and overflow resistance", property: "whatever the chunk"},
		{name: "float32 exponentials",
			soft: func(v []float64, n int) ([]float64, error) {
				p, err := softmax(v, n)
				for i := range p {
					p[i] = float64(float32(p[i]))
				}
				return p, err
			},
			check: "partition invariance and overflow resistance", property: "whatever the chunk"},
		{name: "short last chunk dropped",
			soft: func(v []float64, n int) ([]float64, error) {
				if n < 1 {
					return nil, errors.New("chunk")
				}
				return softmax(v[:len(v)/n*n], n)
			},
			check: "partition invariance and overflow resistance", property: "one probability for each value"},
		{name: "last chunk must be whole",
			soft: func(v []float64, n int) ([]float64, error) {
				if n < 1 || len(v)%n != 0 {
					return nil, errors.New("the values do not fill the chunks")
				}
				return softmax(v, n)
			},
			check: "partition invariance and overflow resistance", property: "whatever the chunk"},
		{name: "no values are an error",
			soft: func(v []float64, n int) ([]float64, error) {
				if len(v) == 0 {
					return nil, errors.New("no values")
				}
				return softmax(v, n)
			},
			check: "empty probabilities", property: "which is no error"},
		{name: "one probability for no values",
			soft: func(v []float64, n int) ([]float64, error) {
				if len(v) == 0 {
					return []float64{1}, nil
				}
				return softmax(v, n)
			},
			check: "empty probabilities", property: "no values have no probabilities"},
		{name: "Summarize sorts in place",
			sum: func(v []float64) state {
				s := summarize(v)
				slices.Sort(v)
				return s
			},
			check: "input unchanged", property: "Summarize leaves its input unchanged"},
		{name: "Summarize writes behind its input",
			sum: func(v []float64) state {
				if cap(v) > len(v) {
					_ = append(v, 1)
				}
				return summarize(v)
			},
			check: "input unchanged", property: "Summarize leaves its input unchanged"},
		{name: "probabilities written over the input",
			soft: func(v []float64, n int) ([]float64, error) {
				p, err := softmax(v, n)
				return v[:copy(v, p)], err
			},
			check: "input unchanged", property: "StreamingSoftmax leaves its input unchanged"},
		{name: "the result is the input's memory, restored",
			soft: func(v []float64, n int) ([]float64, error) {
				if len(v) == 7 && cap(v) > 7 {
					return v, nil
				}
				return softmax(v, n)
			},
			check: "input unchanged", property: "a fresh slice"},
		{name: "chunk ignored",
			soft:  func(v []float64, _ int) ([]float64, error) { return softmax(v, 1) },
			check: "invalid chunk size rejected", property: "rejected with an error"},
		{name: "chunk 0 means all",
			soft: func(v []float64, n int) ([]float64, error) {
				if n == 0 {
					n = len(v) + 1
				}
				return softmax(v, n)
			},
			check: "invalid chunk size rejected", property: "rejected with an error"},
		{name: "negative chunk accepted",
			soft: func(v []float64, n int) ([]float64, error) {
				if n < 0 {
					n = -n
				}
				return softmax(v, n)
			},
			check: "invalid chunk size rejected", property: "rejected with an error"},
		{name: "invalid chunk gives nil without an error",
			soft: func(v []float64, n int) ([]float64, error) {
				p, err := softmax(v, n)
				if err != nil {
					return nil, nil
				}
				return p, nil
			},
			check: "invalid chunk size rejected", property: "rejected with an error"},
		{name: "all NaN",
			sum:   func(v []float64) state { return state{math.NaN(), math.NaN()} },
			merge: func(a, b state) state { return state{math.NaN(), math.NaN()} },
			soft: func(v []float64, n int) ([]float64, error) {
				return slices.Repeat([]float64{math.NaN()}, len(v)), nil
			},
			check: "worked summary", property: "exp(x - greatest)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.sum == nil {
				test.sum = summarize
			}
			if test.merge == nil {
				test.merge = merge
			}
			if test.soft == nil {
				test.soft = stream(test.sum, test.merge)
			}
			report := check(test.sum, test.merge, test.soft)
			r := find(t, report, test.check)
			if r.Status != workshops.Fail || !strings.Contains(r.Failure.Property, test.property) {
				t.Errorf("%s is %s: %s; want a failure that says %q\n%s", r.Name, r.Status, r.Text(), test.property, report)
			}
		})
	}
}

// With a fractional chunk, 1.5 must be rejected as well.
func TestFractionalChunk(t *testing.T) {
	report := check(summarize, merge, func(v []float64, n float64) ([]float64, error) { return softmax(v, int(n)) })
	r := find(t, report, "invalid chunk size rejected")
	if r.Status != workshops.Fail || !strings.Contains(r.Failure.Detail, "1.5") {
		t.Errorf("%s: %s", r.Status, r.Text())
	}
}

// NaN passes no check that looks at a value.
func TestNaNNeverPasses(t *testing.T) {
	nan := math.NaN()
	report := check(
		func([]float64) state { return state{nan, nan} },
		func(a, b state) state { return state{nan, nan} },
		func(v []float64, n int) ([]float64, error) {
			if n < 1 {
				return nil, errors.New("chunk")
			}
			return slices.Repeat([]float64{nan}, len(v)), nil
		})
	for i, r := range report.Results {
		// The last three look at lengths, memory and errors, which are right here.
		if want := i >= 8; (r.Status == workshops.Pass) != want {
			t.Errorf("%s: %s", r.Name, r.Status)
		}
	}
}

// A failure names the place and both values.
func TestFailureNamesThePlace(t *testing.T) {
	report := check(summarize, merge, func(v []float64, n int) ([]float64, error) {
		p, err := softmax(v, n)
		if len(p) == 7 {
			p[5] = 0.25
		}
		return p, err
	})
	f := find(t, report, "partition invariance and overflow resistance").Failure
	if f == nil || fmt.Sprint(f.Index) != "[5]" || f.Actual != 0.25 || f.Expected != 1/(2+math.Exp(-1)) {
		t.Errorf("failure = %+v", f)
	}
}

func find(t *testing.T, report workshops.Report, name string) workshops.Result {
	t.Helper()
	for _, r := range report.Results {
		if r.Name == name {
			return r
		}
	}
	t.Fatalf("no check %q in\n%s", name, report)
	return workshops.Result{}
}

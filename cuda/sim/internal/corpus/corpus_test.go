package corpus_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/warpbook/warpbook/cuda/sim"
	"github.com/warpbook/warpbook/cuda/sim/internal/corpus"
)

func load(t *testing.T, dir string, atLeast int) []*corpus.Program {
	t.Helper()
	programs, err := corpus.Load("../../testdata/" + dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(programs) < atLeast {
		t.Fatalf("there are %d programs in %s, not %d", len(programs), dir, atLeast)
	}
	return programs
}

// seeds are the orders of blocks and warps that each program runs in.
var seeds = []uint64{0, 1, 2}

// TestCorrect runs the correct programs: no finding, and what their references compute.
func TestCorrect(t *testing.T) {
	for _, p := range load(t, "correct", 40) {
		t.Run(p.Name, func(t *testing.T) {
			var want *corpus.Result
			if p.Reference != "" {
				r, err := p.RunReference(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				if f := findings(r.Report); f != "" {
					t.Errorf("the reference: %s", f)
				}
				want = r
			}
			for _, seed := range seeds {
				r, err := p.Run(context.Background(), sim.Config{Seed: seed, Workers: workers})
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if f := findings(r.Report); f != "" {
					t.Errorf("seed %d: %s", seed, f)
				}
				if want != nil {
					if err := p.Compare(r, want); err != nil {
						t.Errorf("seed %d: %v", seed, err)
					}
				}
			}
		})
	}
}

// pending are kinds whose checkers are not there yet.
var pending = map[sim.Kind]bool{}

// TestFaults runs the programs with planted faults: each is found at its line, and
// nothing else is reported.
func TestFaults(t *testing.T) {
	kinds := map[sim.Kind]int{}
	for _, p := range load(t, "faults", 40) {
		if len(p.Wants) == 0 {
			t.Errorf("%s wants nothing", p.Name)
			continue
		}
		kinds[p.Wants[0].Kind]++
		t.Run(p.Name, func(t *testing.T) {
			if pending[p.Wants[0].Kind] {
				t.Skipf("there is no checker yet for %q", p.Wants[0].Kind)
			}
			for _, seed := range seeds {
				r, err := p.Run(context.Background(), sim.Config{Seed: seed, Workers: workers})
				if p.Wants[0].Kind == sim.BadLaunch {
					var refused *sim.Error
					if !errors.As(err, &refused) {
						t.Errorf("the launch is not refused: %v", err)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				for _, problem := range check(p, r.Report.Findings) {
					t.Errorf("seed %d: %s", seed, problem)
				}
			}
		})
	}
	for _, k := range []sim.Kind{sim.OutOfBounds, sim.Misaligned, sim.UseAfterFree, sim.ReadOnly, sim.Uninitialized, sim.SharedRace, sim.GlobalRace, sim.Divergent, sim.AsyncWait, sim.Deadlock, sim.Endless, sim.Trap, sim.Assert, sim.BadLaunch, sim.Unsupported} {
		if kinds[k] < 2 {
			t.Errorf("%d faults are of the kind %q", kinds[k], k)
		}
	}
}

// check compares findings with what the program wants.
func check(p *corpus.Program, found []sim.Finding) (problems []string) {
	met := make([]bool, len(p.Wants))
	for _, f := range found {
		ok := slices.Contains(p.Also, f.Kind)
		for i, w := range p.Wants {
			if f.Kind == w.Kind && (f.At.Line == w.Line || f.Other != nil && f.Other.Line == w.Line) {
				ok, met[i] = true, true
			}
		}
		if !ok {
			problems = append(problems, "also found: "+text(f))
		}
	}
	for i, w := range p.Wants {
		if !met[i] {
			problems = append(problems, fmt.Sprintf("not found: %s at line %d", w.Kind, w.Line))
		}
	}
	return problems
}

func text(f sim.Finding) string {
	s := fmt.Sprintf("%s at line %d: %s", f.Kind, f.At.Line, f.Message)
	if f.Other != nil {
		s += fmt.Sprintf(" (other: line %d)", f.Other.Line)
	}
	return s
}

func findings(r *sim.Report) string {
	var s []string
	for _, f := range r.Findings {
		s = append(s, text(f))
	}
	return strings.Join(s, "; ")
}

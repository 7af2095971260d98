package trialtest

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/warpbook/warpbook/workshops"
	"github.com/warpbook/warpbook/workshops/runner"
)

// Change is a solution with something changed.
type Change struct {
	Name  string
	Edits []Edit
	// Fails names checks, each of which must fail, and Says what one of them must say.
	// Without any, all checks of the workshop must pass.
	Fails []string
	Says  string
	// Without names checks that are left out for the time that they would take.
	Without []string
}

// Edit replaces Old, which must be there once, or All times when that is set, in the
// file with that extension: ".cu" or ".go". An Old of "" replaces the whole file.
type Edit struct {
	File, Old, New string
	All            bool
}

// CU is a change of the kernels, and GO one of the function.
func CU(old, new string) Edit { return Edit{File: ".cu", Old: old, New: new} }

// GO is an edit of the function.
func GO(old, new string) Edit { return Edit{File: ".go", Old: old, New: new} }

// Every makes an edit replace every occurrence.
func (e Edit) Every() Edit {
	e.All = true
	return e
}

// Changes runs the changes' checks, with the runner, as a learner's file would be.
func Changes(t *testing.T, w workshops.Workshop, changes []Change) {
	for _, c := range changes {
		t.Run(c.Name, func(t *testing.T) {
			changed := w
			changed.Solution = nil
			for _, f := range w.Solution {
				changed.Solution = append(changed.Solution, workshops.File{Name: f.Name, Text: c.apply(t, f)})
			}
			if len(c.Fails) > 0 {
				changed.Checks = slices.DeleteFunc(slices.Clone(w.Checks), func(k workshops.NamedCheck) bool { return !slices.Contains(c.Fails, k.Name) })
				if len(changed.Checks) != len(c.Fails) {
					t.Fatalf("the workshop has not all of the checks %q", c.Fails)
				}
			}
			if len(c.Without) > 0 {
				changed.Checks = slices.DeleteFunc(slices.Clone(w.Checks), func(k workshops.NamedCheck) bool { return slices.Contains(c.Without, k.Name) })
			}
			out := check(t, changed)
			if n := len(changed.Checks); len(c.Fails) == 0 {
				if !strings.Contains(out, fmt.Sprintf("\n%d of %d checks passed.\n", n, n)) {
					t.Errorf("a correct solution does not pass:\n%s", out)
				}
				return
			}
			for _, name := range c.Fails {
				if !strings.Contains(out, "✗ failed   "+name+"\n") {
					t.Errorf("the check %q does not fail:\n%s", name, out)
				}
			}
			if !strings.Contains(out, c.Says) {
				t.Errorf("no check says %q:\n%s", c.Says, out)
			}
		})
	}
}

// apply makes the edits of one file.
func (c *Change) apply(t *testing.T, f workshops.File) string {
	text := f.Text
	for _, e := range c.Edits {
		if e.File != filepath.Ext(f.Name) {
			continue
		}
		switch n := strings.Count(text, e.Old); {
		case e.Old == "":
			text = e.New
		case n == 0 || n > 1 && !e.All:
			t.Fatalf("%s has %d times %q", f.Name, n, e.Old)
		default:
			text = strings.ReplaceAll(text, e.Old, e.New)
		}
	}
	return text
}

func check(t *testing.T, w workshops.Workshop) string {
	t.Helper()
	var out, errs bytes.Buffer
	code := runner.Run(t.Context(), runner.Options{Target: w.ID, Solution: true, Device: Device(), Workshops: []workshops.Workshop{w}, Limit: 2 * time.Minute}, &out, &errs)
	if code == runner.Unavailable {
		t.Fatalf("the checks did not run: %s%s", out.String(), errs.String())
	}
	return out.String()
}

// Mistake is a change that makes checks fail, one of which says so.
func Mistake(name string, fails []string, says string, edits ...Edit) Change {
	return Change{Name: name, Fails: fails, Says: says, Edits: edits}
}

// Variant is a change after which the solution is as right as before.
func Variant(name string, edits ...Edit) Change { return Change{Name: name, Edits: edits} }

package workshops

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Failure is a property that does not hold.
type Failure struct {
	Property string // what must hold, as a sentence
	Index    []int  // the first offending index, one number a dimension; nil when there is none
	Expected any
	Actual   any
	Detail   string // how it came about, or what to look at; may be empty
}

// Error returns the failure in one line.
func (f *Failure) Error() string {
	var b strings.Builder
	b.WriteString(f.Property)
	if f.Index != nil {
		fmt.Fprintf(&b, "; first wrong at index %s", f.index())
	}
	if f.Expected != nil || f.Actual != nil {
		fmt.Fprintf(&b, "; expected %v, got %v", f.Expected, f.Actual)
	}
	if f.Detail != "" {
		fmt.Fprintf(&b, " (%s)", f.Detail)
	}
	return b.String()
}

// index writes a place as Go would index it: "3", or "2, 5".
func (f *Failure) index() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(f.Index), " ", ", "), "[]")
}

// ErrTODO is what every unfinished exercise is, for errors.Is.
var ErrTODO = errors.New("unfinished") // never changed

// TODO says that the function named what is not written yet. A starter panics
// with it or returns it; the checks that need the function are then unfinished,
// which is neither passed nor failed.
func TODO(what string) error { return &todo{what} }

type todo struct{ what string }

func (t *todo) Error() string        { return "TODO: " + t.what }
func (t *todo) Is(target error) bool { return target == ErrTODO }

// Status is how a check ended.
type Status string

// The ends of a check. Only Pass counts as passed.
const (
	Pass   Status = "pass"
	Fail   Status = "fail"    // the property does not hold
	Broken Status = "error"   // the exercise panicked, did not end, or could not be called
	Todo   Status = "todo"    // the exercise says that it is unfinished
	NotRun Status = "not run" // a function that the check needs was not given
)

// Result is the outcome of one check.
type Result struct {
	Name    string
	Needs   []string
	Status  Status
	Failure *Failure // for Fail
	Message string   // for every other status but Pass: why, in one sentence
	Elapsed time.Duration
}

// Text returns what is wrong in one line, "" for a passed check.
func (r Result) Text() string {
	if r.Failure != nil {
		return r.Failure.Error()
	}
	return r.Message
}

// outcome sorts the error of a check into a result.
func outcome(c NamedCheck, err error) Result {
	r := Result{Name: c.Name, Needs: c.Needs, Status: Pass}
	var failure *Failure
	switch {
	case err == nil:
	case errors.Is(err, ErrTODO):
		r.Status, r.Message = Todo, err.Error()
	case errors.As(err, &failure):
		r.Status, r.Failure = Fail, failure
	default:
		r.Status, r.Message = Broken, err.Error()
	}
	return r
}

package workshops

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/warpbook/warpbook/display"
)

// DefaultLimit is the time that one check may take. The exercises are small: a
// check that takes longer is in an endless loop.
const DefaultLimit = 3 * time.Second

// Check runs the checks of a workshop on the learner's functions, given in any
// order, and returns a report that shows itself. With some of the functions it
// runs the checks that need no others:
//
//	workshops.Check("online_normalizer", Summarize)
//	workshops.Check("online_normalizer", Summarize, Merge, StreamingSoftmax)
func Check(id string, functions ...any) Report {
	return CheckWithin(0, id, functions...)
}

// CheckWithin is Check with another time limit for each check; 0 is the workshop's own.
func CheckWithin(limit time.Duration, id string, functions ...any) Report {
	w, err := Find(All(), id)
	if err != nil {
		return Report{ID: id, Err: err}
	}
	given, err := w.Match(functions...)
	if err != nil {
		return Report{ID: id, Title: w.Title, Err: err}
	}
	return w.Run(WithProgress(context.Background(), inline(w.Title)), given, limit)
}

// inline shows progress in the notebook, once the checks have taken a moment.
func inline(title string) func(done, total int, name string) {
	start := time.Now()
	var bar *display.Bar
	return func(done, total int, name string) {
		switch {
		case bar != nil && name == "":
			bar.Set(done)
			bar.Done()
		case bar != nil:
			bar.Set(done)
		case time.Since(start) > patience && name != "":
			bar = display.Progress(total, title)
			bar.Set(done)
		}
	}
}

// patience is how long one waits without wondering.
const patience = time.Second

// Match tells the functions apart by their shapes and returns them by name.
func (w *Workshop) Match(functions ...any) (map[string]any, error) {
	if len(functions) == 0 {
		return nil, fmt.Errorf("there is nothing to check; call %s", w.call())
	}
	given := map[string]any{}
	for i, fn := range functions {
		v := reflect.ValueOf(fn)
		if v.Kind() == reflect.Func && v.IsNil() {
			return nil, fmt.Errorf("argument %d is a nil function; call %s", i+2, w.call())
		}
		at := slices.IndexFunc(w.Functions, func(f Function) bool { return v.Kind() == reflect.Func && f.Accepts(fn) })
		if at < 0 {
			return nil, fmt.Errorf("argument %d is %s, which is none of the workshop's functions; expected %s", i+2, describe(fn), w.signatures())
		}
		name := w.Functions[at].Name
		if _, twice := given[name]; twice {
			return nil, fmt.Errorf("argument %d is a second function of the type of %s; give each function once: %s", i+2, name, w.call())
		}
		given[name] = fn
	}
	return given, nil
}

// Fits says what is wrong with a function that is known by name, as those of a
// file are; nil when nothing is.
func (w *Workshop) Fits(name string, fn any) error {
	for _, f := range w.Functions {
		if f.Name == name && !f.Accepts(fn) {
			return fmt.Errorf("%s is %s; expected %s", name, describe(fn), f.Want)
		}
	}
	return nil
}

// Run binds the functions and runs the checks, in order. Each check has limit to end, 0
// for the workshop's own; one that does not is given up, with its goroutine.
func (w *Workshop) Run(ctx context.Context, given map[string]any, limit time.Duration) Report {
	report := Report{ID: w.ID, Title: w.Title}
	limit = cmp.Or(limit, w.Limit, DefaultLimit)
	exercise, err := w.Bind(given)
	if err != nil {
		report.Err = err
		return report
	}
	progress := progressOf(ctx)
	for i, c := range w.Checks {
		progress(i, len(w.Checks), c.Name)
		missing := slices.DeleteFunc(slices.Clone(c.Needs), func(name string) bool { return given[name] != nil })
		if len(missing) > 0 {
			report.Results = append(report.Results, Result{Name: c.Name, Needs: c.Needs, Status: NotRun,
				Message: "needs " + strings.Join(missing, " and ")})
			continue
		}
		start := time.Now()
		result := outcome(c, within(ctx, limit, c, exercise))
		result.Elapsed = time.Since(start)
		report.Results = append(report.Results, result)
	}
	progress(len(w.Checks), len(w.Checks), "")
	return report
}

// within runs a check on a goroutine of its own, so that a panic or an endless
// loop in the exercise ends that check and nothing else.
func within(ctx context.Context, limit time.Duration, c NamedCheck, exercise any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit,
		fmt.Errorf("the exercise did not return within %v; look for a loop that never ends", limit))
	defer cancel()
	done := make(chan error, 1) // of size 1: a late check must not wait for a reader
	go func() {
		returned := false
		defer func() {
			if returned {
				return
			}
			if r := recover(); r != nil {
				done <- recovered(r)
				return
			}
			done <- fmt.Errorf("the exercise ended its goroutine; return from the function instead of calling runtime.Goexit")
		}()
		err := c.Run(ctx, exercise)
		returned = true
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select { // an exercise that watches ctx, or that was interrupted, ends now
	case <-done:
		return context.Cause(ctx)
	case <-time.After(grace):
		return fmt.Errorf("%w. It still runs, until you restart", context.Cause(ctx))
	}
}

// grace is what an exercise gets to end after its time is over.
const grace = 100 * time.Millisecond

// call writes the call that gives all functions.
func (w *Workshop) call() string {
	args := []string{fmt.Sprintf("%q", w.ID)}
	for _, f := range w.Functions {
		args = append(args, f.Name)
	}
	return "workshops.Check(" + strings.Join(args, ", ") + ")"
}

func (w *Workshop) signatures() string {
	var wants []string
	for _, f := range w.Functions {
		wants = append(wants, f.Want)
	}
	return strings.Join(wants, "; or ")
}

// describe names the type of an argument as a learner knows it.
func describe(v any) string {
	if v == nil {
		return "nil"
	}
	t := reflect.TypeOf(v)
	if t.Kind() == reflect.Func {
		return "a " + t.String()
	}
	return fmt.Sprintf("a value of type %s, not a function", t)
}

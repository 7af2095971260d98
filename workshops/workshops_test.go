package workshops_test

import (
	"context"
	"errors"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/warpbook/warpbook/workshops"
)

// double is a workshop with two functions: Double and Half.
func double() workshops.Workshop {
	type exercise struct {
		double func(int) int
		half   func(int) (int, error)
	}
	accept := func(want any) func(any) bool {
		return func(fn any) bool { return reflect.TypeOf(fn) == reflect.TypeOf(want) }
	}
	run := func(name, needs string, f func(e exercise) error) workshops.NamedCheck {
		return workshops.On(name, needs, func(_ context.Context, e exercise) error { return f(e) })
	}
	return workshops.Workshop{
		ID: "double", Title: "Double and half",
		Functions: []workshops.Function{
			{Name: "Double", Want: "Double(x int) int", Accepts: accept(func(int) int { return 0 })},
			{Name: "Half", Want: "Half(x int) (int, error)", Accepts: accept(func(int) (int, error) { return 0, nil })},
		},
		Bind: func(given map[string]any) (any, error) {
			var e exercise
			e.double, _ = given["Double"].(func(int) int)
			e.half, _ = given["Half"].(func(int) (int, error))
			return e, nil
		},
		Checks: []workshops.NamedCheck{
			run("doubles", "Double", func(e exercise) error {
				if got := e.double(3); got != 6 {
					return &workshops.Failure{Property: "Double(x) is x + x", Index: []int{0}, Expected: 6, Actual: got, Detail: "Double(3)"}
				}
				return nil
			}),
			run("halves", "Half", func(e exercise) error {
				_, err := e.half(4)
				return err
			}),
			run("round trip", "Double Half", func(e exercise) error {
				_, err := e.half(e.double(1))
				return err
			}),
		},
	}
}

func good(x int) int            { return x + x }
func half(x int) (int, error)   { return x / 2, nil }
func todoHalf(int) (int, error) { return 0, workshops.TODO("Half") }
func statuses(r workshops.Report) string {
	var s []string
	for _, result := range r.Results {
		s = append(s, string(result.Status))
	}
	return strings.Join(s, ", ")
}

func TestStatuses(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	for _, test := range []struct {
		name      string
		functions []any
		want      string
		text      string // in the report
	}{
		{"all right", []any{good, half}, "pass, pass, pass", "3 of 3 checks passed."},
		{"any order", []any{half, good}, "pass, pass, pass", "3 of 3"},
		{"a subset", []any{good}, "pass, not run, not run", "needs Half"},
		{"wrong", []any{func(x int) int { return x }, half}, "fail, pass, pass", "first wrong at index 0"},
		{"TODO returned", []any{good, todoHalf}, "pass, todo, todo", "TODO: Half"},
		{"TODO panicked", []any{func(int) int { panic(workshops.TODO("Double")) }, half}, "todo, pass, todo", "TODO: Double"},
		{"TODO wrapped", []any{good, func(int) (int, error) { return 0, errors.Join(errors.New("x"), workshops.ErrTODO) }}, "pass, todo, todo", "unfinished"},
		{"panic", []any{func(x int) int { return []int{}[x] }, half}, "error, pass, error", "index out of range [3]"},
		{"nil panic value", []any{func(x int) int { panic(nil) }, half}, "error, pass, error", "panicked"},
		{"goexit", []any{func(x int) int { runtime.Goexit(); return 0 }, half}, "error, pass, error", "runtime.Goexit"},
		{"hang", []any{func(x int) int { <-release; return 0 }, half}, "error, pass, error", "did not return within 300ms"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := double()
			given, err := w.Match(test.functions...)
			if err != nil {
				t.Fatal(err)
			}
			report := w.Run(context.Background(), given, 300*time.Millisecond)
			if got := statuses(report); got != test.want {
				t.Errorf("statuses = %s, want %s", got, test.want)
			}
			if !strings.Contains(report.String(), test.text) {
				t.Errorf("no %q in\n%s", test.text, report)
			}
			if report.Passed() != (test.text[0] == '3') {
				t.Errorf("Passed() = %v", report.Passed())
			}
		})
	}
}

// Wrong arguments are errors that say what is expected, not panics.
func TestMatchErrors(t *testing.T) {
	call := `workshops.Check("double", Double, Half)`
	for _, test := range []struct {
		name      string
		functions []any
		want      string
	}{
		{"nothing", nil, call},
		{"a number", []any{3}, "argument 2 is a value of type int, not a function"},
		{"nil", []any{nil}, "argument 2 is nil"},
		{"nil function", []any{(func(int) int)(nil)}, "argument 2 is a nil function"},
		{"another signature", []any{good, strings.ToUpper}, "argument 3 is a func(string) string, which is none of the workshop's functions; expected Double(x int) int; or Half"},
		{"twice", []any{good, good}, "argument 3 is a second function of the type of Double"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := double()
			_, err := w.Match(test.functions...)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error = %v, want %q", err, test.want)
			}
		})
	}
	if r := workshops.Check("no_such", good); r.Err == nil || r.Passed() || !strings.Contains(r.String(), "no_such") {
		t.Errorf("report = %s", r)
	}
}

// The report shows itself in a notebook; what a learner's code says is text in
// it, never markup.
func TestMIMEBundle(t *testing.T) {
	w := double()
	report := w.Run(context.Background(), map[string]any{
		"Double": func(x int) int { return x },
		"Half":   func(int) (int, error) { return 0, errors.New("<script>&") },
	}, time.Minute)
	bundle := report.MIMEBundle()
	page, _ := bundle["text/html"].(string)
	for _, want := range []string{"<table>", "✗ failed", "Double(x) is x + x", "<code>6</code>", "<code>3</code>", "&lt;script&gt;&amp;", "0 of 3 checks passed, 1 failed, 2 ended with an error."} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	if strings.Contains(page, "<script>") {
		t.Error("the learner's text became markup")
	}
	if bundle["text/plain"] != report.String() {
		t.Errorf("text/plain = %v", bundle["text/plain"])
	}
	wrong := workshops.Report{ID: "x", Err: errors.New("a < b")}
	if page, _ := wrong.MIMEBundle()["text/html"].(string); !strings.Contains(page, "a &lt; b") {
		t.Errorf("html = %s", page)
	}
}

func TestFailureText(t *testing.T) {
	f := &workshops.Failure{Property: "P", Index: []int{2, 5}, Expected: 1.5, Actual: 2.5, Detail: "d"}
	if got, want := f.Error(), "P; first wrong at index 2, 5; expected 1.5, got 2.5 (d)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRegisterTwice(t *testing.T) {
	workshops.Register(double())
	defer func() {
		if recover() == nil {
			t.Error("two workshops with one id were accepted")
		}
	}()
	workshops.Register(double())
}

func TestHint(t *testing.T) {
	if got := workshops.Hint("no_such"); !strings.Contains(string(got), `no workshop "no_such"`) {
		t.Errorf("hint = %q", got)
	}
}

package runner

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"io"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/traefik/yaegi/interp"
	"github.com/traefik/yaegi/stdlib"

	"github.com/warpbook/warpbook/cuda"
	"github.com/warpbook/warpbook/workshops"
)

// exercise is a loaded file: its functions, and the guard that they look at.
type exercise struct {
	given   map[string]any
	guard   *guard
	trace   *trace
	untyped error // why the types were not checked first, if they were not
}

// load interprets the Go files of an exercise and takes the workshop's
// functions out of it. Its errors are for the learner to read.
func (j *job) load(ctx context.Context, w workshops.Workshop, src source) (*exercise, error) {
	e := &exercise{given: map[string]any{}, guard: &guard{}, trace: &trace{}}
	for _, f := range src.files {
		var err error
		switch filepath.Ext(f.Name) {
		case ".go":
			err = j.loadFile(ctx, w, src, f, e)
		case ".cu": // its mistakes are told once, and not by every check
			_, err = cuda.Compile(ctx, f.Name, f.Text)
		}
		if err != nil {
			return nil, err
		}
	}
	return e, nil
}

func (j *job) loadFile(ctx context.Context, w workshops.Workshop, src source, f workshops.File, e *exercise) error {
	file, err := j.parse(f)
	if err != nil {
		return err
	}
	e.untyped = file.untyped
	if err := file.embed(src.files); err != nil {
		return err
	}

	limit := cmp.Or(j.Limit, workshops.DefaultLimit)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%s: its package variables were not computed within %v; look for a loop that never ends", f.Name, limit))
	defer cancel()
	e.guard.begin(ctx)
	in := interp.New(interp.Options{Stdout: j.out, Stderr: e.trace})
	for _, symbols := range []interp.Exports{stdlib.Symbols, e.guard.symbols(), lent()} {
		if err := in.Use(symbols); err != nil {
			return fmt.Errorf("the interpreter did not start: %w", err)
		}
	}
	done := make(chan error, 1)
	go func() { done <- interpret(in, f.Name, file.lowered()) }()
	select {
	case err := <-done:
		if err != nil {
			return file.explain(err)
		}
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	for _, want := range w.Functions {
		if !file.declares(want.Name) {
			continue // its checks are then not run
		}
		v, err := in.Eval(file.syntax.Name.Name + "." + want.Name)
		if err != nil {
			return file.explain(err)
		}
		if err := w.Fits(want.Name, v.Interface()); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		e.given[want.Name] = v.Interface()
	}
	return nil
}

// interpret loads lowered source. The interpreter panics on some of what it
// cannot run.
func interpret(in *interp.Interpreter, name, text string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", unwrap(r))
		}
	}()
	syntax, err := parser.ParseFile(in.FileSet(), name, text, 0)
	if err != nil {
		return err
	}
	program, err := in.CompileAST(syntax)
	if err != nil {
		return err
	}
	_, err = in.Execute(program)
	return err
}

// run runs the checks with the guard armed for each, and says where in the file
// a panic came from.
func (e *exercise) run(ctx context.Context, w workshops.Workshop, limit time.Duration) workshops.Report {
	checks := make([]workshops.NamedCheck, len(w.Checks))
	for i, c := range w.Checks {
		checks[i] = c
		checks[i].Run = func(ctx context.Context, bound any) (err error) {
			e.guard.begin(ctx)
			e.trace.reset()
			defer func() {
				if r := recover(); r != nil {
					err = e.panicked(r)
				}
			}()
			return c.Run(ctx, bound)
		}
	}
	w.Checks = checks
	return w.Run(ctx, e.given, limit)
}

// panicked turns a panic of interpreted code into an error.
func (e *exercise) panicked(r any) error {
	r = unwrap(r)
	if err, ok := r.(error); ok && errors.Is(err, workshops.ErrTODO) {
		return err
	}
	if at := e.trace.place(); at != "" {
		return fmt.Errorf("the exercise panicked at %s: %v", at, r)
	}
	return fmt.Errorf("the exercise panicked: %v", r)
}

// unwrap returns what an interpreted panic was called with.
func unwrap(r any) any {
	switch p := r.(type) {
	case reflect.Value:
		if p.IsValid() && p.CanInterface() {
			return p.Interface()
		}
	case interp.Panic:
		return unwrap(p.Value)
	}
	return r
}

// declares says whether the file has a function of that name.
func (f *file) declares(name string) bool {
	for _, d := range f.syntax.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == name {
			return true
		}
	}
	return false
}

// trace holds what the interpreter says about panics: a line for each call that
// they leave, innermost first. It keeps the first few.
type trace struct {
	mu   sync.Mutex
	text bytes.Buffer
}

var _ io.Writer = (*trace)(nil)

// Write implements io.Writer.
func (t *trace) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.text.Len() < 1<<16 {
		t.text.Write(p)
	}
	return len(p), nil
}

func (t *trace) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text.Reset()
}

// callLine is such a line. The column is left out of what the learner sees: the
// guards have moved it.
var callLine = regexp.MustCompile(`(?m)^(.+\.go:\d+):\d+: panic`) // never changed

func (t *trace) place() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if m := callLine.FindStringSubmatch(t.text.String()); m != nil {
		return strings.TrimSpace(m[1])
	}
	return ""
}

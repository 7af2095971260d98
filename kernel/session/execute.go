package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/warpbook/warpbook/display"
	"github.com/warpbook/warpbook/kernel/engine"
	"github.com/warpbook/warpbook/kernel/front"
	"github.com/warpbook/warpbook/kernel/gotool"
	"github.com/warpbook/warpbook/kernel/lower"
)

// Execute runs one cell.
func (s *Notebook) Execute(ctx context.Context, c Cell, ev Events) (out Outcome) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer s.opt.Tool.During(ctx)()
	s.mu.Lock()
	s.cancel = cancel
	s.mu.Unlock()
	if before := s.setSource(c.Count, c.Code); before != "" { // this cell does not count: its number is another's
		defer s.setSource(c.Count, before)
	}
	defer func() {
		s.mu.Lock()
		s.cancel = nil
		s.mu.Unlock()
		if r := recover(); r != nil { // a defect of ours must not cost the notebook
			s.opt.Log.Error("panic in Execute", "value", r, "stack", string(debug.Stack()))
			out.Err = internalError(fmt.Errorf("%v", r))
		}
	}()
	r := &run{s: s, ctx: ctx, cell: c, ev: ev}
	out = r.cellCode(c.Code)
	if out.Err == nil && !c.Silent {
		s.good = append(s.good, c.Code)
	}
	if out.Err == nil {
		out.Values = r.expressions(c.UserExpressions)
	}
	return out
}

// A run is one Execute.
type run struct {
	s    *Notebook
	ctx  context.Context
	cell Cell
	ev   Events
}

// errInterrupted ends a cell whose context was cancelled.
func interrupted() *Error {
	return &Error{Name: "interrupted", Value: "the cell was interrupted", Traceback: []string{bold("interrupted") + ": the cell was interrupted; its variables are kept"}}
}

// goCode checks and runs Go source whose lines are those of the cell.
func (r *run) goCode(code string) *Error {
	_, err := r.eval(code, false)
	return err
}

// eval runs Go source. With value it returns what the last expression shows
// instead of publishing it.
func (r *run) eval(code string, value bool) (*display.Bundle, *Error) {
	s := r.s
	cell, diags := s.front.Check(r.cell.Count, code)
	if r.ctx.Err() != nil { // an import may have waited for the compiler
		return nil, interrupted()
	}
	if len(diags) > 0 {
		return nil, s.compileError(diags)
	}
	defer s.front.Forget(cell)
	if value && (cell.Show == nil || cell.Quiet) {
		return nil, simpleError("compile error", "not an expression with a value")
	}
	if empty(cell) {
		s.front.Commit(cell, func(int) bool { return false })
		return nil, nil
	}
	outcome, archive, err := r.runCell(cell, value)
	if err != nil {
		if r.ctx.Err() != nil {
			return nil, interrupted()
		}
		return nil, s.lowerError(err)
	}
	if outcome.Died != "" {
		s.reset()
		return nil, s.diedError(outcome.Died)
	}
	if unsupported(outcome) {
		return nil, s.panicError(outcome.Panic)
	}
	if archive != "" {
		s.cells[cell.Package] = archive
	}
	s.front.Commit(cell, func(slot int) bool { return slices.Contains(outcome.Defined, slot) })
	switch {
	case outcome.Panic != nil:
		return nil, s.panicError(outcome.Panic)
	case outcome.Exit != nil && *outcome.Exit != 0:
		return nil, simpleError("exit", fmt.Sprintf("exit status %d", *outcome.Exit))
	}
	return bundleOf(outcome.Bundle), nil
}

// runCell makes a program of a cell and runs it. A script that yaegi refuses
// after all has not run, and the compiler takes its place.
func (r *run) runCell(cell *front.Cell, value bool) (out engine.Outcome, archive string, err error) {
	mode := r.s.mode
	for {
		prog, archive, err := r.program(cell, mode)
		if err != nil {
			return out, "", err
		}
		child, err := r.s.process(r.ctx)
		if err != nil {
			return out, "", fmt.Errorf("the session cannot start: %w", err)
		}
		if mode == r.s.mode {
			for _, w := range cell.Warnings {
				r.ev.Stream("stderr", "warning: "+w.Msg+"\n")
			}
		}
		prog.Value = value
		out = child.Run(r.ctx, prog, sink{r})
		if prog.Plugin != "" {
			_ = os.Remove(prog.Plugin) // it is mapped now, and each is megabytes
			return out, archive, nil
		}
		if mode != "auto" || !unsupported(out) || r.s.opt.Tool.Usable() != nil {
			return out, archive, nil
		}
		r.s.opt.Log.Warn("the interpreter refuses a script", "why", out.Panic.Text)
		mode = "compiled"
	}
}

func unsupported(o engine.Outcome) bool {
	return o.Panic != nil && o.Panic.Kind == engine.Unsupported
}

func empty(c *front.Cell) bool {
	if len(c.Units) > 0 || len(c.Defined) > 0 || c.HasMain || len(c.Blank) > 0 {
		return false
	}
	return c.Body == nil && len(c.Inits) == 0
}

// bundleOf reads a bundle that came through JSON.
func bundleOf(v any) *display.Bundle {
	if v == nil {
		return nil
	}
	if b, ok := v.(*display.Bundle); ok {
		return b
	}
	data, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var b display.Bundle
	if json.Unmarshal(data, &b) != nil {
		return nil
	}
	return &b
}

// program makes what the child runs: a script when every construct of the cell
// is known to be exact in yaegi, a plugin otherwise.
func (r *run) program(cell *front.Cell, mode string) (prog engine.Program, archive string, err error) {
	s := r.s
	id := s.nextID()
	canCompile := s.opt.Tool.Usable()
	if mode != "compiled" {
		prog, err = lower.Script(cell, id)
		if err == nil {
			return prog, "", nil
		}
		var refused *lower.Refused
		if !errors.As(err, &refused) {
			return prog, "", err
		}
		if mode == "yaegi" || canCompile != nil {
			return prog, "", s.needsCompiler(refused, canCompile)
		}
	}
	if canCompile != nil {
		return prog, "", canCompile
	}
	unit, err := lower.Compiled(cell)
	if err != nil {
		return prog, "", err
	}
	built, err := s.opt.Tool.Build(r.ctx, gotool.Unit{
		Path: unit.Path, Files: unit.Files, Dir: s.temp, Cells: maps.Clone(s.cells),
		Embeds: unit.Embeds, Base: s.folder(),
		Imports: slices.DeleteFunc(unit.Imports, func(p string) bool { return strings.HasPrefix(p, "wb/") || p == "unsafe" }),
	})
	if err != nil {
		return prog, "", err
	}
	prog = engine.Program{
		ID: id, Count: cell.Count, Name: front.FileName(cell.Count),
		Plugin: filepath.Clean(built.Plugin), Package: unit.Path, Entry: unit.Entry,
	}
	return prog, built.Archive, nil
}

// expressions evaluates the user expressions of a request, each on its own.
func (r *run) expressions(exprs map[string]string) map[string]Value {
	out := map[string]Value{}
	s := r.s
	for name, code := range exprs {
		s.setSource(r.cell.Count, code) // errors quote the expression
		b, err := r.eval(code, true)
		switch {
		case err != nil:
			out[name] = Value{Err: err}
		case b == nil:
			out[name] = Value{Err: simpleError("compile error", "no value")}
		default:
			out[name] = Value{Bundle: *b}
		}
	}
	if len(exprs) > 0 {
		s.setSource(r.cell.Count, r.cell.Code)
	}
	return out
}

// setSource keeps the text of a cell for tracebacks, and returns what was there.
func (s *Notebook) setSource(count int, code string) (before string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before = s.sources[count]
	s.sources[count] = code
	delete(s.sources, count-1000)
	return before
}

// sink passes a program's output on.
type sink struct{ r *run }

func (k sink) Stream(name, text string)  { k.r.ev.Stream(name, text) }
func (k sink) Publish(m display.Message) { k.r.ev.Publish(m) }
func (k sink) Input(ctx context.Context, prompt string, password bool) (string, error) {
	if !k.r.cell.AllowStdin {
		return "", ErrNoStdin
	}
	return k.r.ev.Input(ctx, prompt, password)
}
func (k sink) Comm(c engine.Comm) {
	k.r.s.comms.note(c)
	k.r.ev.Comm(Comm(c))
}

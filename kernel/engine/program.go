package engine

import (
	"context"
	"fmt"
	"os"
	"plugin"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/warpbook/warpbook/cuda"
	"github.com/warpbook/warpbook/display"
	"github.com/warpbook/warpbook/kernel/rt"
)

// grace is how long an interrupted program may take to end before it is left behind.
const grace = 2 * time.Second

// Causes of rt's Stop.
const (
	causeInterrupt = rt.Interrupted
	causeStdin     = "stdin: " // and why
)

// run is one run of a program in the child.
type run struct {
	server *server
	prog   Program
	cell   *rt.Cell
	asked  atomic.Bool // the parent was told that a read waits

	mu     sync.Mutex
	bundle *display.Bundle
	late   map[string]*source // what it prints when another program runs
}

// main runs the program and tells the parent how it ended.
func (r *run) main() {
	ended := make(chan struct{})
	go r.monitor(ended)
	end := r.cell.Run(r.body, grace)
	close(ended)
	s := r.server
	s.mu.Lock()
	s.cell = nil
	s.mu.Unlock()
	if end.Left && r.prog.Script != "" {
		s.scripts.abandon() // it may still be at work in there
	}
	out := r.outcome(end)
	if err := s.stdin.renew(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err := s.link.send(message{Op: opDone, Outcome: &out}); err != nil {
		// The parent is gone, or a bundle was too much; the latter can be said.
		err = s.link.send(message{Op: opDone, Outcome: &Outcome{Defined: out.Defined, Panic: &Panic{Kind: "panic", Text: err.Error()}}})
		if err != nil {
			fmt.Fprintf(os.Stderr, "fatal error: the session has lost its connection to the kernel: %v\n", err)
			os.Exit(1)
		}
	}
	if out.Panic != nil && out.Panic.Kind == "recursion" {
		go runtime.GC() // gives the stack back
	}
}

// refusal is the panic of a program that the engine cannot run.
type refusal struct{ err error }

// body is what the cell's main goroutine does.
func (r *run) body() {
	p := &r.prog
	if p.Comm != nil {
		if err := display.DeliverComm(*p.Comm); err != nil {
			panic(err)
		}
		return
	}
	if p.Plugin != "" {
		if _, err := plugin.Open(p.Plugin); err != nil {
			panic(refusal{fmt.Errorf("load the compiled cell: %w", err)})
		}
	}
	if p.Entry {
		pkg, ok := rt.Lookup(p.Package)
		if !ok || pkg.Entry == nil {
			panic(refusal{fmt.Errorf("the compiled cell %s has not registered itself", p.Package)})
		}
		pkg.Entry()
	}
	if p.Script != "" {
		f, err := r.server.scripts.compile(p, r.cell)
		if err != nil {
			panic(refusal{err})
		}
		f()
	}
	if err := cuda.Settle(context.Background()); err != nil {
		panic(fault{err})
	}
}

// fault is the panic of a cell whose work on a device went wrong, found at its end.
type fault struct{ err error }

func (r *run) outcome(end rt.End) Outcome {
	out := Outcome{Defined: r.cell.Defined(), Exit: end.Exit}
	r.mu.Lock()
	if r.bundle != nil {
		out.Bundle = *r.bundle
	}
	r.mu.Unlock()
	switch {
	case end.Exit != nil:
	case end.Panicked:
		out.Panic = describe(end)
	case end.Stopped == causeInterrupt:
		out.Panic = &Panic{Kind: "interrupt", Text: "interrupted", Frames: framesOf(end.Frames), Left: end.Left}
	case end.Stopped != "":
		out.Panic = &Panic{Kind: Stdin, Text: end.Stopped[len(causeStdin):], Frames: framesOf(end.Frames), Left: end.Left}
	}
	return out
}

// describe tells a panic.
func describe(end rt.End) *Panic {
	v := unwrap(end.Value)
	p := &Panic{Kind: "panic", Text: shortened(rt.PanicText(v)), Frames: framesOf(end.Frames)}
	switch v := v.(type) {
	case fault:
		p.Kind, p.Text, p.Frames = Device, v.err.Error(), nil
	case refusal:
		p.Kind, p.Text = Unsupported, v.err.Error()
	case *rt.Recursion:
		p.Kind = "recursion"
	case runtime.Error:
		p.Kind = "runtime error"
	}
	if end.Stopped == causeInterrupt {
		p.Kind, p.Text = "interrupt", "interrupted"
	}
	return p
}

func framesOf(list []rt.Frame) []Frame {
	var out []Frame
	for _, f := range list {
		out = append(out, Frame(f))
	}
	return out
}

// unwrap finds the value in what yaegi panics with: a reflect.Value, or a
// struct of its own that has one as the field "value".
func unwrap(v any) any {
	for range 4 {
		r, ok := v.(reflect.Value)
		if !ok {
			s := reflect.ValueOf(v)
			if s.Kind() != reflect.Struct || s.Type().PkgPath() != "github.com/traefik/yaegi/interp" {
				return v
			}
			f, ok := s.Type().FieldByName("value")
			if !ok || f.Type != reflect.TypeFor[reflect.Value]() {
				return v
			}
			p := reflect.New(s.Type())
			p.Elem().Set(s)
			r = *(*reflect.Value)(unsafe.Add(p.UnsafePointer(), f.Offset))
		}
		if !r.IsValid() || !r.CanInterface() {
			return v
		}
		v = r.Interface()
	}
	return v
}

func (r *run) stopped() bool {
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	return r.server.cell != r.cell || r.cell.Stopped()
}

// refuse ends the program because there is no input for it.
func (r *run) refuse(why string) {
	r.cell.Stop(causeStdin + why)
	r.server.stdin.end()
}

// drain sends on what the program has printed late.
func (r *run) drain() {
	r.mu.Lock()
	var list []*source
	for _, src := range r.late {
		list = append(list, src)
	}
	r.mu.Unlock()
	for _, src := range list {
		src.drain()
	}
}

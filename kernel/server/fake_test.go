package server_test

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/warpbook/warpbook/display"
	"github.com/warpbook/warpbook/kernel/session"
)

// fake is a session whose cells are scripts of one command a line:
//
//	print TEXT, eprint TEXT      a line on stdout or stderr
//	pieces A B ...               Go-quoted pieces of stdout, unjoined
//	lines N WIDTH                N numbered lines, padded with WIDTH dots
//	result TEXT, html TEXT       a result; HTML only
//	display ID TEXT, update ID TEXT, clear WAIT
//	nan                          a bundle that JSON cannot hold
//	page TEXT                    a payload
//	input PROMPT, password PROMPT   ask, then print the answer
//	late TEXT                    print after the cell has ended
//	comm ID TARGET               open a comm with a buffer
//	error NAME TEXT, bare        fail; without a traceback
//	wait                         wait for an interrupt
//	panic                        panic
type fake struct {
	deaf    bool // Interrupt does nothing, as when it comes before the cell has begun
	tame    bool // no command that waits or repeats
	mu      sync.Mutex
	stop    chan struct{} // closed by Interrupt while a cell runs
	comms   map[string]string
	ran     []string // code of the cells that ran
	closed  bool
	started chan struct{} // gets a token when "wait" begins to wait
	ended   sync.WaitGroup
}

func newFake() *fake { return &fake{comms: map[string]string{}, started: make(chan struct{}, 100)} }

func (f *fake) Execute(ctx context.Context, c session.Cell, ev session.Events) (out session.Outcome) {
	stop := make(chan struct{})
	f.mu.Lock()
	f.stop = stop
	f.ran = append(f.ran, c.Code)
	f.mu.Unlock()
	defer func() { f.mu.Lock(); f.stop = nil; f.mu.Unlock() }()
	for line := range strings.Lines(c.Code) {
		verb, arg, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if out.Err = f.command(ctx, stop, verb, arg, ev, &out); out.Err != nil {
			return out
		}
	}
	if len(c.UserExpressions) > 0 {
		out.Values = map[string]session.Value{}
		for name, expr := range c.UserExpressions {
			switch verb, arg, _ := strings.Cut(expr, " "); verb {
			case "value":
				out.Values[name] = session.Value{Bundle: text(arg)}
			case "fail":
				out.Values[name] = session.Value{Err: &session.Error{Name: "undefined", Value: arg}}
			}
		}
	}
	return out
}

func text(s string) display.Bundle {
	return display.Bundle{Data: map[string]any{"text/plain": s}}
}

func (f *fake) command(ctx context.Context, stop chan struct{}, verb, arg string, ev session.Events, out *session.Outcome) *session.Error {
	first, rest, _ := strings.Cut(arg, " ")
	if f.tame && (verb == "wait" || verb == "lines" || verb == "input" || verb == "password" || verb == "late" || verb == "pieces") {
		return nil
	}
	switch verb {
	case "":
	case "print":
		ev.Stream("stdout", arg+"\n")
	case "eprint":
		ev.Stream("stderr", arg+"\n")
	case "pieces":
		for piece := range strings.FieldsSeq(arg) {
			s, err := strconv.Unquote(piece)
			if err != nil {
				panic(err)
			}
			ev.Stream("stdout", s)
		}
	case "lines":
		n, _ := strconv.Atoi(first)
		width, _ := strconv.Atoi(rest)
		pad := strings.Repeat(".", width)
		for i := range n {
			ev.Stream("stdout", strconv.Itoa(i)+pad+"\n")
		}
	case "result":
		ev.Publish(display.Message{Kind: display.Result, Bundle: text(arg)})
	case "html":
		ev.Publish(display.Message{Kind: display.Data, Bundle: display.Bundle{Data: map[string]any{"text/html": arg}}})
	case "display":
		ev.Publish(display.Message{Kind: display.Data, ID: first, Bundle: text(rest)})
	case "update":
		ev.Publish(display.Message{Kind: display.Update, ID: first, Bundle: text(rest)})
	case "clear":
		ev.Publish(display.Message{Kind: display.Clear, Wait: arg == "true"})
	case "json":
		ev.Publish(display.Message{Kind: display.Data, Bundle: display.Bundle{
			Data:     map[string]any{"application/json": map[string]any{"n": 1, "s": "<é>"}, "image/png": []byte{0x89, 'P'}, "text/plain": "j"},
			Metadata: map[string]any{"image/png": map[string]any{"width": 2}},
		}})
	case "nan":
		ev.Publish(display.Message{Kind: display.Data, Bundle: display.Bundle{Data: map[string]any{"application/json": math.NaN(), "text/plain": "kept"}}})
	case "page":
		out.Payload = append(out.Payload, map[string]any{"source": "page", "data": map[string]any{"text/plain": arg}, "start": 0})
	case "input", "password":
		answer, err := ev.Input(ctx, arg, verb == "password")
		if err != nil {
			return &session.Error{Name: "input error", Value: err.Error()}
		}
		ev.Stream("stdout", "got "+answer+"\n")
	case "late":
		f.ended.Go(func() {
			time.Sleep(20 * time.Millisecond)
			ev.Stream("stdout", arg+"\n")
			if _, err := ev.Input(context.Background(), "too late?", false); err != nil {
				ev.Stream("stderr", err.Error()+"\n")
			}
		})
	case "comm":
		f.mu.Lock()
		f.comms[first] = rest
		f.mu.Unlock()
		ev.Comm(session.Comm{Kind: "open", ID: first, Target: rest, Data: map[string]any{"k": 1},
			Metadata: map[string]any{"version": "2.1.0"}, Buffers: [][]byte{[]byte("\x00\xff")}})
	case "error":
		return &session.Error{Name: first, Value: rest, Traceback: []string{"\x1b[31m" + first + "\x1b[0m", "cell [n]:1:2"}}
	case "bare":
		return &session.Error{Name: "bare", Value: "no traceback"}
	case "wait":
		f.started <- struct{}{}
		select {
		case <-stop:
			return &session.Error{Name: "interrupted", Value: "the cell was interrupted"}
		case <-ctx.Done():
			return &session.Error{Name: "interrupted", Value: "the kernel is ending"}
		}
	case "panic":
		panic("boom")
	default:
		return &session.Error{Name: "compile error", Value: "unknown command " + verb}
	}
	return nil
}

func (f *fake) Interrupt() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stop != nil && !f.deaf {
		close(f.stop)
		f.stop = nil
	}
}

func (f *fake) Complete(ctx context.Context, code string, cursor int) (session.Completion, error) {
	if code == "fail" {
		return session.Completion{}, fmt.Errorf("no completion here; type more")
	}
	if code == "panic" {
		panic("boom")
	}
	return session.Completion{Start: cursor - 1, End: cursor, Items: []session.Item{
		{Text: "Println", Type: "function", Signature: "(a ...any)"}, {Text: "π", Type: "variable"},
	}}, nil
}

func (f *fake) Inspect(ctx context.Context, code string, cursor, detail int) (session.Inspection, error) {
	if code != "fmt" {
		return session.Inspection{}, nil
	}
	return session.Inspection{Found: true, Bundle: text(fmt.Sprintf("package fmt at %d, detail %d", cursor, detail))}, nil
}

func (f *fake) IsComplete(code string) (status, indent string) {
	if strings.HasSuffix(code, "{") {
		return "incomplete", "\t"
	}
	return "complete", ""
}

func (f *fake) HandleComm(ctx context.Context, c session.Comm, ev session.Events) {
	switch {
	case c.Kind == "open" && c.Target != "echo":
		ev.Comm(session.Comm{Kind: "close", ID: c.ID})
		return
	case c.Kind == "open":
		f.mu.Lock()
		f.comms[c.ID] = c.Target
		f.mu.Unlock()
	case c.Data["panic"] != nil:
		panic("boom")
	}
	ev.Stream("stdout", "comm "+c.Kind+"\n")
	ev.Comm(session.Comm{Kind: "msg", ID: c.ID, Data: c.Data, Metadata: c.Metadata, Buffers: c.Buffers})
}

func (f *fake) Comms() map[string]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[string]string{}
	for id, target := range f.comms {
		out[id] = target
	}
	return out
}

func (f *fake) Close() error {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.Interrupt()
	return nil
}

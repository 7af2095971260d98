package session

import (
	"context"

	"github.com/warpbook/warpbook/display"
)

// Cell is one execute request as the session sees it.
type Cell struct {
	Count           int    // the n of In [n]; errors call the cell "cell [n]"
	Code            string // source, magics included
	Silent          bool   // run without result display; the count is not the user's
	UserExpressions map[string]string
	AllowStdin      bool
}

// Events receives what a cell produces, in order. It stays valid after Execute
// has returned: a goroutine that outlives its cell still prints into that cell.
// Methods may block to slow the producer down; they are safe for concurrent use.
type Events interface {
	Stream(name, text string)                                                // name is "stdout" or "stderr"; text is whole runes
	Publish(display.Message)                                                 // display, update, result, clear
	Input(ctx context.Context, prompt string, password bool) (string, error) // ErrNoStdin when the front end takes none
	Comm(Comm)                                                               // a comm message from the session
}

// Comm is a comm message in either direction. Kind is "open", "msg" or "close".
type Comm struct {
	Kind     string
	ID       string
	Target   string // for open
	Data     map[string]any
	Metadata map[string]any
	Buffers  [][]byte
}

// Error is a failed cell, as the protocol reports it.
type Error struct {
	Name      string   // ename, for example "compile error", "panic", "interrupted"
	Value     string   // evalue, one sentence
	Traceback []string // rendered lines, with ANSI colours
}

// Value is the outcome of one user expression: Err or Bundle.
type Value struct {
	Bundle display.Bundle
	Err    *Error
}

// Outcome is what Execute returns. Err is nil when the cell succeeded.
type Outcome struct {
	Err     *Error
	Values  map[string]Value // user expressions, evaluated after success
	Payload []map[string]any // "page", "set_next_input"
}

// Completion answers complete_request; Start and End are code points.
type Completion struct {
	Start, End int
	Items      []Item
}

// Item is one completion with what JupyterLab shows beside it.
type Item struct {
	Text      string // what replaces [Start,End)
	Type      string // "function", "type", "variable", "constant", "field", "method", "package", "keyword", "magic"
	Signature string
}

// Inspection answers inspect_request.
type Inspection struct {
	Found  bool
	Bundle display.Bundle // text/plain and text/markdown
}

// Session runs the cells of one notebook. Execute is called by one goroutine at
// a time; everything else may be called at any time, while a cell runs too.
type Session interface {
	Execute(ctx context.Context, c Cell, ev Events) Outcome
	Interrupt() // stops the running cell, if any; Execute then returns an "interrupted" error
	Complete(ctx context.Context, code string, cursor int) (Completion, error)
	Inspect(ctx context.Context, code string, cursor, detail int) (Inspection, error)
	IsComplete(code string) (status, indent string) // "complete", "incomplete", "invalid", "unknown"
	HandleComm(ctx context.Context, c Comm, ev Events)
	Comms() map[string]string // open comms: id to target name
	Close() error             // ends the child and everything it started
}

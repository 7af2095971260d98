// Package history keeps what was typed in all notebooks, across kernels, in one
// SQLite file.
//
// The model: a Store is one kernel's window on the file. One goroutine owns the
// database; it opens it when it is first needed, so that Open costs nothing, and
// writes in batches, so that Add costs a channel send. Several kernels may have
// the same file open. History is a convenience: a file that is lost or corrupt is
// moved aside, one that cannot be written is replaced by memory, and the kernel
// goes on either way. The tables are IPython's.
package history

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/adrg/xdg"
)

// ErrClosed is the answer to a question asked of a closed Store.
var ErrClosed = errors.New("the history is closed; start the kernel again to read it")

// Entry is one input. Output is nil when none was asked for or none is known.
type Entry struct {
	Session int64
	Line    int
	Source  string
	Output  *string
}

// Want says what entries hold: the input as it was typed (Raw) or as it was run,
// and its output too.
type Want struct {
	Raw    bool
	Output bool
}

// DefaultPath is the history file in the user's data folder.
func DefaultPath() string { return filepath.Join(xdg.DataHome, "warpbook", "history.sqlite") }

// Store is one kernel's session in the history file. Its methods are safe for
// concurrent use.
type Store struct {
	ops  chan op
	done chan struct{}

	mu     sync.RWMutex // held for reading while sending to ops
	closed bool
}

// op is one wish of the owner goroutine: a write, or a question to answer.
type op struct {
	write *write
	ask   func(*database) ([]Entry, error)
	reply chan<- answer
}

type write struct {
	line        int
	source, raw string
	output      *string // an output when set, else an input
}

type answer struct {
	entries []Entry
	err     error
}

// Open returns the history kept at path; the file is touched only when it is
// first needed. The empty path keeps the history in memory.
func Open(path string, log *slog.Logger) *Store {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &Store{ops: make(chan op, 256), done: make(chan struct{})}
	go s.own(&database{path: path, log: log})
	return s
}

// Add records the input of a cell: source as it runs, raw as it was typed.
func (s *Store) Add(line int, source, raw string) {
	s.send(op{write: &write{line: line, source: source, raw: raw}})
}

// AddOutput records what a cell showed as its result, as plain text.
func (s *Store) AddOutput(line int, text string) {
	s.send(op{write: &write{line: line, output: &text}})
}

// Tail answers the last n inputs of all sessions, oldest first.
func (s *Store) Tail(ctx context.Context, n int, want Want) ([]Entry, error) {
	return s.ask(ctx, func(d *database) ([]Entry, error) { return d.tail(ctx, n, want) })
}

// Range answers the inputs of one session with start <= line < stop. Session 0 is
// the present one and -1 the one before it. A negative start or stop counts from
// the end of the session, and a stop of 0 means its end.
func (s *Store) Range(ctx context.Context, session int64, start, stop int, want Want) ([]Entry, error) {
	return s.ask(ctx, func(d *database) ([]Entry, error) { return d.between(ctx, session, start, stop, want) })
}

// Search answers the last n inputs that match an SQLite GLOB pattern, oldest
// first; all of them when n <= 0. Unique leaves only the latest of equal inputs.
func (s *Store) Search(ctx context.Context, pattern string, n int, unique bool, want Want) ([]Entry, error) {
	return s.ask(ctx, func(d *database) ([]Entry, error) { return d.search(ctx, pattern, n, unique, want) })
}

// Close writes what is pending and closes the file.
func (s *Store) Close() error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.ops)
	}
	s.mu.Unlock()
	<-s.done
	return nil
}

func (s *Store) send(o op) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return false
	}
	s.ops <- o
	return true
}

func (s *Store) ask(ctx context.Context, f func(*database) ([]Entry, error)) ([]Entry, error) {
	reply := make(chan answer, 1)
	if !s.send(op{ask: f, reply: reply}) {
		return nil, ErrClosed
	}
	select {
	case a := <-reply:
		return a.entries, a.err
	case <-ctx.Done():
		return nil, fmt.Errorf("the history took too long to answer; ask again: %w", ctx.Err())
	}
}

// writeDelay is how long the first of a batch of inputs waits for more: a cell's
// reply need not share the processor with SQLite.
const writeDelay = 100 * time.Millisecond

// own serves the wishes until the store is closed. Writes are gathered for a
// moment, and written before the question that follows them.
func (s *Store) own(d *database) {
	defer close(s.done)
	defer d.close()
	var batch []write
	var due <-chan time.Time // set while the batch waits
	flush := func() {
		if len(batch) > 0 {
			d.writeAll(batch)
		}
		batch, due = nil, nil
	}
	defer flush()
	for {
		select {
		case o, ok := <-s.ops:
			if !ok {
				return
			}
			if o.write != nil {
				batch = append(batch, *o.write)
				if due == nil {
					due = time.After(writeDelay)
				}
			}
			if o.ask != nil || len(batch) >= cap(s.ops) {
				flush()
			}
			if o.ask != nil {
				entries, err := d.answer(o.ask)
				o.reply <- answer{entries, err}
			}
		case <-due:
			flush()
		}
	}
}

package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/warpbook/warpbook/kernel/session"
)

// starter starts the session in the background, so that the kernel answers its
// first requests before there is one.
type starter struct {
	open func(context.Context) (session.Session, error)
	log  *slog.Logger

	mu     sync.Mutex
	last   *attempt
	closed bool
}

// attempt is one start of a session; s and err are set when done is closed.
type attempt struct {
	done chan struct{}
	s    session.Session
	err  error
}

var errEnding = errors.New("the kernel is ending; start it again to run cells")

// warm begins to start the session if nothing has tried to yet.
func (s *starter) warm(ctx context.Context) {
	s.mu.Lock()
	fresh := s.last == nil
	s.mu.Unlock()
	if fresh {
		s.start(ctx)
	}
}

// start begins to start the session, unless one is there or on its way.
func (s *starter) start(ctx context.Context) *attempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last != nil && (!s.last.failed() || s.closed) {
		return s.last
	}
	a := &attempt{done: make(chan struct{})}
	s.last = a
	if s.closed {
		a.err = errEnding
		close(a.done)
		return a
	}
	go func() {
		defer close(a.done)
		if !guard(s.log, "session start", func() { a.s, a.err = s.open(ctx) }) {
			a.s, a.err = nil, errors.New("starting the session panicked; see the kernel's log")
		}
		if a.s == nil && a.err == nil {
			a.err = errors.New("no session was started; see the kernel's log")
		}
		if a.err != nil {
			s.log.Error("cannot start the session", "err", a.err)
		}
	}()
	return a
}

func (a *attempt) failed() bool {
	select {
	case <-a.done:
		return a.err != nil
	default:
		return false
	}
}

// get waits for the session, starting it if need be; the wait ends with wait,
// the session with life.
func (s *starter) get(wait, life context.Context) (session.Session, error) {
	a := s.start(life)
	select {
	case <-a.done:
		return a.s, a.err
	case <-wait.Done():
		return nil, fmt.Errorf("the session has not started yet; try again: %w", context.Cause(wait))
	}
}

// peek returns the session, or nil when there is none yet.
func (s *starter) peek() session.Session {
	s.mu.Lock()
	a := s.last
	s.mu.Unlock()
	if a == nil {
		return nil
	}
	select {
	case <-a.done:
		return a.s
	default:
		return nil
	}
}

// close ends the session, also one that is just starting, and allows no other.
func (s *starter) close() {
	s.mu.Lock()
	s.closed = true
	a := s.last
	s.mu.Unlock()
	if a == nil {
		return
	}
	<-a.done
	if a.s == nil {
		return
	}
	guard(s.log, "session close", func() {
		if err := a.s.Close(); err != nil {
			s.log.Warn("the session did not end cleanly", "err", err)
		}
	})
}

package session

import (
	"context"
	"errors"
	"time"

	"github.com/warpbook/warpbook/kernel/gotool"
)

// refreshAfter is how long a session waits before it has the go command look
// after its cache, which may take some seconds of the processor.
const refreshAfter = time.Minute

// warm gets ready what the first questions and the first compiled cell need
// while the user still types. Nothing depends on it.
func (s *Notebook) warm(ctx context.Context) {
	var unavailable *gotool.Unavailable
	if err := s.opt.Tool.Prefetch(ctx); err != nil && ctx.Err() == nil && !errors.As(err, &unavailable) {
		s.opt.Log.Warn("the toolchain cannot be got ready", "error", err)
	}
	s.mu.Lock()
	front := s.front // a reset makes another one
	s.mu.Unlock()
	for _, path := range []string{"fmt", "strings", s.opt.Tool.Record().Module + "/display"} {
		if _, err := front.Import(path); err != nil {
			s.opt.Log.Debug("a package cannot be read", "path", path, "error", err)
		}
	}
	const code = "fmt.Print"
	a := s.assistant()
	a.Complete(code, len(code))
	a.Inspect(code, len(code), 0)
	select {
	case <-ctx.Done():
		return
	case <-time.After(refreshAfter):
	}
	if err := s.opt.Tool.Refresh(ctx); err != nil && ctx.Err() == nil && !errors.As(err, &unavailable) {
		s.opt.Log.Warn("compiled packages cannot be refreshed", "error", err)
	}
}

package session

import (
	"context"
	"maps"
	"sync"

	"github.com/warpbook/warpbook/kernel/engine"
)

// comms knows which comms are open.
type comms struct {
	mu   sync.Mutex
	open map[string]string // id to target
}

func (c *comms) note(m engine.Comm) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch m.Kind {
	case "open":
		if c.open == nil {
			c.open = map[string]string{}
		}
		c.open[m.ID] = m.Target
	case "close":
		delete(c.open, m.ID)
	}
}

func (c *comms) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open = nil
}

// Comms returns the open comms, id to target name.
func (s *Notebook) Comms() map[string]string {
	s.comms.mu.Lock()
	defer s.comms.mu.Unlock()
	out := maps.Clone(s.comms.open)
	if out == nil {
		out = map[string]string{}
	}
	return out
}

// HandleComm gives a comm message of the front end to the session's handlers.
func (s *Notebook) HandleComm(ctx context.Context, c Comm, ev Events) {
	child, err := s.process(ctx)
	if err != nil {
		if c.Kind == "open" {
			ev.Comm(Comm{Kind: "close", ID: c.ID})
		}
		return
	}
	s.comms.note(engine.Comm(c))
	msg := engine.Comm(c)
	id := s.nextID()
	r := &run{s: s, ctx: ctx, ev: ev}
	if out := child.Run(ctx, engine.Program{ID: id, Comm: &msg}, sink{r}); out.Panic != nil {
		ev.Stream("stderr", "panic in a comm handler: "+out.Panic.Text+"\n")
	}
}

package device

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Action is something that a device was told to do.
type Action struct {
	Kind        string // "launch", "alloc", "copy" or "fill"
	Stream      uint32 // the client's number; 0 is the default stream
	Kernel      string // of a launch, as the source calls it
	Grid, Block Dim
	Bytes       int64
}

// note adds to the log of actions, when one is kept.
func (s *server) note(a Action) {
	if s.log != nil {
		*s.log = append(*s.log, a)
	}
}

// option sets what the server has itself, and passes on what its backend has.
func (s *server) option(name, value string) error {
	on := value == "on"
	if name == "actions" || name == "guards" {
		if !on && value != "off" {
			return fmt.Errorf("%s are on or off, not %q", name, value)
		}
	}
	switch name {
	case "actions":
		s.log = nil
		if on {
			s.log = &[]Action{}
		}
		return nil
	case "guards":
		g := s.guard
		s.guard = nil
		if err := g.release(s); err != nil || !on {
			return err
		}
		var err error
		s.guard, err = newGuard(s)
		return err
	}
	return s.backend.Option(name, value)
}

// report answers with what was gathered, as JSON, or for "writer" and the number of a
// buffer with words.
func (s *server) report(name string) ([]byte, error) {
	switch name {
	case "actions":
		if s.log == nil {
			return nil, fmt.Errorf("no log of actions is kept")
		}
		return json.Marshal(*s.log)
	case "guards":
		broken, err := s.guard.check(s)
		if err != nil {
			return nil, err
		}
		return json.Marshal(broken)
	}
	if text, ok := strings.CutPrefix(name, "writer "); ok {
		id, err := strconv.ParseUint(text, 10, 32)
		b := s.buffers[uint32(id)]
		if err != nil || b == nil {
			return nil, fmt.Errorf("there is no buffer %s", text)
		}
		name = fmt.Sprintf("writer %d", b.base)
	}
	return s.backend.Report(name)
}

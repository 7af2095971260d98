package device

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// buffer is memory of a device. It comes from its home stream and goes back in that
// stream's order; others that use it are remembered, so that it goes back after their
// work too.
type buffer struct {
	base  Address // of the allocation
	addr  Address // of the first byte: behind a guard, when there are guards
	bytes int64
	label Label
	home  uint32
	users []uint32 // other streams
}

func (s *server) alloc(d *decoder) error {
	id, stream, n := d.u32(), d.u32(), d.u64()
	label, err := s.label(d.bytes())
	if err != nil {
		return err
	}
	st, err := s.stream(stream)
	if err != nil {
		return err
	}
	if old, ok := s.buffers[id]; ok && old.bytes == int64(n) {
		return nil // a tape that is played again
	}
	b := &buffer{bytes: int64(n), label: label, home: stream}
	s.note(Action{Kind: "alloc", Stream: stream, Bytes: int64(n)})
	if s.guard != nil {
		err = s.guard.alloc(s, b)
	} else {
		b.base, err = s.backend.Alloc(st, b.bytes, label)
		b.addr = b.base
	}
	if fault := (*Fault)(nil); err != nil && !errors.As(err, &fault) {
		return &Fault{Code: "memory", Message: err.Error()}
	} else if err != nil {
		return err
	}
	s.buffers[id] = b
	return nil
}

// label reads a label.
func (s *server) label(text []byte) (label Label, err error) {
	if label, ok := s.labels[string(text)]; ok {
		return label, nil
	}
	if err := json.Unmarshal(text, &label); err != nil {
		return label, fmt.Errorf("an allocation's label: %w", err)
	}
	if len(s.labels) >= 1024 {
		clear(s.labels)
	}
	s.labels[string(text)] = label
	return label, nil
}

// within finds a place in a buffer.
func (s *server) within(id uint32, offset, n uint64) (*buffer, Address, error) {
	b, ok := s.buffers[id]
	if !ok {
		return nil, 0, fmt.Errorf("there is no buffer %d", id)
	}
	if offset > uint64(b.bytes) || n > uint64(b.bytes)-offset {
		return nil, 0, fmt.Errorf("%d bytes at %d of a buffer of %d", n, offset, b.bytes)
	}
	return b, b.addr + Address(offset), nil
}

// buffer finds a place in a buffer that a stream is going to use. The first use by a
// stream other than its home comes after the home's work so far, which may be where
// the memory comes from.
func (s *server) buffer(stream, id uint32, offset, n uint64) (Address, error) {
	b, addr, err := s.within(id, offset, n)
	if err != nil || stream == b.home || slices.Contains(b.users, stream) {
		return addr, err
	}
	b.users = append(b.users, stream)
	if s.capture { // nothing from outside can be part of a capture
		return addr, s.sync(s.streams[b.home])
	}
	return addr, s.after(stream, b.home)
}

// after makes the later work of one stream wait for the work so far of another.
func (s *server) after(later, earlier uint32) error {
	to, err := s.stream(later)
	if err != nil {
		return err
	}
	from, err := s.stream(earlier)
	if err != nil {
		return err
	}
	e, err := s.backend.Record(from)
	if err != nil {
		return err
	}
	return errors.Join(s.backend.Wait(to, e), s.backend.FreeEvent(e))
}

func (s *server) free(id uint32, b *buffer) error {
	delete(s.buffers, id)
	switch {
	case s.guard.park(b):
		return nil
	case s.capture:
		s.held = append(s.held, b)
		return nil
	}
	return s.giveBack([]*buffer{b})
}

// giveBack frees buffers behind the work of all that use them.
func (s *server) giveBack(list []*buffer) error {
	for _, b := range list {
		for _, user := range b.users {
			if err := s.after(b.home, user); err != nil {
				return err
			}
		}
		if err := s.backend.Free(s.streams[b.home], b.base); err != nil {
			return err
		}
	}
	return nil
}

// write copies bytes from the host, after the work so far of all that use the buffer.
func (s *server) write(id uint32, offset uint64, data []byte) error {
	b, addr, err := s.within(id, offset, uint64(len(data)))
	if err != nil {
		return err
	}
	for _, user := range b.users {
		if err := s.sync(s.streams[user]); err != nil {
			return err
		}
	}
	return s.backend.Write(s.streams[b.home], addr, data)
}

// freeStream gives a stream back when its work is done; what came from it is the
// default stream's then.
func (s *server) freeStream(id uint32) error {
	st, err := s.stream(id)
	if err != nil || id == 0 {
		return err
	}
	if err := s.sync(st); err != nil {
		return err
	}
	move := func(b *buffer) {
		if b.home == id {
			b.home = 0
		}
		b.users = slices.DeleteFunc(b.users, func(u uint32) bool { return u == id || u == b.home })
	}
	for _, b := range s.buffers {
		move(b)
	}
	for _, g := range s.graphs {
		for _, b := range g.held {
			move(b)
		}
	}
	delete(s.streams, id)
	return s.backend.FreeStream(st)
}

package device

import (
	"fmt"
	"slices"
)

// guard puts each new buffer between two stretches that nothing may write, and fills
// the buffer with ones, which every type of floating-point numbers reads as NaN. The
// simulator watches every access itself and only needs the ones.
type guard struct {
	gpu    bool
	alive  []*buffer
	parked []*buffer // given back, and still to be looked at
}

const guardBytes = 256

var (
	guardPattern = []byte{0xa5} // never changed
	poison       = []byte{0xff}
)

func newGuard(s *server) (*guard, error) {
	g := &guard{gpu: s.backend.Info().Kind == "gpu"}
	if g.gpu {
		return g, nil
	}
	return g, s.backend.Option("poison", "on")
}

// alloc takes memory for b between guards.
func (g *guard) alloc(s *server, b *buffer) (err error) {
	st := s.streams[b.home]
	if !g.gpu {
		b.base, err = s.backend.Alloc(st, b.bytes, b.label)
		b.addr = b.base
		return err
	}
	if b.base, err = s.backend.Alloc(st, b.bytes+2*guardBytes, b.label); err != nil {
		return err
	}
	b.addr = b.base + guardBytes
	g.alive = append(g.alive, b)
	for _, fill := range []struct {
		at      Address
		pattern []byte
		n       int64
	}{{b.base, guardPattern, guardBytes}, {b.addr, poison, b.bytes}, {b.addr + Address(b.bytes), guardPattern, guardBytes}} {
		if err := s.backend.Fill(st, fill.at, fill.pattern, fill.n); err != nil {
			return err
		}
	}
	return nil
}

// park keeps a buffer that was given back until its guards were looked at.
func (g *guard) park(b *buffer) bool {
	if g == nil || !slices.Contains(g.alive, b) {
		return false
	}
	g.parked = append(g.parked, b)
	return true
}

// check waits for the device and says which guards were written.
func (g *guard) check(s *server) ([]string, error) {
	if g == nil {
		return nil, fmt.Errorf("no guards are set")
	}
	if err := s.sync(0); err != nil {
		return nil, err
	}
	broken := []string{}
	got := make([]byte, guardBytes)
	for _, b := range g.alive {
		for _, from := range []int64{-guardBytes, b.bytes} { // of the guard, from the buffer's start
			if err := s.backend.Read(0, got, b.addr+Address(from)); err != nil {
				return nil, err
			}
			if i := slices.IndexFunc(got, func(v byte) bool { return v != guardPattern[0] }); i >= 0 {
				broken = append(broken, fmt.Sprintf("something wrote beside %s: at byte %d of its %d", b.label.Name, from+int64(i), b.bytes))
			}
		}
	}
	return broken, nil
}

// release ends the watch: what was parked is given back.
func (g *guard) release(s *server) error {
	if g == nil {
		return nil
	}
	if !g.gpu {
		return s.backend.Option("poison", "off")
	}
	return s.giveBack(g.parked)
}

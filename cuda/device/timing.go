package device

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// player plays a tape of commands again and again. What a tape allocates belongs to
// it: dispatched calls give it back after each, as a program would that drops a
// result, and calls in a graph use the same memory each time.
type player struct {
	s      *server
	stream Stream
	tape   []command
	keep   bool // the memory of the play before is used again
	made   map[uint32]bool
}

// command is a frame that was read.
type command struct {
	op      op
	payload []byte
}

// readTape cuts a tape into its commands.
func readTape(tape []byte) (list []command, err error) {
	r := bufio.NewReader(bytes.NewReader(tape))
	for {
		o, payload, err := readFrame(r)
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		if o.answered() {
			return nil, fmt.Errorf("what is measured must not wait for the device")
		}
		list = append(list, command{o, payload})
	}
}

// play carries the tape out once.
func (p *player) play() error {
	for _, c := range p.tape {
		switch c.op {
		case opAlloc:
			p.made[(&decoder{b: c.payload}).u32()] = true
		case opFree:
			if p.keep && p.made[(&decoder{b: c.payload}).u32()] {
				continue
			}
		}
		if err := p.s.do(c.op, &decoder{b: c.payload}); err != nil {
			return err
		}
	}
	if p.keep {
		return nil
	}
	return p.drop()
}

// drop gives back what the tape has allocated and not freed.
func (p *player) drop() error {
	var errs []error
	for id := range p.made {
		if b, ok := p.s.buffers[id]; ok {
			errs = append(errs, p.s.free(id, b))
		}
	}
	clear(p.made)
	return errors.Join(errs...)
}

func (p *player) times(n int) error {
	for range n {
		if err := p.play(); err != nil {
			return err
		}
	}
	return nil
}

// record captures n plays as one graph.
func (p *player) record(n int) (graph, error) {
	if err := p.s.begin(p.stream); err != nil {
		return graph{}, err
	}
	err := p.times(n)
	g, end := p.s.end(p.stream)
	return g, errors.Join(err, end)
}

// time measures a tape and returns microseconds a call, one number for each sample.
func (s *server) time(d *decoder) (reply []byte, err error) {
	var spec Timing
	if err := json.Unmarshal(d.bytes(), &spec); err != nil {
		return nil, fmt.Errorf("a measurement: %w", err)
	}
	id := d.u32()
	stream, err := s.stream(id)
	if err != nil {
		return nil, err
	}
	tape, err := readTape(d.bytes())
	if err != nil {
		return nil, err
	}
	p := &player{s: s, stream: stream, tape: tape, keep: spec.Graph, made: map[uint32]bool{}}
	if d.bad || spec.Calls < 1 || spec.Calls > 1<<20 || spec.Samples < 1 || spec.Samples > 1<<20 {
		return nil, errShort
	}
	defer func() { err = errors.Join(err, p.drop()) }()
	if err := p.times(max(spec.Warmups, 1)); err != nil {
		return nil, err
	}
	if err := s.sync(stream); err != nil {
		return nil, err
	}
	run := func() error { return p.times(spec.Calls) }
	if spec.Graph {
		g, err := p.record(spec.Calls)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, s.freeGraph(g)) }()
		run = func() error { return s.backend.LaunchGraph(stream, g.id) }
		if err := run(); err != nil {
			return nil, err
		}
	}
	micros, err := s.samples(stream, run, spec)
	if err != nil {
		return nil, err
	}
	return json.Marshal(micros)
}

// samples measures run again and again.
func (s *server) samples(stream Stream, run func() error, spec Timing) ([]float64, error) {
	flush, err := s.flusher(stream, spec.Flush)
	if err != nil {
		return nil, err
	}
	defer flush(false)
	micros := make([]float64, 0, spec.Samples)
	for range spec.Samples {
		t, err := s.sample(stream, run, flush)
		if err != nil {
			return nil, err
		}
		micros = append(micros, float64(t.Nanoseconds())/1e3/float64(spec.Calls))
	}
	return micros, nil
}

// flusher returns a function that overwrites the cache, or with false frees what it
// needs for that.
func (s *server) flusher(stream Stream, n int64) (func(again bool) error, error) {
	if n <= 0 {
		return func(bool) error { return nil }, nil
	}
	addr, err := s.backend.Alloc(stream, n, Label{Name: "cache flush"})
	if err != nil {
		return nil, err
	}
	return func(again bool) error {
		if !again {
			return s.backend.Free(stream, addr)
		}
		return s.backend.Fill(stream, addr, []byte{0}, n)
	}, nil
}

func (s *server) sample(stream Stream, run func() error, flush func(bool) error) (time.Duration, error) {
	if err := flush(true); err != nil {
		return 0, err
	}
	if err := s.sync(stream); err != nil {
		return 0, err
	}
	from, err := s.backend.Record(stream)
	if err != nil {
		return 0, err
	}
	defer s.backend.FreeEvent(from)
	if err := run(); err != nil {
		return 0, err
	}
	to, err := s.backend.Record(stream)
	if err != nil {
		return 0, err
	}
	defer s.backend.FreeEvent(to)
	if err := s.sync(stream); err != nil {
		return 0, err
	}
	return s.backend.Elapsed(from, to)
}

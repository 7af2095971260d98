package cuda

import (
	"context"
	"fmt"
	"time"

	"github.com/warpbook/warpbook/cuda/device"
)

// Stream is a queue of work: what is in one stream is done in order, what is in
// several may be done at the same time.
type Stream struct {
	dev    *Device
	handle device.Handle
}

// NewStream makes a stream.
func (d *Device) NewStream() (*Stream, error) {
	h, err := d.client.NewStream()
	if err != nil {
		return nil, err
	}
	return &Stream{d, h}, nil
}

// Release gives the stream back.
func (s *Stream) Release() error { return s.dev.client.FreeStream(s.handle) }

// Sync waits for the stream's work, and returns what went wrong.
func (s *Stream) Sync() error {
	return s.dev.client.Sync(context.Background(), s.handle.Gen, s.handle.ID)
}

// Use makes s the device's current stream while f runs: launches that name no
// stream go there. Nil is the default stream.
func (d *Device) Use(s *Stream, f func() error) error {
	if s != nil && s.dev != d {
		return fmt.Errorf("the stream belongs to %s, not to %s", s.dev, d)
	}
	d.mu.Lock()
	before := d.stream
	d.stream = s
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		d.stream = before
		d.mu.Unlock()
	}()
	return f()
}

// Stream returns the current stream, nil for the default one.
func (d *Device) Stream() *Stream {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stream
}

func (d *Device) streamID() uint32 {
	if s := d.Stream(); s != nil {
		return s.handle.ID
	}
	return 0
}

// Event is a point in a stream's work.
type Event struct {
	dev    *Device
	handle device.Handle
}

// Record puts an event behind the work of the current stream.
func (d *Device) Record() (*Event, error) {
	gen, err := d.client.Generation()
	if err != nil {
		return nil, err
	}
	h, err := d.client.Record(gen, d.streamID())
	if err != nil {
		return nil, err
	}
	return &Event{d, h}, nil
}

// Wait makes later work of the stream wait for the event.
func (s *Stream) Wait(e *Event) error { return s.dev.client.Wait(s.handle.ID, e.handle) }

// Since is the time from one event to the other; it waits for both. On the
// simulator it is the time that the simulation took.
func (e *Event) Since(from *Event) (time.Duration, error) {
	return e.dev.client.Elapsed(context.Background(), from.handle, e.handle)
}

// Release gives the event back.
func (e *Event) Release() error { return e.dev.client.FreeEvent(e.handle) }

// Graph is work that was captured and can be repeated as a whole.
type Graph struct {
	dev    *Device
	handle device.Handle
}

// Capture records the work that f queues on the current stream instead of doing it.
func (d *Device) Capture(f func() error) (*Graph, error) {
	gen, err := d.client.Generation()
	if err != nil {
		return nil, err
	}
	id := d.streamID()
	if err := d.client.Begin(gen, id); err != nil {
		return nil, err
	}
	ferr := f()
	h, err := d.client.End(gen, id)
	if ferr != nil {
		return nil, ferr
	}
	if err != nil {
		return nil, err
	}
	return &Graph{d, h}, nil
}

// Replay queues the graph on the current stream.
func (g *Graph) Replay() error {
	g.dev.busy.Store(true)
	return g.dev.client.Replay(g.dev.streamID(), g.handle)
}

// Release gives the graph back.
func (g *Graph) Release() error { return g.dev.client.FreeGraph(g.handle) }

// Timing says how Time measures.
type Timing = device.Timing

// Time measures the work that f queues: it runs f once as it is, so that modules are
// loaded, once to record it, and repeats what it has recorded next to the driver. The
// result is microseconds a call, one for each sample. What f does must not wait for the
// device.
func (d *Device) Time(t Timing, f func() error) ([]float64, error) {
	gen, err := d.client.Generation()
	if err != nil {
		return nil, err
	}
	if err := f(); err != nil {
		return nil, err
	}
	tape, err := d.client.Tape(f)
	if err != nil {
		return nil, err
	}
	return d.client.Time(context.Background(), gen, d.streamID(), tape, t)
}

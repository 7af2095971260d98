package device

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"
)

// Info asks what the device is.
func (c *Client) Info(ctx context.Context) (info Info, err error) {
	b, err := c.ask(ctx, 0, opInfo, func(*encoder) {})
	if err != nil {
		return info, err
	}
	return info, json.Unmarshal(b, &info)
}

// askedBytes is the size from which an allocation waits to hear whether it fits.
const askedBytes = 64 << 20

// Alloc makes a buffer of n bytes in the generation gen, 0 for the current one.
func (c *Client) Alloc(ctx context.Context, stream uint32, n int64, label Label) (Handle, error) {
	text, err := json.Marshal(label)
	if err != nil {
		return Handle{}, err
	}
	gen, err := c.Generation()
	if err != nil {
		return Handle{}, err
	}
	h := Handle{c.id(), gen}
	build := func(e *encoder) {
		e.u32(h.ID)
		e.u32(stream)
		e.u64(uint64(n))
		e.bytes(text)
	}
	if n >= askedBytes {
		_, err = c.ask(ctx, gen, opAllocWait, build)
		return h, err
	}
	return h, c.post(gen, opAlloc, build)
}

// Free gives a buffer back. One of a dead generation is gone anyway.
func (c *Client) Free(h Handle) error {
	err := c.post(h.Gen, opFree, func(e *encoder) { e.u32(h.ID) })
	if errors.Is(err, ErrEnded) {
		return nil
	}
	return err
}

// Drop gives a buffer back that nobody refers to any more. Unlike Free it is never
// part of what is measured, and the buffer may be gone.
func (c *Client) Drop(h Handle) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ch, err := c.current(h.Gen); err == nil {
		ch.append(opDrop, func(e *encoder) { e.u32(h.ID) })
	}
}

// Label changes a buffer's label.
func (c *Client) Label(h Handle, label Label) error {
	text, err := json.Marshal(label)
	if err != nil {
		return err
	}
	return c.post(h.Gen, opLabel, func(e *encoder) {
		e.u32(h.ID)
		e.bytes(text)
	})
}

// inlineBytes is up to which size a write travels with its command.
const inlineBytes = 64 << 10

// Write copies p into a buffer.
func (c *Client) Write(ctx context.Context, h Handle, offset int64, p []byte) error {
	if len(p) <= inlineBytes {
		return c.post(h.Gen, opWrite, func(e *encoder) {
			e.u32(h.ID)
			e.u64(uint64(offset))
			e.bytes(p)
		})
	}
	return c.bulk(ctx, opWriteShared, h, offset, p)
}

// Read copies from a buffer into p, when all earlier work is done.
func (c *Client) Read(ctx context.Context, h Handle, offset int64, p []byte) error {
	return c.bulk(ctx, opReadShared, h, offset, p)
}

// bulk moves bytes through shared memory, piece by piece.
func (c *Client) bulk(ctx context.Context, o op, h Handle, offset int64, p []byte) error {
	c.mu.Lock()
	ch, err := c.current(h.Gen)
	c.mu.Unlock()
	if err != nil {
		return err
	}
	for len(p) > 0 {
		n := min(len(p), sharedBytes)
		if err := c.piece(ctx, ch, o, h, offset, p[:n]); err != nil {
			return err
		}
		p, offset = p[n:], offset+int64(n)
	}
	return nil
}

func (c *Client) piece(ctx context.Context, ch *child, o op, h Handle, offset int64, p []byte) error {
	ch.bulk.Lock()
	defer ch.bulk.Unlock()
	if ch.shared == nil {
		return ch.reason
	}
	if o == opWriteShared {
		copy(ch.shared, p)
	}
	_, err := c.ask(ctx, h.Gen, o, func(e *encoder) {
		e.u32(h.ID)
		e.u64(uint64(offset))
		e.u64(0)
		e.u64(uint64(len(p)))
	})
	if err == nil && o == opReadShared {
		copy(p, ch.shared)
	}
	return err
}

// Copy copies n bytes between buffers.
func (c *Client) Copy(stream uint32, dst Handle, to int64, src Handle, from, n int64) error {
	return c.post(dst.Gen, opCopy, func(e *encoder) {
		e.u32(stream)
		e.u32(dst.ID)
		e.u64(uint64(to))
		e.u32(src.ID)
		e.u64(uint64(from))
		e.u64(uint64(n))
	})
}

// Fill repeats a pattern of 1, 2, 4 or 8 bytes count times.
func (c *Client) Fill(stream uint32, h Handle, offset int64, pattern []byte, count int64) error {
	return c.post(h.Gen, opFill, func(e *encoder) {
		e.u32(stream)
		e.u32(h.ID)
		e.u64(uint64(offset))
		e.bytes(pattern)
		e.u64(uint64(count))
	})
}

// Load loads PTX. Kernels are numbered as in the result.
func (c *Client) Load(ctx context.Context, ptx string, src Source) (Handle, []KernelInfo, error) {
	text, err := json.Marshal(src)
	if err != nil {
		return Handle{}, nil, err
	}
	gen, err := c.Generation()
	if err != nil {
		return Handle{}, nil, err
	}
	h := Handle{c.id(), gen}
	b, err := c.ask(ctx, gen, opLoad, func(e *encoder) {
		e.u32(h.ID)
		e.text(ptx)
		e.bytes(text)
	})
	if err != nil {
		return h, nil, err
	}
	var infos []KernelInfo
	return h, infos, json.Unmarshal(b, &infos)
}

// Patch puts the address of a buffer plus an offset into a launch's parameters.
type Patch struct {
	At     uint32
	Buffer uint32
	Offset uint64
}

// Launch starts a kernel of a loaded module; l.Kernel is its number there.
func (c *Client) Launch(stream uint32, module Handle, l *Launch, patches []Patch) error {
	return c.post(module.Gen, opLaunch, func(e *encoder) {
		e.u32(stream)
		e.u32(module.ID)
		e.u32(l.Kernel)
		for _, d := range [...]Dim{l.Grid, l.Block, l.Cluster} {
			e.u32(d.X)
			e.u32(d.Y)
			e.u32(d.Z)
		}
		e.u32(l.Shared)
		if l.Cooperative {
			e.u8(1)
		} else {
			e.u8(0)
		}
		e.bytes(l.Params)
		e.u32(uint32(len(patches)))
		for _, p := range patches {
			e.u32(p.At)
			e.u32(p.Buffer)
			e.u64(p.Offset)
		}
	})
}

// Sync waits for a stream and returns what went wrong since the last answer.
func (c *Client) Sync(ctx context.Context, gen uint64, stream uint32) error {
	_, err := c.ask(ctx, gen, opSync, func(e *encoder) { e.u32(stream) })
	return err
}

// NewStream makes a stream.
func (c *Client) NewStream() (Handle, error) {
	gen, err := c.Generation()
	if err != nil {
		return Handle{}, err
	}
	h := Handle{c.id(), gen}
	return h, c.post(gen, opNewStream, func(e *encoder) { e.u32(h.ID) })
}

// simple posts a command about one or two things.
func (c *Client) simple(gen uint64, o op, ids ...uint32) error {
	return c.post(gen, o, func(e *encoder) {
		for _, id := range ids {
			e.u32(id)
		}
	})
}

// FreeStream gives a stream back.
func (c *Client) FreeStream(h Handle) error { return c.simple(h.Gen, opFreeStream, h.ID) }

// Record puts an event behind a stream's work.
func (c *Client) Record(gen uint64, stream uint32) (Handle, error) {
	h := Handle{c.id(), gen}
	return h, c.simple(gen, opRecord, h.ID, stream)
}

// Wait makes a stream's later work wait for an event.
func (c *Client) Wait(stream uint32, event Handle) error {
	return c.simple(event.Gen, opWait, stream, event.ID)
}

// FreeEvent gives an event back.
func (c *Client) FreeEvent(h Handle) error { return c.simple(h.Gen, opFreeEvent, h.ID) }

// Elapsed is the time between two events; it waits for both.
func (c *Client) Elapsed(ctx context.Context, from, to Handle) (time.Duration, error) {
	b, err := c.ask(ctx, from.Gen, opElapsed, func(e *encoder) {
		e.u32(from.ID)
		e.u32(to.ID)
	})
	if err != nil {
		return 0, err
	}
	if len(b) != 8 {
		return 0, errShort
	}
	return time.Duration(binary.LittleEndian.Uint64(b)), nil
}

// Begin captures a stream's later work; End makes a graph of it.
func (c *Client) Begin(gen uint64, stream uint32) error { return c.simple(gen, opBegin, stream) }

// End ends a capture.
func (c *Client) End(gen uint64, stream uint32) (Handle, error) {
	h := Handle{c.id(), gen}
	return h, c.simple(gen, opEnd, stream, h.ID)
}

// Replay launches a graph.
func (c *Client) Replay(stream uint32, graph Handle) error {
	return c.simple(graph.Gen, opReplay, stream, graph.ID)
}

// FreeGraph gives a graph back.
func (c *Client) FreeGraph(h Handle) error { return c.simple(h.Gen, opFreeGraph, h.ID) }

// Option sets what only some devices have. It holds for later processes too, but for
// what is switched on and off.
func (c *Client) Option(ctx context.Context, name, value string) error {
	_, err := c.ask(ctx, 0, opOption, func(e *encoder) {
		e.text(name)
		e.text(value)
	})
	if err != nil || value == "on" || value == "off" || name == "writers" {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.options == nil {
		c.options = map[string]string{}
	}
	c.options[name] = value
	return nil
}

// Options are those that a new process gets.
func (c *Client) Options() map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.options)
}

// Report fetches what a device has gathered.
func (c *Client) Report(ctx context.Context, name string) ([]byte, error) {
	return c.ask(ctx, 0, opReport, func(e *encoder) { e.text(name) })
}

// Tape records the commands that f gives instead of sending them.
func (c *Client) Tape(f func() error) ([]byte, error) {
	if _, err := c.Generation(); err != nil {
		return nil, err
	}
	c.mu.Lock()
	if c.tape != nil {
		c.mu.Unlock()
		return nil, fmt.Errorf("something is being measured already")
	}
	tape := []byte{}
	c.tape = &tape
	c.mu.Unlock()
	err := f()
	c.mu.Lock()
	c.tape = nil
	c.mu.Unlock()
	return tape, err
}

// Timing is how a tape is measured.
type Timing struct {
	Graph   bool // calls of a sample are one graph; otherwise they are dispatched one by one
	Warmups int
	Samples int
	Calls   int   // a sample
	Flush   int64 // bytes to overwrite before each sample, so that caches are cold
}

// Time plays a tape in the child and returns microseconds a call, by sample.
func (c *Client) Time(ctx context.Context, gen uint64, stream uint32, tape []byte, t Timing) ([]float64, error) {
	spec, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	b, err := c.ask(ctx, gen, opTime, func(e *encoder) {
		e.bytes(spec)
		e.u32(stream)
		e.bytes(tape)
	})
	if err != nil {
		return nil, err
	}
	var micros []float64
	return micros, json.Unmarshal(b, &micros)
}

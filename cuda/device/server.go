package device

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
)

// sharedBytes is the size of the memory that parent and child share, for bulk data.
const sharedBytes = 32 << 20

// server is the child's side: it carries out commands on a backend.
type server struct {
	backend Backend
	shared  []byte
	out     io.Writer
	mu      sync.Mutex // of out

	buffers map[uint32]*buffer
	modules map[uint32]module
	streams map[uint32]Stream
	events  map[uint32]Event
	graphs  map[uint32]graph
	failed  error      // of a command that is not answered; told by the next answer
	recent  []launched // since the last wait, the first few
	capture bool       // a stream is being captured
	held    []*buffer  // given back meanwhile: the graph may use them
	log     *[]Action
	guard   *guard
	labels  map[string]Label // by their text: the same come again and again
}

type module struct {
	id      uint32
	kernels []KernelInfo
}

// serve carries out commands until in ends. Printed text goes through the printer
// that the backend was given.
func serve(in io.Reader, out io.Writer, shared []byte, open func(print io.Writer) (Backend, error)) error {
	runtime.LockOSThread() // a context of the driver belongs to a thread
	defer runtime.UnlockOSThread()
	s := &server{shared: shared, out: out, buffers: map[uint32]*buffer{}, modules: map[uint32]module{},
		streams: map[uint32]Stream{0: 0}, events: map[uint32]Event{}, graphs: map[uint32]graph{}, labels: map[string]Label{}}
	b, err := open(printer{s})
	if err != nil {
		b, s.failed = nil, &Fault{Code: "device", Message: err.Error(), Fatal: true}
	} else {
		defer b.Close()
	}
	s.backend = b
	// Reading goes on while the device works, so that the end of the parent is seen.
	queue := make(chan command, 4096)
	ended := make(chan error, 1)
	go func() {
		r := bufio.NewReaderSize(in, 1<<20)
		for {
			o, p, err := readFrame(r)
			if err != nil {
				ended <- err
				close(queue)
				orphaned(err)
				return
			}
			queue <- command{o, p}
		}
	}()
	for c := range queue {
		if err := s.handle(c.op, c.payload); err != nil {
			return err
		}
	}
	if err := <-ended; !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// orphaned ends a child whose device is still busy a second after its parent has
// gone. It is replaced in tests.
var orphaned = func(error) {}

type printer struct{ s *server }

func (p printer) Write(b []byte) (int, error) { return len(b), p.s.send(opPrint, b) }

func (s *server) send(o op, payload []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.out.Write(frame(nil, o, payload))
	return err
}

// answered are the commands that begin with a number and get an answer.
func (o op) answered() bool {
	switch o {
	case opInfo, opAllocWait, opWriteShared, opReadShared, opLoad, opElapsed, opSync, opOption, opReport, opTime:
		return true
	}
	return false
}

// handle carries one command out.
func (s *server) handle(o op, payload []byte) error {
	d := &decoder{b: payload}
	if !o.answered() {
		if s.failed == nil {
			if err := s.do(o, d); err != nil {
				s.failed = err
			}
		}
		return nil
	}
	number := d.u32()
	var reply []byte
	err := s.failed
	s.failed = nil
	if err == nil {
		reply, err = s.ask(o, d)
	}
	var e encoder
	e.u32(number)
	var fault *Fault
	switch {
	case err == nil:
		e.text("")
	case errors.As(err, &fault):
		text, merr := json.Marshal(fault)
		if merr != nil {
			return merr
		}
		e.bytes(text)
		if fault.Fatal {
			e.bytes(nil)
			_ = s.send(opReply, e)
			return fmt.Errorf("the device is lost: %w", fault)
		}
	default:
		text, merr := json.Marshal(&Fault{Code: "device", Message: err.Error()})
		if merr != nil {
			return merr
		}
		e.bytes(text)
	}
	e.bytes(reply)
	return s.send(opReply, e)
}

func (s *server) stream(id uint32) (Stream, error) {
	v, ok := s.streams[id]
	if !ok {
		return 0, fmt.Errorf("there is no stream %d", id)
	}
	return v, nil
}

// do carries out a command that is not answered.
func (s *server) do(o op, d *decoder) error {
	switch o {
	case opAlloc:
		return s.alloc(d)
	case opFree:
		id := d.u32()
		b, ok := s.buffers[id]
		if !ok {
			return fmt.Errorf("there is no buffer %d to free", id)
		}
		return s.free(id, b)
	case opDrop:
		id := d.u32()
		if b, ok := s.buffers[id]; ok { // one that was measured is gone already
			return s.free(id, b)
		}
		return nil
	case opLabel:
		b, ok := s.buffers[d.u32()]
		label, err := s.label(d.bytes())
		if err != nil || !ok {
			return err
		}
		b.label = label
		return s.backend.Name(b.base, label)
	case opWrite:
		id, offset, data := d.u32(), d.u64(), d.bytes()
		if d.bad {
			return errShort
		}
		return s.write(id, offset, data)
	case opCopy:
		return s.copy(d)
	case opFill:
		return s.fill(d)
	case opLaunch:
		return s.launch(d)
	case opUnload:
		id := d.u32()
		m, ok := s.modules[id]
		if !ok {
			return nil
		}
		delete(s.modules, id)
		return s.backend.Unload(m.id)
	}
	return s.order(o, d)
}

func (s *server) copy(d *decoder) error {
	stream, to, toOffset, from, fromOffset, n := d.u32(), d.u32(), d.u64(), d.u32(), d.u64(), d.u64()
	st, err := s.stream(stream)
	if err != nil {
		return err
	}
	dst, err := s.buffer(stream, to, toOffset, n)
	if err != nil {
		return err
	}
	src, err := s.buffer(stream, from, fromOffset, n)
	if err != nil || d.bad {
		return errors.Join(err, d.err())
	}
	s.note(Action{Kind: "copy", Stream: stream, Bytes: int64(n)})
	return s.backend.Copy(st, dst, src, int64(n))
}

func (s *server) fill(d *decoder) error {
	stream, id, offset, pattern, count := d.u32(), d.u32(), d.u64(), d.bytes(), d.u64()
	st, err := s.stream(stream)
	if err != nil {
		return err
	}
	if len(pattern) == 0 || len(pattern) > 8 || count > 1<<40 {
		return errShort
	}
	addr, err := s.buffer(stream, id, offset, uint64(len(pattern))*count)
	if err != nil || d.bad {
		return errors.Join(err, d.err())
	}
	s.note(Action{Kind: "fill", Stream: stream, Bytes: int64(len(pattern)) * int64(count)})
	return s.backend.Fill(st, addr, pattern, int64(count))
}

// launch patches addresses into the parameters and starts the kernel.
func (s *server) launch(d *decoder) error {
	stream, mod, kernel := d.u32(), d.u32(), d.u32()
	dim := func() Dim { return Dim{d.u32(), d.u32(), d.u32()} }
	l := Launch{Grid: dim(), Block: dim(), Cluster: dim(), Shared: d.u32(), Cooperative: d.u8() != 0, Params: d.bytes()}
	patches := d.u32()
	if d.bad || int(patches) > len(l.Params) {
		return errShort
	}
	for range patches {
		at, id, offset := d.u32(), d.u32(), d.u64()
		addr, err := s.buffer(stream, id, offset, 0)
		if err != nil {
			return err
		}
		if int(at)+8 > len(l.Params) {
			return errShort
		}
		for i := range 8 {
			l.Params[int(at)+i] = byte(addr >> (8 * i))
		}
	}
	st, err := s.stream(stream)
	if err != nil {
		return err
	}
	m := s.modules[mod]
	if d.bad || int(kernel) >= len(m.kernels) {
		return fmt.Errorf("there is no kernel %d in module %d", kernel, mod)
	}
	info := &m.kernels[kernel]
	l.Kernel = info.ID
	if len(s.recent) < 16 {
		s.recent = append(s.recent, launched{info, l.Grid, l.Block})
	}
	if s.log != nil {
		s.note(Action{Kind: "launch", Stream: stream, Kernel: readable(info.Name), Grid: l.Grid, Block: l.Block})
	}
	if err := s.backend.Launch(st, l); err != nil {
		var f *Fault
		if !errors.As(err, &f) {
			f = &Fault{Code: "launch", Message: err.Error()}
		}
		if f.Kernel == "" {
			f.Kernel, f.Geometry = readable(info.Name), geometry(l.Grid, l.Block)
		}
		return f
	}
	return nil
}

// order carries out commands about streams, events and graphs.
func (s *server) order(o op, d *decoder) error {
	first := d.u32()
	switch o {
	case opNewStream:
		st, err := s.backend.NewStream()
		s.streams[first] = st
		return err
	case opFreeStream:
		return s.freeStream(first)
	case opRecord:
		st, err := s.stream(d.u32())
		if err != nil {
			return err
		}
		e, err := s.backend.Record(st)
		s.events[first] = e
		return err
	case opWait:
		st, err := s.stream(first)
		if err != nil {
			return err
		}
		return s.backend.Wait(st, s.events[d.u32()])
	case opFreeEvent:
		e, ok := s.events[first]
		delete(s.events, first)
		if !ok {
			return nil
		}
		return s.backend.FreeEvent(e)
	case opBegin:
		st, err := s.stream(first)
		if err != nil {
			return err
		}
		return s.begin(st)
	case opEnd:
		st, err := s.stream(first)
		if err != nil {
			return err
		}
		g, err := s.end(st)
		s.graphs[d.u32()] = g
		return err
	case opReplay:
		st, err := s.stream(first)
		if err != nil {
			return err
		}
		return s.backend.LaunchGraph(st, s.graphs[d.u32()].id)
	case opFreeGraph:
		g, ok := s.graphs[first]
		delete(s.graphs, first)
		if !ok {
			return nil
		}
		return s.freeGraph(g)
	}
	return fmt.Errorf("the command %d is not known", o)
}

// ask carries out a command that is answered.
func (s *server) ask(o op, d *decoder) ([]byte, error) {
	switch o {
	case opInfo:
		return json.Marshal(s.backend.Info())
	case opAllocWait:
		return nil, s.alloc(d)
	case opWriteShared, opReadShared:
		return nil, s.bulk(o, d)
	case opLoad:
		return s.load(d)
	case opSync:
		st, err := s.stream(d.u32())
		if err != nil {
			return nil, err
		}
		err = s.sync(st)
		return nil, err
	case opElapsed:
		t, err := s.backend.Elapsed(s.events[d.u32()], s.events[d.u32()])
		var e encoder
		e.u64(uint64(t))
		return e, err
	case opOption:
		return nil, s.option(d.text(), d.text())
	case opReport:
		return s.report(d.text())
	case opTime:
		return s.time(d)
	}
	return nil, fmt.Errorf("the command %d is not known", o)
}

// sync waits for a stream and names what was launched when that fails.
func (s *server) sync(st Stream) error {
	err := s.backend.Sync(context.Background(), st)
	var f *Fault
	if errors.As(err, &f) && f.Code != "kernel" {
		for _, l := range s.recent {
			f.Launches = append(f.Launches, readable(l.kernel.Name)+geometry(l.grid, l.block))
		}
	}
	if f != nil && f.Kernel == "" && len(s.recent) == 1 {
		l := s.recent[0]
		f.Kernel, f.Geometry = readable(l.kernel.Name), geometry(l.grid, l.block)
	}
	s.recent = s.recent[:0]
	return err
}

// launched is a launch that may turn out to be what went wrong.
type launched struct {
	kernel      *KernelInfo
	grid, block Dim
}

// geometry writes a launch as CUDA C++ does.
func geometry(grid, block Dim) string {
	return fmt.Sprintf("<<<(%d,%d,%d), (%d,%d,%d)>>>", grid.X, grid.Y, grid.Z, block.X, block.Y, block.Z)
}

func (s *server) bulk(o op, d *decoder) error {
	id, offset, at, n := d.u32(), d.u64(), d.u64(), d.u64()
	if d.bad || at > uint64(len(s.shared)) || n > uint64(len(s.shared))-at {
		return errShort
	}
	if o == opWriteShared {
		return s.write(id, offset, s.shared[at:at+n])
	}
	b, addr, err := s.within(id, offset, n)
	if err != nil {
		return err
	}
	if err := s.sync(0); err != nil {
		return err
	}
	return s.backend.Read(s.streams[b.home], s.shared[at:at+n], addr)
}

func (s *server) load(d *decoder) ([]byte, error) {
	id, text := d.u32(), d.text()
	var src Source
	if err := json.Unmarshal(d.bytes(), &src); err != nil {
		return nil, fmt.Errorf("a module's source: %w", err)
	}
	mod, kernels, err := s.backend.Load(text, src)
	if err != nil {
		return nil, err
	}
	s.modules[id] = module{mod, kernels}
	return json.Marshal(kernels)
}

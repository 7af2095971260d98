package device

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/ianlancetaylor/demangle"

	"github.com/warpbook/warpbook/cuda/ptx"
	"github.com/warpbook/warpbook/cuda/sim"
)

// simulator is a Backend on package sim. Launches run to their end at once, so
// every stream is always done; what they found comes back from Sync.
type simulator struct {
	dev      *sim.Device
	modules  map[uint32]*sim.Module
	kernels  map[uint32]*sim.Kernel
	sources  map[uint32]Source // of kernels
	next     uint32
	events   map[Event]time.Time
	tape     *tape // of the capture that is going on
	graphs   map[Graph]*tape
	found    []string
	kernel   string
	geometry string
	poison   bool // fresh memory reads as ones, which are NaN

	schedules int // orders of blocks and warps that each launch is tried under
	profiling bool
	profiles  []Profile
	writers   *sim.Writers // of one place; nil when nobody asks
}

// Profile is what a launch cost, and the source of its kernel.
type Profile struct {
	*sim.Profile
	Source Source
}

// tape is what a capture has recorded.
type tape struct {
	stream Stream
	calls  []func() error
}

// OpenSimulator makes the simulator's Backend. print gets what kernels print.
func OpenSimulator(print io.Writer) (Backend, error) {
	return &simulator{dev: sim.New(sim.Config{Stdout: print}), modules: map[uint32]*sim.Module{}, kernels: map[uint32]*sim.Kernel{}, sources: map[uint32]Source{},
		events: map[Event]time.Time{}, graphs: map[Graph]*tape{}}, nil
}

func (s *simulator) Info() Info {
	c := s.dev.Config()
	return Info{Name: "simulator", Kind: "sim", Capability: c.Capability, SMs: runtime.GOMAXPROCS(0), MemoryBytes: c.Memory,
		SharedBytes: sim.MaxShared(c.Capability), WarpSize: sim.WarpSize}
}

func (s *simulator) id() uint32 {
	s.next++
	return s.next
}

func (s *simulator) Alloc(_ Stream, n int64, label Label) (Address, error) {
	a, err := s.dev.Alloc(n, sim.Label(label))
	if err == nil && s.poison {
		err = s.dev.Poison(a, int(n))
	}
	return Address(a), err
}

func (s *simulator) Free(_ Stream, a Address) error { return s.dev.Free(uint64(a)) }

func (s *simulator) Name(a Address, label Label) error {
	return s.dev.Name(uint64(a), sim.Label(label))
}

func (s *simulator) Write(_ Stream, dst Address, src []byte) error {
	return s.dev.Write(uint64(dst), src)
}

func (s *simulator) Read(_ Stream, dst []byte, src Address) error {
	return s.dev.Read(dst, uint64(src))
}

// now carries out f, or records it when the stream is captured.
func (s *simulator) now(st Stream, f func() error) error {
	if s.tape != nil && s.tape.stream == st {
		s.tape.calls = append(s.tape.calls, f)
		return nil
	}
	return f()
}

func (s *simulator) Copy(st Stream, dst, src Address, n int64) error {
	return s.now(st, func() error { return s.dev.Copy(uint64(dst), uint64(src), int(n)) })
}

func (s *simulator) Fill(st Stream, dst Address, pattern []byte, count int64) error {
	pattern = append([]byte(nil), pattern...)
	return s.now(st, func() error { return s.dev.Fill(uint64(dst), pattern, int(count)) })
}

func (s *simulator) Load(text string, src Source) (uint32, []KernelInfo, error) {
	m, err := ptx.Parse(text)
	if err != nil {
		return 0, nil, err
	}
	mod, err := s.dev.Load(m, sim.Source(src))
	if err != nil {
		return 0, nil, err
	}
	id := s.id()
	s.modules[id] = mod
	var infos []KernelInfo
	for _, f := range m.Kernels() {
		k, err := mod.Kernel(f.Name)
		if err != nil {
			return 0, nil, err
		}
		info := KernelInfo{ID: s.id(), Name: f.Name, SharedBytes: k.StaticShared(), LocalBytes: k.Local(), MaxThreads: sim.MaxThreads}
		s.kernels[info.ID], s.sources[info.ID] = k, src
		infos = append(infos, info)
	}
	return id, infos, nil
}

func (s *simulator) Unload(module uint32) error {
	delete(s.modules, module)
	return nil
}

func (s *simulator) Launch(st Stream, l Launch) error {
	l.Params = append([]byte(nil), l.Params...)
	return s.now(st, func() error { return s.launch(l) })
}

func simDim(d Dim) sim.Dim { return sim.Dim{X: int(d.X), Y: int(d.Y), Z: int(d.Z)} }

func (s *simulator) launch(l Launch) error {
	k := s.kernels[l.Kernel]
	if k == nil {
		return fmt.Errorf("there is no kernel %d", l.Kernel)
	}
	spec := sim.Launch{Grid: simDim(l.Grid), Block: simDim(l.Block), Cluster: simDim(l.Cluster), Shared: int(l.Shared), Params: l.Params, Cooperative: l.Cooperative}
	var watch []sim.Checker
	if s.writers != nil {
		watch = append(watch, s.writers)
	}
	profiler := &sim.Profiler{}
	if s.profiling {
		watch = append(watch, profiler)
	}
	r, err := s.dev.Schedules(context.Background(), k, spec, max(s.schedules, 1), watch...)
	if err != nil {
		return &Fault{Code: "launch", Message: err.Error()}
	}
	if s.profiling {
		p := profiler.Profile(r)
		p.Kernel = readable(p.Kernel)
		s.profiles = append(s.profiles, Profile{p, s.sources[l.Kernel]})
	}
	for _, f := range r.Findings {
		if len(s.found) == 0 {
			s.kernel, s.geometry = readable(k.Name()), fmt.Sprintf("<<<%v, %v>>>", spec.Grid, spec.Block)
		}
		if len(s.found) < 20 {
			s.found = append(s.found, f.Text())
		}
	}
	return nil
}

// readable is a kernel's name in the source.
func readable(name string) string { return demangle.Filter(name, demangle.NoParams) }

func (s *simulator) NewStream() (Stream, error) { return Stream(s.id()), nil }

func (s *simulator) FreeStream(Stream) error { return nil }

func (s *simulator) Record(Stream) (Event, error) {
	e := Event(s.id())
	s.events[e] = time.Now()
	return e, nil
}

func (s *simulator) Wait(Stream, Event) error { return nil }

func (s *simulator) Elapsed(from, to Event) (time.Duration, error) {
	a, ok := s.events[from]
	b, ok2 := s.events[to]
	if !ok || !ok2 {
		return 0, fmt.Errorf("an event that was not recorded")
	}
	return b.Sub(a), nil
}

func (s *simulator) FreeEvent(e Event) error {
	delete(s.events, e)
	return nil
}

func (s *simulator) BeginCapture(st Stream) error {
	if s.tape != nil {
		return fmt.Errorf("a stream is being captured already")
	}
	s.tape = &tape{stream: st}
	return nil
}

func (s *simulator) EndCapture(Stream) (Graph, error) {
	if s.tape == nil {
		return 0, fmt.Errorf("no stream is being captured")
	}
	g := Graph(s.id())
	s.graphs[g] = s.tape
	s.tape = nil
	return g, nil
}

func (s *simulator) LaunchGraph(_ Stream, g Graph) error {
	t := s.graphs[g]
	if t == nil {
		return fmt.Errorf("there is no such graph")
	}
	for _, call := range t.calls {
		if err := call(); err != nil {
			return err
		}
	}
	return nil
}

func (s *simulator) FreeGraph(g Graph) error {
	delete(s.graphs, g)
	return nil
}

func (s *simulator) Sync(context.Context, Stream) error {
	if len(s.found) == 0 {
		return nil
	}
	f := &Fault{Code: "kernel", Message: strings.Join(s.found, "\n\n"), Kernel: s.kernel, Geometry: s.geometry}
	s.found = nil
	return f
}

func (s *simulator) Option(name, value string) error {
	switch name {
	case "seed":
		v, err := strconv.ParseUint(value, 0, 64)
		if err != nil {
			return fmt.Errorf("a seed is a number, not %q", value)
		}
		s.dev.SetSeed(v)
	case "poison":
		s.poison = value == "on"
	case "profile":
		s.profiling, s.profiles = value == "on", []Profile{}
	case "writers":
		s.writers = nil
		if value == "off" {
			break
		}
		v, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return fmt.Errorf("writers are watched at a number of bytes, not %q", value)
		}
		s.writers = &sim.Writers{Offset: v}
	case "schedules":
		v, err := strconv.Atoi(value)
		if err != nil || v < 1 || v > maxSchedules {
			return fmt.Errorf("the number of schedules is 1 to %d, not %q", maxSchedules, value)
		}
		s.schedules = v
	case "budget":
		v, err := strconv.ParseInt(value, 0, 64)
		if err != nil || v < 1 {
			return fmt.Errorf("a budget is a positive number of instructions, not %q", value)
		}
		s.dev.SetBudget(v)
	default:
		return fmt.Errorf("the simulator has no option %q", name)
	}
	return nil
}

// maxSchedules keeps a slip of the pen from taking hours.
const maxSchedules = 1000

func (s *simulator) Report(name string) ([]byte, error) {
	if name == "profile" {
		return json.Marshal(s.profiles)
	}
	if addr, ok := strings.CutPrefix(name, "writer "); ok && s.writers != nil {
		return s.writer(addr)
	}
	return nil, fmt.Errorf("the simulator has no report %q", name)
}

// writer says who wrote the watched place of the allocation at an address.
func (s *simulator) writer(addr string) ([]byte, error) {
	v, err := strconv.ParseUint(addr, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%q is no address", addr)
	}
	p, ok := s.writers.Last(v)
	if !ok {
		return []byte("no kernel wrote it"), nil
	}
	p.Kernel = readable(p.Kernel)
	return []byte(p.Writer()), nil
}

func (s *simulator) Close() error { return nil }

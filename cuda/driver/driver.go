//go:build cuda

package driver

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/warpbook/warpbook/cuda/device"
)

// driver is a Backend on a GPU.
type driver struct {
	dev      cu.Device
	info     device.Info
	next     uint32
	streams  map[device.Stream]cu.Stream
	aside    cu.Stream // where memory comes from while another stream is captured
	captured device.Stream
	capture  bool // a stream is being captured
	events   map[device.Event]cu.Event
	graphs   map[device.Graph]graph
	modules  map[uint32]module
	kernels  map[uint32]*kernel
	printed  *output
	reports  *Reports // compute-sanitizer's; nil without it
	labels   map[device.Address]allocation
	last     device.Source // of the last launch
}

type allocation struct {
	bytes int64
	label device.Label
}

type module struct {
	mod     cu.Module
	source  device.Source
	kernels []uint32
}

type kernel struct {
	fn            cu.Function
	source        *device.Source
	info          device.KernelInfo
	shared        uint32 // dynamic bytes that it may have
	largeClusters bool
}

// staticLimit is the shared memory that a block may have without asking for more.
const staticLimit = 48 << 10

// Open opens the GPU with that index. What its kernels print goes to print.
func Open(index int, print io.Writer) (device.Backend, error) {
	n, err := cu.NumDevices()
	if err != nil {
		return nil, wrap("count the GPUs", err)
	}
	if index >= n {
		return nil, fmt.Errorf("there is no gpu:%d; this machine has %d", index, n)
	}
	dev, err := cu.GetDevice(index)
	if err != nil {
		return nil, wrap("open the GPU", err)
	}
	ctx, err := dev.RetainPrimaryCtx()
	if err != nil {
		return nil, wrap("make a context on the GPU", err)
	}
	if err := cu.SetCurrentContext(ctx); err != nil {
		return nil, wrap("use the GPU's context", err)
	}
	d := &driver{dev: dev, streams: map[device.Stream]cu.Stream{}, events: map[device.Event]cu.Event{}, graphs: map[device.Graph]graph{},
		modules: map[uint32]module{}, kernels: map[uint32]*kernel{}, labels: map[device.Address]allocation{}, reports: OpenReports()}
	if d.streams[0], err = cu.MakeStream(cu.NonBlocking); err != nil {
		return nil, wrap("make a stream", err)
	}
	if d.aside, err = cu.MakeStream(cu.NonBlocking); err != nil {
		return nil, wrap("make a stream", err)
	}
	if err := keepPool(dev); err != nil {
		return nil, wrap("set up the GPU's memory", err)
	}
	if d.printed, err = captureStdout(print); err != nil {
		return nil, err
	}
	d.info, err = describe(dev, index)
	return d, err
}

func describe(dev cu.Device, index int) (device.Info, error) {
	name, err := dev.Name()
	if err != nil {
		return device.Info{}, wrap("ask for the GPU's name", err)
	}
	major, minor, err := dev.ComputeCapability()
	if err != nil {
		return device.Info{}, wrap("ask what the GPU can do", err)
	}
	memory, err := dev.TotalMem()
	if err != nil {
		return device.Info{}, wrap("ask for the GPU's memory", err)
	}
	version := cu.Version()
	return device.Info{Name: name, Kind: "gpu", Index: index, Capability: [2]int{major, minor}, SMs: multiprocessors(dev), L2Bytes: int64(l2Bytes(dev)),
		MemoryBytes: memory, SharedBytes: maxShared(dev), WarpSize: 32, Driver: driverVersion(), CUDA: fmt.Sprintf("%d.%d", version/1000, version%1000/10)}, nil
}

// driverVersion is the kernel module's version, as "580.159", or "".
func driverVersion() string {
	text, err := os.ReadFile("/proc/driver/nvidia/version")
	if err != nil {
		return ""
	}
	for _, word := range strings.Fields(string(text)) {
		if digits := strings.Trim(word, "0123456789."); digits == "" && strings.Contains(word, ".") {
			return word
		}
	}
	return ""
}

func (d *driver) Info() device.Info { return d.info }

func (d *driver) id() uint32 {
	d.next++
	return d.next
}

func (d *driver) stream(s device.Stream) (cu.Stream, error) {
	v, ok := d.streams[s]
	if !ok {
		return v, fmt.Errorf("there is no stream %d", s)
	}
	return v, nil
}

// Alloc takes memory from the pool. While a stream is captured it takes it beside
// that, so that the graph holds work only.
func (d *driver) Alloc(s device.Stream, n int64, label device.Label) (device.Address, error) {
	st, err := d.stream(s)
	if err != nil {
		return 0, err
	}
	if d.capture {
		st = d.aside
	}
	a, err := d.take(n, st)
	if code(err) == outOfMemory { // what the pool keeps may be in the way
		if err = d.trim(); err == nil {
			a, err = d.take(n, st)
		}
	}
	if code(err) == outOfMemory {
		free, total, _ := cu.MemInfo() // zeros say enough
		return 0, fmt.Errorf("there are no %d bytes left on the GPU: %d of %d are free; release tensors that are not needed", n, free, total)
	}
	if err != nil {
		return 0, d.failed("take memory", err)
	}
	if d.capture {
		if err := d.aside.Synchronize(); err != nil {
			return 0, d.failed("take memory", err)
		}
	}
	d.labels[a] = allocation{n, label}
	return a, nil
}

// take allocates in the order of a stream; under compute-sanitizer by itself, so that
// it knows where each allocation ends.
func (d *driver) take(n int64, st cu.Stream) (device.Address, error) {
	if d.reports != nil {
		p, err := cu.MemAlloc(n)
		return device.Address(p), err
	}
	return allocate(n, st)
}

func (d *driver) trim() error {
	if err := cu.Synchronize(); err != nil {
		return err
	}
	return trimPool(d.dev)
}

func (d *driver) Free(s device.Stream, a device.Address) error {
	delete(d.labels, a)
	if d.reports != nil {
		return d.failed("give memory back", cu.MemFree(cu.DevicePtr(a)))
	}
	st, err := d.stream(s)
	if err != nil {
		return err
	}
	return d.failed("give memory back", release(a, st))
}

func (d *driver) Name(a device.Address, label device.Label) error {
	if known, ok := d.labels[a]; ok {
		d.labels[a] = allocation{known.bytes, label}
	}
	return nil
}

// Write is done when it returns, as the source belongs to the caller.
func (d *driver) Write(s device.Stream, dst device.Address, src []byte) error {
	if len(src) == 0 {
		return nil
	}
	st, err := d.stream(s)
	if err != nil {
		return err
	}
	if err := cu.MemcpyHtoDAsync(cu.DevicePtr(dst), unsafe.Pointer(&src[0]), int64(len(src)), st); err != nil {
		return d.failed("copy to the GPU", err)
	}
	return d.failed("copy to the GPU", st.Synchronize())
}

func (d *driver) Read(s device.Stream, dst []byte, src device.Address) error {
	if len(dst) == 0 {
		return nil
	}
	st, err := d.stream(s)
	if err != nil {
		return err
	}
	if err := cu.MemcpyDtoHAsync(unsafe.Pointer(&dst[0]), cu.DevicePtr(src), int64(len(dst)), st); err != nil {
		return d.failed("copy from the GPU", err)
	}
	return d.failed("copy from the GPU", st.Synchronize())
}

func (d *driver) Copy(s device.Stream, dst, src device.Address, n int64) error {
	st, err := d.stream(s)
	if err != nil {
		return err
	}
	return d.failed("copy on the GPU", cu.MemcpyDtoDAsync(cu.DevicePtr(dst), cu.DevicePtr(src), n, st))
}

func (d *driver) Fill(s device.Stream, dst device.Address, pattern []byte, count int64) error {
	st, err := d.stream(s)
	if err != nil || count == 0 {
		return err
	}
	switch len(pattern) {
	case 1, 2, 4:
		return d.failed("fill memory", memset(dst, pattern, count, st))
	case 8:
		if err := memset2D(dst, pattern[:4], count, st); err != nil {
			return d.failed("fill memory", err)
		}
		return d.failed("fill memory", memset2D(dst+4, pattern[4:], count, st))
	}
	return fmt.Errorf("a pattern of %d bytes cannot be filled in; 1, 2, 4 and 8 can", len(pattern))
}

func (d *driver) NewStream() (device.Stream, error) {
	st, err := cu.MakeStream(cu.NonBlocking)
	if err != nil {
		return 0, d.failed("make a stream", err)
	}
	s := device.Stream(d.id())
	d.streams[s] = st
	return s, nil
}

func (d *driver) FreeStream(s device.Stream) error {
	st, ok := d.streams[s]
	if !ok || s == 0 {
		return nil
	}
	delete(d.streams, s)
	return d.failed("give a stream back", st.Destroy())
}

func (d *driver) Record(s device.Stream) (device.Event, error) {
	st, err := d.stream(s)
	if err != nil {
		return 0, err
	}
	ev, err := cu.MakeEvent(cu.DefaultEvent)
	if err != nil {
		return 0, d.failed("make an event", err)
	}
	e := device.Event(d.id())
	d.events[e] = ev
	return e, d.failed("record an event", ev.Record(st))
}

func (d *driver) event(e device.Event) (cu.Event, error) {
	ev, ok := d.events[e]
	if !ok {
		return ev, fmt.Errorf("there is no event %d: it was not recorded, or it was released", e)
	}
	return ev, nil
}

func (d *driver) Wait(s device.Stream, e device.Event) error {
	st, err := d.stream(s)
	if err != nil {
		return err
	}
	ev, err := d.event(e)
	if err != nil {
		return err
	}
	return d.failed("wait for an event", st.Wait(ev, 0))
}

func (d *driver) Elapsed(from, to device.Event) (time.Duration, error) {
	a, err := d.event(from)
	if err != nil {
		return 0, err
	}
	b, err := d.event(to)
	if err != nil {
		return 0, err
	}
	for _, ev := range [...]cu.Event{a, b} {
		if err := ev.Synchronize(); err != nil {
			return 0, d.failed("wait for an event", err)
		}
	}
	ms, err := a.Elapsed(b)
	return time.Duration(ms * 1e6), d.failed("measure time", err)
}

func (d *driver) FreeEvent(e device.Event) error {
	ev, ok := d.events[e]
	if !ok {
		return nil
	}
	delete(d.events, e)
	return d.failed("give an event back", cu.DestroyEvent(&ev))
}

func (d *driver) BeginCapture(s device.Stream) error {
	st, err := d.stream(s)
	if err != nil {
		return err
	}
	if d.capture {
		return fmt.Errorf("a stream is being captured already; end that capture first")
	}
	if err := beginCapture(st); err != nil {
		return d.failed("capture a stream", err)
	}
	d.capture, d.captured = true, s
	return nil
}

func (d *driver) EndCapture(s device.Stream) (device.Graph, error) {
	if !d.capture || d.captured != s {
		return 0, fmt.Errorf("this stream is not being captured")
	}
	d.capture = false
	st, err := d.stream(s)
	if err != nil {
		return 0, err
	}
	g, err := endCapture(st)
	if err != nil {
		return 0, d.failed("make a graph of what was captured", err)
	}
	id := device.Graph(d.id())
	d.graphs[id] = g
	return id, nil
}

func (d *driver) LaunchGraph(s device.Stream, id device.Graph) error {
	st, err := d.stream(s)
	if err != nil {
		return err
	}
	g := d.graphs[id]
	if g == noGraph {
		return fmt.Errorf("there is no such graph: its capture failed, or it was released")
	}
	return d.failed("launch a graph", launchGraph(g, st))
}

func (d *driver) FreeGraph(id device.Graph) error {
	g := d.graphs[id]
	if g == noGraph {
		return nil
	}
	delete(d.graphs, id)
	return d.failed("give a graph back", destroyGraph(g))
}

// Sync waits for a stream, or with 0 for all of them.
func (d *driver) Sync(_ context.Context, s device.Stream) error {
	st, err := d.stream(s)
	if err != nil {
		return err
	}
	if s == 0 {
		err = cu.Synchronize()
	} else {
		err = st.Synchronize()
	}
	if perr := d.printed.drain(); perr != nil && err == nil {
		return perr
	}
	if err != nil {
		return d.failed("", err)
	}
	return d.reported()
}

// reported is what compute-sanitizer has found since the last time.
func (d *driver) reported() error {
	findings := d.reports.Take(d)
	if len(findings) == 0 {
		return nil
	}
	return &device.Fault{Code: "kernel", Message: strings.Join(findings, "\n\n")}
}

// Tensor implements Names.
func (d *driver) Tensor(address uint64) string {
	for a, known := range d.labels {
		if off := int64(address) - int64(a); off >= -256 && off < known.bytes+256 && known.label.Name != "" {
			return position(known.label, known.bytes, off)
		}
	}
	return ""
}

// Line implements Names: the source is that of the kernel of this name, or else of the
// last one that was launched.
func (d *driver) Line(kernel string, line int) (source, text string) {
	from := d.last
	name, _, _ := strings.Cut(kernel, "(")
	for _, m := range d.modules {
		for _, k := range m.kernels {
			if d.kernels[k].info.Name == name {
				from = m.source
			}
		}
	}
	lines := strings.Split(from.Text, "\n")
	if i := line - max(from.Line, 1); i >= 0 && i < len(lines) {
		text = lines[i]
	}
	return from.Name, text
}

func (d *driver) Option(name, _ string) error {
	return fmt.Errorf("a GPU has no option %q; the simulator may have", name)
}

func (d *driver) Report(name string) ([]byte, error) {
	return nil, fmt.Errorf("a GPU has no report %q; the simulator may have", name)
}

func (d *driver) Close() error { return d.printed.drain() }

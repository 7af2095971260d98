package device

import (
	"context"
	"time"
)

// Info describes a device.
type Info struct {
	Name         string // "NVIDIA H200", "simulator"
	Kind         string // "gpu" or "sim"
	Index        int
	Capability   [2]int // compute capability
	SMs          int
	L2Bytes      int64
	MemoryBytes  int64
	SharedBytes  int // most dynamic shared memory of a block, after opting in
	WarpSize     int
	Driver, CUDA string // versions, "" on the simulator
}

// Dim is an extent in three dimensions.
type Dim struct{ X, Y, Z uint32 }

// Launch starts a kernel. Params is laid out as the kernel's parameters are.
type Launch struct {
	Kernel      uint32 // of Load
	Grid, Block Dim
	Cluster     Dim // zero for none
	Shared      uint32
	Cooperative bool
	Params      []byte
}

// Address is a device address, Stream, Event and Graph are handles of a backend;
// Stream 0 is the default stream.
type (
	Address uint64
	Stream  uint32
	Event   uint32
	Graph   uint32
)

// KernelInfo is what a backend knows about a loaded kernel.
type KernelInfo struct {
	ID                 uint32
	Name               string
	Registers          int // a thread; 0 where unknown
	SharedBytes        int // static
	LocalBytes         int // a thread: spills and stack
	ConstBytes         int
	MaxThreads         int
	PTXVersion, Binary int
}

// Backend is a device, as the device process drives it: the GPU through its
// driver, or the simulator. Calls come from one goroutine that is locked to its
// thread. Work on a stream may be asynchronous; what fails later comes back from
// Sync. An error that is a *Fault says that the device is lost when it is Fatal.
type Backend interface {
	Info() Info
	// Alloc returns n bytes (n > 0), aligned to 256, whose contents are undefined.
	// label names the tensor in findings; shape and item size turn an offset into an index.
	Alloc(s Stream, n int64, label Label) (Address, error)
	Free(s Stream, a Address) error
	// Name changes the label of an allocation.
	Name(a Address, label Label) error
	Write(s Stream, dst Address, src []byte) error
	Read(s Stream, dst []byte, src Address) error // synchronous
	Copy(s Stream, dst, src Address, n int64) error
	Fill(s Stream, dst Address, pattern []byte, count int64) error // pattern of 1, 2, 4 or 8 bytes
	Load(ptx string, source Source) (module uint32, kernels []KernelInfo, err error)
	Unload(module uint32) error
	Launch(s Stream, l Launch) error
	NewStream() (Stream, error)
	FreeStream(Stream) error
	Record(Stream) (Event, error)
	Wait(Stream, Event) error
	Elapsed(from, to Event) (time.Duration, error) // waits for both
	FreeEvent(Event) error
	BeginCapture(Stream) error
	EndCapture(Stream) (Graph, error)
	LaunchGraph(Stream, Graph) error
	FreeGraph(Graph) error
	// Sync waits for the stream's work and reports what went wrong since the last Sync.
	Sync(ctx context.Context, s Stream) error
	// Option sets what only some backends have ("seed", "schedules", "budget",
	// "checkers", "profile"); Report returns what a backend gathered ("profile"), as JSON.
	Option(name, value string) error
	Report(name string) ([]byte, error)
	Close() error
}

// Label names an allocation in findings.
type Label struct {
	Name  string // "x"
	Type  string // "f32"
	Shape []int
	Item  int // bytes of an element
}

// Source is the CUDA source that PTX was compiled from.
type Source struct {
	Name string // "cell [3]" or "softmax.cu"
	Text string
	Line int // of Text's first line in Name, from 1

	// Registers of a thread, by kernel in the PTX, where machine code tells them.
	Registers map[string]int
}

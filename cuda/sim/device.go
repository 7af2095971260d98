package sim

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Config describes a simulated device. The zero value is a device of compute
// capability 9.0 with 8 GiB of memory and all checks.
type Config struct {
	Workers    int       // goroutines that run blocks; 0 for one a core
	Seed       uint64    // of the order of blocks and warps
	Budget     int64     // instructions of a warp's block before it counts as endless; 0 for the default
	Memory     int64     // bytes; 0 for 8 GiB
	Capability [2]int    // compute capability; 0.0 for 9.0
	RaceMemory int64     // bytes that a launch's search for races between blocks may take; 0 for 512 MiB
	NoChecks   bool      // no checkers; bounds and initialization are watched all the same
	Stdout     io.Writer // printf of kernels; nil discards it
}

// DefaultBudget is how many instructions the warps of one block may execute
// together: minutes of simulation.
const DefaultBudget = 2_000_000_000

// Label names an allocation in findings.
type Label struct {
	Name  string // "x"
	Type  string // "f32"
	Shape []int
	Item  int // bytes of an element
}

// Allocation is a piece of global memory.
type Allocation struct {
	Addr     uint64
	Data     []byte
	Label    Label
	ReadOnly bool // a .const variable

	ready atomic.Bool     // every byte was written
	init  []atomic.Uint64 // a bit for each byte that was written
	freed bool
	size  int64
}

// Where the state spaces lie in the generic address space. Shared memory of
// another block of the cluster is at its rank times sharedStride in the window.
const (
	globalBase   = 0x7f00_0000_0000
	sharedWindow = 0x7e00_0000_0000
	localWindow  = 0x7d00_0000_0000
	paramWindow  = 0x7c00_0000_0000
	windowSize   = 1 << 36
	sharedStride = 1 << 24
	redZone      = 256
)

// Device is a simulated device. Its methods may be called from one goroutine at
// a time.
type Device struct {
	cfg    Config
	next   uint64
	used   int64
	allocs []*Allocation // by address, freed ones included
	out    *output
	locks  [256]sync.Mutex // of atomic operations on global memory
}

// ErrMemory is wrapped by the error of an Alloc that does not fit.
var ErrMemory = errors.New("out of memory")

// New makes a device.
func New(cfg Config) *Device {
	if cfg.Workers <= 0 {
		cfg.Workers = runtime.GOMAXPROCS(0)
	}
	if cfg.Budget <= 0 {
		cfg.Budget = DefaultBudget
	}
	if cfg.Memory <= 0 {
		cfg.Memory = 8 << 30
	}
	if cfg.RaceMemory <= 0 {
		cfg.RaceMemory = 512 << 20
	}
	if cfg.Capability == [2]int{} {
		cfg.Capability = [2]int{9, 0}
	}
	if cfg.Stdout == nil {
		cfg.Stdout = io.Discard
	}
	return &Device{cfg: cfg, next: globalBase, out: &output{w: cfg.Stdout}}
}

// Config returns the device's configuration.
func (d *Device) Config() Config { return d.cfg }

// SetSeed changes the order of blocks and warps of later launches.
func (d *Device) SetSeed(seed uint64) { d.cfg.Seed = seed }

// SetBudget changes how many instructions a block may execute in later launches.
func (d *Device) SetBudget(n int64) { d.cfg.Budget = n }

// Used is how many bytes are allocated.
func (d *Device) Used() int64 { return d.used }

// Alloc returns the address of n bytes that nothing has written yet.
func (d *Device) Alloc(n int64, label Label) (uint64, error) {
	if n <= 0 {
		return 0, fmt.Errorf("an allocation of %d bytes", n)
	}
	if n > d.cfg.Memory-d.used {
		return 0, fmt.Errorf("%w: %d bytes are wanted and %d of %d are free", ErrMemory, n, d.cfg.Memory-d.used, d.cfg.Memory)
	}
	return d.alloc(n, label).Addr, nil
}

func (d *Device) alloc(n int64, label Label) *Allocation {
	a := &Allocation{Addr: d.next, Data: make([]byte, n), Label: label, init: make([]atomic.Uint64, (n+63)/64), size: n}
	d.next += (uint64(n)+redZone-1)/redZone*redZone + redZone
	d.used += n
	d.allocs = append(d.allocs, a)
	return a
}

// Free gives an allocation back. Its address stays its own, so that a use of it is
// recognized.
func (d *Device) Free(addr uint64) error {
	a := d.find(addr)
	if a == nil || a.Addr != addr {
		return fmt.Errorf("free of %#x, which is no allocation", addr)
	}
	if a.freed {
		return fmt.Errorf("%s is freed twice", a.name())
	}
	a.freed = true
	a.Data, a.init = nil, nil
	d.used -= a.size
	return nil
}

// Name changes an allocation's label.
func (d *Device) Name(addr uint64, label Label) error {
	a := d.find(addr)
	if a == nil || a.Addr != addr {
		return fmt.Errorf("a name for %#x, which is no allocation", addr)
	}
	a.Label = label
	return nil
}

func (a *Allocation) name() string {
	if a.Label.Name != "" {
		return a.Label.Name
	}
	return fmt.Sprintf("the allocation of %d bytes", a.size)
}

// find returns the allocation that addr lies in or behind, freed or not.
func (d *Device) find(addr uint64) *Allocation {
	i, found := slices.BinarySearchFunc(d.allocs, addr, func(a *Allocation, addr uint64) int {
		switch {
		case a.Addr < addr:
			return -1
		case a.Addr > addr:
			return 1
		}
		return 0
	})
	if !found {
		i--
	}
	if i < 0 {
		return nil
	}
	return d.allocs[i]
}

// span returns the n bytes at addr, for the host.
func (d *Device) span(addr uint64, n int, what string) (*Allocation, int, error) {
	a := d.find(addr)
	switch {
	case a == nil:
		return nil, 0, fmt.Errorf("%s of %#x, which is no device memory", what, addr)
	case a.freed:
		return nil, 0, fmt.Errorf("%s of %s, which is freed", what, a.name())
	case addr-a.Addr > uint64(len(a.Data)) || uint64(n) > uint64(len(a.Data))-(addr-a.Addr):
		return nil, 0, fmt.Errorf("%s of %d bytes at byte %d of %s, which has %d", what, n, addr-a.Addr, a.name(), len(a.Data))
	}
	return a, int(addr - a.Addr), nil
}

// Write copies p to the device.
func (d *Device) Write(addr uint64, p []byte) error {
	a, at, err := d.span(addr, len(p), "a write")
	if err != nil {
		return err
	}
	copy(a.Data[at:], p)
	a.mark(at, len(p))
	return nil
}

// Read copies from the device into p.
func (d *Device) Read(p []byte, addr uint64) error {
	a, at, err := d.span(addr, len(p), "a read")
	if err != nil {
		return err
	}
	copy(p, a.Data[at:])
	return nil
}

// Copy copies n bytes on the device; what is copied is as initialized as it was.
func (d *Device) Copy(dst, src uint64, n int) error {
	from, i, err := d.span(src, n, "a copy")
	if err != nil {
		return err
	}
	to, j, err := d.span(dst, n, "a copy")
	if err != nil {
		return err
	}
	if from.ready.Load() {
		copy(to.Data[j:j+n], from.Data[i:i+n])
		to.mark(j, n)
		return nil
	}
	was := make([]bool, n)
	for k := range was {
		was[k] = from.written(i+k, 1)
	}
	copy(to.Data[j:j+n], from.Data[i:i+n])
	for k, ok := range was {
		if ok {
			to.mark(j+k, 1)
		}
	}
	return nil
}

// Fill repeats pattern count times at addr.
func (d *Device) Fill(addr uint64, pattern []byte, count int) error {
	n := len(pattern) * count
	a, at, err := d.span(addr, n, "a fill")
	if err != nil {
		return err
	}
	for i := 0; i < n; i += len(pattern) {
		copy(a.Data[at+i:at+n], pattern)
	}
	a.mark(at, n)
	return nil
}

// Poison forgets that the n bytes at addr were written, and fills them with ones,
// which floating-point types read as NaN.
func (d *Device) Poison(addr uint64, n int) error {
	a, at, err := d.span(addr, n, "a poisoning")
	if err != nil {
		return err
	}
	if a.ready.Swap(false) {
		for i := range a.init {
			a.init[i].Store(^uint64(0))
		}
	}
	for i := at; i < at+n; i++ {
		a.Data[i] = 0xff
		a.init[i/64].And(^(uint64(1) << (i % 64)))
	}
	return nil
}

// mark notes that n bytes at offset at were written.
func (a *Allocation) mark(at, n int) {
	if a.ready.Load() {
		return
	}
	if at == 0 && n == len(a.Data) {
		a.ready.Store(true)
		return
	}
	for n > 0 {
		i, bit := at/64, at%64
		k := min(64-bit, n)
		bits := ^uint64(0) >> (64 - k) << bit
		if a.init[i].Load()&bits != bits {
			a.init[i].Or(bits)
		}
		at += k
		n -= k
	}
}

// written reports whether all of n bytes (at most 64) at offset at were written.
func (a *Allocation) written(at, n int) bool {
	if a.ready.Load() {
		return true
	}
	for n > 0 {
		bit := at % 64
		k := min(64-bit, n)
		bits := ^uint64(0) >> (64 - k) << bit
		if a.init[at/64].Load()&bits != bits {
			return false
		}
		at += k
		n -= k
	}
	return true
}

// output is where printf goes: one call's text is not mixed with another's.
type output struct {
	mu sync.Mutex
	w  io.Writer
}

func (o *output) print(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, _ = io.WriteString(o.w, text) // a kernel does not learn what became of its output
}

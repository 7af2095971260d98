package cuda

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"sync"

	"github.com/warpbook/warpbook/cuda/device"
	"github.com/warpbook/warpbook/cuda/nvrtc"
	"github.com/warpbook/warpbook/cuda/ptx"
)

// Module is compiled CUDA C++. It is loaded to a device by the first launch there.
type Module struct {
	result  *nvrtc.Result
	mu      sync.Mutex
	loaded  map[*Device]loaded
	kernels map[string]*Kernel
}

type loaded struct {
	handle device.Handle
	index  map[string]uint32 // of a kernel by its symbol
}

// Option changes how a source is compiled.
type Option func(*nvrtc.Options)

// Arch sets the architecture to compile for: "compute_90".
func Arch(name string) Option { return func(o *nvrtc.Options) { o.Arch = name } }

// FastMath allows approximations.
func FastMath() Option { return func(o *nvrtc.Options) { o.FastMath = true } }

// Define sets a macro: "N" or "N=32".
func Define(macro string) Option {
	return func(o *nvrtc.Options) { o.Defines = append(o.Defines, macro) }
}

// Compile compiles CUDA C++. name is how errors and findings call the source. The
// error of a source that does not compile shows each line that is wrong.
//
// Where NVRTC is not installed, sources whose PTX was given to Ship compile all the same.
func Compile(ctx context.Context, name, source string, options ...Option) (*Module, error) {
	var o nvrtc.Options
	for _, f := range options {
		f(&o)
	}
	c, err := nvrtc.Find()
	if errors.Is(err, nvrtc.ErrNotFound) {
		if s, ok := shippedFor(source, o); ok {
			r, err := nvrtc.FromShipped(s.ptx, s.compiler, nvrtc.Source{Name: name, Text: source}, o)
			if err != nil {
				return nil, err
			}
			return NewModule(r), nil
		}
	}
	if err != nil {
		return nil, err
	}
	r, err := c.Compile(ctx, nvrtc.Source{Name: name, Text: source}, o)
	if err != nil {
		return nil, err
	}
	return NewModule(r), nil
}

// shipped is PTX that was made before, and what made it.
type shipped struct{ ptx, compiler string }

// Ship makes known PTX that was made of a source and kept, as nvrtc's Result.Shipped
// writes it.
func Ship(text string) error {
	hash, compiler, ptx, err := nvrtc.ParseShipped(text)
	if err != nil {
		return err
	}
	registry.mu.Lock()
	defer registry.mu.Unlock()
	if registry.shipped == nil {
		registry.shipped = map[string]shipped{}
	}
	registry.shipped[hash] = shipped{ptx, compiler}
	return nil
}

func shippedFor(source string, o nvrtc.Options) (shipped, bool) {
	registry.mu.Lock()
	defer registry.mu.Unlock()
	s, ok := registry.shipped[nvrtc.Hash(source, o)]
	return s, ok
}

// NewModule makes a module of what the compiler gave.
func NewModule(r *nvrtc.Result) *Module {
	return &Module{result: r, loaded: map[*Device]loaded{}, kernels: map[string]*Kernel{}}
}

// FromPTX makes a module of PTX. Kernels have their names in the PTX, and arguments
// are checked by size only.
func FromPTX(text string) (*Module, error) {
	p, err := ptx.Parse(text)
	if err != nil {
		return nil, err
	}
	r := &nvrtc.Result{PTX: text, Arch: p.Target}
	for _, f := range p.Kernels() {
		r.Kernels = append(r.Kernels, nvrtc.FromPTX(f))
	}
	return NewModule(r), nil
}

// compiled is what %%cuda leaves for the session.
type compiled struct {
	Result *nvrtc.Result
	Source nvrtc.Source
}

// SaveCompiled writes a compiled source to a file, for LoadCompiled.
func SaveCompiled(path string, r *nvrtc.Result) error {
	b, err := json.Marshal(compiled{r, r.Source})
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o600)
}

// LoadCompiled reads what SaveCompiled wrote. It panics when it cannot: the session
// calls it for a %%cuda cell.
func LoadCompiled(path string) *Module {
	b, err := os.ReadFile(path)
	var c compiled
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err == nil && c.Result == nil {
		err = errors.New("it holds nothing")
	}
	if err != nil {
		panic(fmt.Errorf("the compiled cell cannot be read: %w; run the %%%%cuda cell again", err))
	}
	c.Result.Source = c.Source
	return NewModule(c.Result)
}

// PTX is the module's PTX.
func (m *Module) PTX() string { return m.result.PTX }

// Kernels lists the names of the module's kernels.
func (m *Module) Kernels() (names []string) {
	for _, k := range m.result.Kernels {
		names = append(names, k.Name)
	}
	return names
}

// Kernel finds a kernel by its name in the source.
func (m *Module) Kernel(name string) (*Kernel, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k := m.kernels[name]; k != nil {
		return k, nil
	}
	sig, err := m.result.Kernel(name)
	if err != nil {
		return nil, err
	}
	k := &Kernel{module: m, sig: sig}
	m.kernels[name] = k
	return k, nil
}

// on loads the module to a device.
func (m *Module) on(d *Device) (loaded, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if l, ok := m.loaded[d]; ok && d.client.Alive(l.handle.Gen) {
		return l, nil
	}
	source := device.Source{Name: m.result.Source.Name, Text: m.result.Source.Text, Line: 1, Registers: map[string]int{}}
	for _, k := range m.result.Kernels {
		if k.Measured {
			source.Registers[k.Symbol] = k.Registers
		}
	}
	h, infos, err := d.client.Load(context.Background(), m.result.PTX, source)
	if err != nil {
		return loaded{}, fmt.Errorf("load the module to %s: %w", d, err)
	}
	l := loaded{h, map[string]uint32{}}
	for i, info := range infos {
		l.index[info.Name] = uint32(i)
	}
	m.loaded[d] = l
	return l, nil
}

// Kernel is a function that a device can run.
type Kernel struct {
	module *Module
	sig    *nvrtc.Signature
}

// Name is the kernel's name in the source.
func (k *Kernel) Name() string { return k.sig.Name }

// Dim is an extent in three dimensions. Zeros count as 1.
type Dim struct{ X, Y, Z int }

// D makes a Dim: D(4) is (4,1,1).
func D(extent ...int) Dim {
	d := Dim{1, 1, 1}
	for i, n := range extent {
		switch i {
		case 0:
			d.X = n
		case 1:
			d.Y = n
		case 2:
			d.Z = n
		}
	}
	return d
}

func (d Dim) wire() device.Dim {
	one := func(n int) uint32 {
		if n == 0 {
			return 1
		}
		return uint32(n)
	}
	return device.Dim{X: one(d.X), Y: one(d.Y), Z: one(d.Z)}
}

func (d Dim) valid() bool {
	ok := func(n int) bool { return n >= 0 && n <= math.MaxInt32 }
	return ok(d.X) && ok(d.Y) && ok(d.Z)
}

// Config is how a kernel is launched.
type Config struct {
	Grid    Dim // blocks
	Block   Dim // threads of a block
	Shared  int // bytes of dynamic shared memory of a block
	Cluster Dim // blocks of a cluster; zero for none
	Stream  *Stream
	Device  *Device // where to run a kernel that takes no tensor; the tensors' otherwise
}

// Launch queues the kernel. Arguments are tensors for pointers, and Go numbers for
// numbers; a number must be exact in the parameter's type, but a float64 is rounded
// to a float parameter. The error names an argument that does not fit.
func (k *Kernel) Launch(c Config, args ...any) error {
	if len(args) != len(k.sig.Offsets) {
		return fmt.Errorf("%s takes %d arguments and got %d: %s", k.sig.Name, len(k.sig.Offsets), len(args), k.Signature())
	}
	if !c.Grid.valid() || !c.Block.valid() || !c.Cluster.valid() || c.Shared < 0 || c.Shared > 1<<20 {
		return fmt.Errorf("%s: a grid %v, block %v or %d bytes of shared memory that no device has", k.sig.Name, c.Grid, c.Block, c.Shared)
	}
	call := calls.Get().(*call)
	defer calls.Put(call)
	call.reset(k.sig.Bytes)
	d := c.Device
	if c.Stream != nil {
		d = c.Stream.dev
	}
	for i, arg := range args {
		if err := k.argument(call, i, arg, &d); err != nil {
			return err
		}
	}
	if d == nil {
		var err error
		if d, err = Open("auto"); err != nil {
			return err
		}
	}
	l, err := k.module.on(d)
	if err != nil {
		return err
	}
	stream := d.streamID()
	if c.Stream != nil {
		stream = c.Stream.handle.ID
	}
	call.launch = device.Launch{Kernel: l.index[k.sig.Symbol], Grid: c.Grid.wire(), Block: c.Block.wire(), Shared: uint32(c.Shared), Params: call.params}
	if c.Cluster != (Dim{}) {
		call.launch.Cluster = c.Cluster.wire()
	}
	d.busy.Store(true)
	err = d.client.Launch(stream, l.handle, &call.launch, call.patches)
	runtime.KeepAlive(args) // a tensor that is collected before the launch is queued is given back before it
	return err
}

// call is the scratch memory of a launch.
type call struct {
	params  []byte
	patches []device.Patch
	launch  device.Launch
}

var calls = sync.Pool{New: func() any { return new(call) }}

func (c *call) reset(n int) {
	if cap(c.params) < n {
		c.params = make([]byte, n)
	}
	c.params = c.params[:n]
	clear(c.params)
	c.patches = c.patches[:0]
}

// Signature is the kernel as the source declares it.
func (k *Kernel) Signature() string { return k.sig.String() }

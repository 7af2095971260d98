package sim

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/warpbook/warpbook/cuda/ptx"
)

// Source is the CUDA source that PTX was compiled from, for findings.
type Source struct {
	Name string // "cell [3]" or "softmax.cu"; "" keeps the names in the PTX
	Text string
	Line int // of Text's first line in Name; 0 is 1

	// Registers of a thread, by kernel in the PTX, where machine code tells them.
	Registers map[string]int
}

// line returns a line of the source.
func (s Source) line(n int) string {
	lines := strings.Split(s.Text, "\n")
	if i := n - max(s.Line, 1); i >= 0 && i < len(lines) {
		return strings.TrimRight(lines[i], "\r")
	}
	return ""
}

// Module is PTX that a device has loaded.
type Module struct {
	dev     *Device
	ptx     *ptx.Module
	source  Source
	globals map[string]*Allocation // .global and .const
	shared  map[string]*ptx.Variable
	funcs   map[string]*Func
	ids     []*Func // by number, for pointers to functions
	kernels map[string]*Kernel
}

// Func is a decoded function.
type Func struct {
	Name  string
	ptx   *ptx.Function
	code  []Inst
	regs  int
	preds int
	index []int // of a ptx register: in regs, or in preds
	id    int

	local  variables // .local: a frame of every thread's local memory
	passed variables // .param: arguments of calls, and in a device function its own
	err    error     // why it cannot be decoded; found out by a call
}

// variables is how variables of a space are laid out.
type variables struct {
	at   map[string]int
	size int
}

func (v *variables) add(x *ptx.Variable, align, zone int) {
	if v.at == nil {
		v.at = map[string]int{}
	}
	align = max(align, x.Align)
	v.size = (v.size + align - 1) / align * align
	v.at[x.Name] = v.size
	v.size += x.Bytes + zone
}

// Kernel is a function that can be launched.
type Kernel struct {
	fn     *Func
	module *Module

	shared  variables // static; behind each one a gap that nothing may touch
	named   []sharedVariable
	dynamic int // where dynamic shared memory begins
	static  int // bytes that the variables take on a device
	Params  []*ptx.Variable
	Offsets []int // of Params
	Bytes   int   // of all parameters
	granule int   // smallest access to shared memory

	funcs map[string]*Func // what the kernel may call, decoded for it
	insts int              // in all of them
	all   []*Inst
}

type sharedVariable struct {
	name     string
	at, size int
}

// Name is the kernel's name.
func (k *Kernel) Name() string { return k.fn.Name }

// StaticShared is the bytes of the kernel's own shared variables.
func (k *Kernel) StaticShared() int { return k.static }

// Local is the bytes of local memory that the kernel's variables take a thread.
func (k *Kernel) Local() int { return k.fn.local.size }

// Function is the kernel as it was parsed.
func (k *Kernel) Function() *ptx.Function { return k.fn.ptx }

// SharedGranule is the smallest number of bytes that an instruction of the
// kernel reads or writes in shared memory.
func (k *Kernel) SharedGranule() int { return k.granule }

// Load decodes a module and allocates its variables.
func (d *Device) Load(m *ptx.Module, source Source) (*Module, error) {
	mod := &Module{dev: d, ptx: m, source: source, globals: map[string]*Allocation{}, shared: map[string]*ptx.Variable{}, funcs: map[string]*Func{}, kernels: map[string]*Kernel{}}
	for _, f := range m.Functions {
		fn := newFunc(f)
		fn.id = len(mod.ids)
		mod.funcs[f.Name] = fn
		mod.ids = append(mod.ids, fn)
	}
	for _, v := range m.Variables {
		switch v.Space {
		case ptx.Shared:
			mod.shared[v.Name] = v
		case ptx.Global, ptx.Const:
			if v.Extern {
				return nil, fmt.Errorf("the variable %s is declared extern and defined nowhere", v.Name)
			}
			if int64(v.Bytes) > d.cfg.Memory-d.used {
				return nil, fmt.Errorf("the variable %s of %d bytes: %w", v.Name, v.Bytes, ErrMemory)
			}
			a := d.alloc(int64(max(v.Bytes, 1)), Label{Name: v.Name, Type: v.Type.String(), Shape: []int{max(v.Count, 1)}, Item: v.Type.Bytes()})
			a.ready.Store(true) // module variables start as zeros
			a.ReadOnly = v.Space == ptx.Const
			mod.globals[v.Name] = a
		}
	}
	for _, v := range m.Variables {
		if a := mod.globals[v.Name]; a != nil {
			if err := mod.initialize(a, v); err != nil {
				return nil, err
			}
		}
	}
	for _, fn := range mod.ids {
		for _, v := range fn.ptx.Locals {
			if v.Space == ptx.Global || v.Space == ptx.Const { // a static variable of the function
				a := d.alloc(int64(max(v.Bytes, 1)), Label{Name: v.Name})
				a.ready.Store(true)
				a.ReadOnly = v.Space == ptx.Const
				mod.globals[fn.Name+"/"+v.Name] = a
				if err := mod.initialize(a, v); err != nil {
					return nil, err
				}
			}
		}
	}
	return mod, nil
}

func (m *Module) initialize(a *Allocation, v *ptx.Variable) error {
	for _, init := range v.Init {
		value := init.Bytes
		if init.Symbol != "" {
			addr, ok := m.address(init.Symbol)
			if !ok {
				return fmt.Errorf("the initial value of %s names %s, which is not there", v.Name, init.Symbol)
			}
			value = binary.LittleEndian.AppendUint64(nil, addr+uint64(init.Offset))[:init.Size]
		}
		if init.At+len(value) <= len(a.Data) {
			copy(a.Data[init.At:], value)
		}
	}
	return nil
}

// address is the value of a symbol of the module: a variable, or a function's number.
func (m *Module) address(name string) (uint64, bool) {
	if a := m.globals[name]; a != nil {
		return a.Addr, true
	}
	if f := m.funcs[name]; f != nil {
		return funcBase + uint64(f.id)*16, true
	}
	return 0, false
}

// funcBase is where addresses of functions begin; nothing else lies there.
const funcBase = 0x1000

// Kernel finds a kernel by name and decodes it.
func (m *Module) Kernel(name string) (*Kernel, error) {
	if k := m.kernels[name]; k != nil {
		return k, nil
	}
	f, err := m.ptx.Kernel(name)
	if err != nil {
		return nil, err
	}
	k := &Kernel{module: m, Params: f.Params, granule: 16, funcs: map[string]*Func{}}
	k.Offsets, k.Bytes = f.ParamLayout()
	reachable := m.reachable(m.funcs[name])
	for _, fn := range reachable {
		own := newFunc(fn.ptx)
		own.id = fn.id
		k.funcs[fn.Name] = own
		for _, v := range fn.ptx.Locals {
			if v.Space == ptx.Shared {
				k.addShared(v)
			}
		}
	}
	k.fn = k.funcs[name]
	dynamicAlign := 16
	for _, v := range m.ptx.Variables {
		if v.Space != ptx.Shared {
			continue
		}
		if v.Extern || v.Bytes == 0 {
			dynamicAlign = max(dynamicAlign, v.Align)
		} else if uses(reachable, v.Name) {
			k.addShared(v)
		}
	}
	k.dynamic = (k.shared.size + dynamicAlign - 1) / dynamicAlign * dynamicAlign
	for _, fn := range reachable {
		k.decode(k.funcs[fn.Name])
	}
	if k.fn.err != nil {
		return nil, fmt.Errorf("kernel %s: %w", name, k.fn.err)
	}
	m.kernels[name] = k
	return k, nil
}

// addShared places a shared variable: at a multiple of all banks, and with a gap
// behind it, so that an index past its end hits nothing else.
func (k *Kernel) addShared(v *ptx.Variable) {
	const banks = 128
	k.shared.add(v, banks, banks)
	k.named = append(k.named, sharedVariable{v.Name, k.shared.at[v.Name], v.Bytes})
	k.static = (k.static+v.Align-1)/v.Align*v.Align + v.Bytes
}

// reachable lists the functions that f may call, f first.
func (m *Module) reachable(f *Func) []*Func {
	list, seen := []*Func{f}, map[*Func]bool{f: true}
	for i := 0; i < len(list); i++ {
		visit := func(name string) {
			if g := m.funcs[name]; g != nil && !seen[g] {
				seen[g] = true
				list = append(list, g)
			}
		}
		for k := range list[i].ptx.Body {
			in := &list[i].ptx.Body[k]
			if in.Op == "call" {
				visit(in.Callee)
			}
			for _, o := range in.Operands {
				if o.Kind == ptx.Symbol {
					visit(o.Symbol)
				}
			}
		}
	}
	for _, v := range m.ptx.Variables { // tables of function pointers
		for _, init := range v.Init {
			if g := m.funcs[init.Symbol]; g != nil && !seen[g] {
				seen[g] = true
				list = append(list, g)
			}
		}
	}
	return list
}

func uses(funcs []*Func, symbol string) bool {
	for _, fn := range funcs {
		for i := range fn.ptx.Body {
			for _, o := range fn.ptx.Body[i].Operands {
				if o.Symbol == symbol {
					return true
				}
			}
		}
	}
	return false
}

// newFunc numbers registers: predicates on their own, as masks.
func newFunc(f *ptx.Function) *Func {
	fn := &Func{Name: f.Name, ptx: f, index: make([]int, len(f.Regs))}
	for i, r := range f.Regs {
		if r.Type == ptx.Pred {
			fn.index[i] = fn.preds
			fn.preds++
		} else {
			fn.index[i] = fn.regs
			fn.regs++
		}
	}
	if !f.Entry {
		for _, v := range append(f.Params[:len(f.Params):len(f.Params)], f.Returns...) {
			fn.passed.add(v, 1, 0)
		}
	}
	for _, v := range f.Locals {
		switch v.Space {
		case ptx.Local:
			fn.local.add(v, 16, 0)
		case ptx.Param:
			fn.passed.add(v, 16, 0)
		}
	}
	fn.local.size = (fn.local.size + 15) / 16 * 16
	return fn
}

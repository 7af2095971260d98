package corpus

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/warpbook/warpbook/cuda/half"
	"github.com/warpbook/warpbook/cuda/ptx"
	"github.com/warpbook/warpbook/cuda/sim"
)

// Result is what a run of a program left.
type Result struct {
	Report *sim.Report
	Arrays map[string][]byte
}

// Run launches the program on a new device. The error is a *sim.Error for a launch
// that is refused.
func (p *Program) Run(ctx context.Context, cfg sim.Config, watch ...sim.Checker) (*Result, error) {
	return p.run(ctx, cfg, p.Kernel, sim.Launch{Grid: p.Grid, Block: p.Block, Cluster: p.Cluster, Shared: p.Shared}, watch)
}

// RunReference launches the reference in one thread.
func (p *Program) RunReference(ctx context.Context) (*Result, error) {
	one := sim.Dim{X: 1, Y: 1, Z: 1}
	return p.run(ctx, sim.Config{}, p.Reference, sim.Launch{Grid: one, Block: one}, nil)
}

func (p *Program) run(ctx context.Context, cfg sim.Config, kernel string, spec sim.Launch, watch []sim.Checker) (*Result, error) {
	text, err := p.PTX()
	if err != nil {
		return nil, err
	}
	parsed, err := ptx.Parse(text)
	if err != nil {
		return nil, err
	}
	if p.Budget > 0 {
		cfg.Budget = p.Budget
	}
	dev := sim.New(cfg)
	m, err := dev.Load(parsed, sim.Source{Name: p.Name + ".cu", Text: p.Source})
	if err != nil {
		return nil, err
	}
	k, err := m.Kernel(symbol(parsed, kernel))
	if err != nil {
		return nil, err
	}
	addrs, err := p.arguments(dev, k, &spec)
	if err != nil {
		return nil, err
	}
	report, err := dev.Launch(ctx, k, spec, watch...)
	if err != nil {
		return nil, err
	}
	out := &Result{Report: report, Arrays: map[string][]byte{}}
	for i, a := range p.Args {
		if a.Count > 0 && !a.Freed {
			b := make([]byte, a.Count*a.Type.Bytes())
			if err := dev.Read(b, addrs[i]); err != nil {
				return nil, err
			}
			out.Arrays[a.Name] = b
		}
	}
	return out, nil
}

// symbol is a kernel's name in the PTX: C++ adds the types of the parameters.
func symbol(m *ptx.Module, name string) string {
	mangled := fmt.Sprintf("_Z%d%s", len(name), name)
	for _, k := range m.Kernels() {
		if strings.HasPrefix(k.Name, mangled) {
			return k.Name
		}
	}
	return name
}

// arguments allocates and fills the arrays, and lays out the parameters.
func (p *Program) arguments(dev *sim.Device, k *sim.Kernel, spec *sim.Launch) (addrs []uint64, err error) {
	params := k.Function().Params
	if len(params) != len(p.Args) {
		return nil, fmt.Errorf("%s: the kernel %s has %d parameters, the file names %d arguments", p.Name, k.Name(), len(params), len(p.Args))
	}
	offsets, size := k.Function().ParamLayout()
	spec.Params = make([]byte, size)
	for i, a := range p.Args {
		value, addr := encode(a.Type, a.Value), uint64(0)
		if a.Count > 0 {
			if addr, err = a.allocate(dev, uint64(i)); err != nil {
				return nil, err
			}
			value = addr
		}
		var w [8]byte
		binary.LittleEndian.PutUint64(w[:], value)
		copy(spec.Params[offsets[i]:offsets[i]+params[i].Bytes], w[:])
		addrs = append(addrs, addr)
	}
	return addrs, nil
}

func (a *Arg) allocate(dev *sim.Device, seed uint64) (uint64, error) {
	bytes := a.Type.Bytes()
	addr, err := dev.Alloc(int64(a.Count*bytes), sim.Label{Name: a.Name, Type: a.Type.String(), Shape: []int{a.Count}, Item: bytes})
	if err != nil || a.Fill == "none" {
		return addr, err
	}
	r := rand.New(rand.NewPCG(seed, 1))
	var data []byte
	for i := range a.Count {
		v := 0.0
		switch a.Fill {
		case "zero":
		case "iota":
			v = float64(i)
		case "const":
			v = a.Value
		case "normal":
			v = r.NormFloat64()
		case "uniform":
			v = r.Float64()
		case "below":
			v = float64(r.IntN(int(a.Value)))
		default:
			return 0, fmt.Errorf("arrays are not filled with %q", a.Fill)
		}
		var w [8]byte
		binary.LittleEndian.PutUint64(w[:], encode(a.Type, v))
		data = append(data, w[:bytes]...)
	}
	if err := dev.Write(addr, data); err != nil {
		return 0, err
	}
	if a.Freed {
		return addr, dev.Free(addr)
	}
	return addr, nil
}

func encode(t ptx.Type, v float64) uint64 {
	switch t {
	case ptx.F32:
		return uint64(math.Float32bits(float32(v)))
	case ptx.F64:
		return math.Float64bits(v)
	case ptx.F16:
		return uint64(half.F16FromFloat64(v))
	case ptx.BF16:
		return uint64(half.BF16FromFloat64(v))
	}
	return uint64(int64(v))
}

func decode(t ptx.Type, b []byte) float64 {
	var w [8]byte
	copy(w[:], b)
	bits := binary.LittleEndian.Uint64(w[:])
	switch t {
	case ptx.F32:
		return float64(math.Float32frombits(uint32(bits)))
	case ptx.F64:
		return math.Float64frombits(bits)
	case ptx.F16:
		return half.F16(bits).Float64()
	case ptx.BF16:
		return half.BF16(bits).Float64()
	case ptx.S32:
		return float64(int32(bits))
	case ptx.S8:
		return float64(int8(bits))
	case ptx.S64:
		return float64(int64(bits))
	}
	return float64(bits)
}

// Compare says where the arrays of two runs differ by more than the tolerance; nil
// when they do not.
func (p *Program) Compare(got, want *Result) error {
	for _, a := range p.Args {
		g, w := got.Arrays[a.Name], want.Arrays[a.Name]
		size := a.Type.Bytes()
		for i := range len(g) / size {
			x, y := decode(a.Type, g[i*size:i*size+size]), decode(a.Type, w[i*size:i*size+size])
			if x != y && !(x != x && y != y) && !(math.Abs(x-y) <= p.Tolerance*max(1, math.Abs(y))) {
				return fmt.Errorf("%s[%d] is %g, not %g", a.Name, i, x, y)
			}
		}
	}
	return nil
}

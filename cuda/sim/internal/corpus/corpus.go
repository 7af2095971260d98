// Package corpus reads the proof of the simulator's checkers: CUDA programs that are
// correct, and programs with a planted fault each.
//
// A program is a .cu file with the PTX that NVRTC made of it beside it. Comments at
// its top say how it is launched:
//
//	// kernel: scale
//	// grid: 4            blocks; "2,3,1" for more dimensions
//	// block: 256
//	// cluster: 2         optional
//	// shared: 1024       optional: bytes of dynamic shared memory
//	// arch: compute_90   optional: compute_80 otherwise
//	// budget: 100000     optional: instructions before it counts as endless
//	// arg x: f32[1000] = normal
//	// arg y: f32[1000] = none
//	// arg n: i32 = 1000
//	// reference: plain   optional: a kernel that one thread runs with the same arguments
//	// tolerance: 1e-5    optional: between both, relative to numbers above 1
//
// Arguments are in the order of the kernel's parameters. Arrays are filled with zero,
// none (nothing: reading them is a fault), iota, const V, normal, uniform, or below N
// (random integers); "freed" behind it frees the array before the launch.
//
// In a program with a fault, a comment "want: KIND" at the end of a line says that a
// finding of that kind names the line; "want: launch refused" on a line of its own,
// that the launch is refused; "also: KIND" allows a finding of a kind anywhere.
package corpus

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/warpbook/warpbook/cuda/ptx"
	"github.com/warpbook/warpbook/cuda/sim"
)

// Program is one file.
type Program struct {
	Name      string // of the file, without .cu
	Path      string
	Source    string
	Arch      string
	Kernel    string
	Reference string
	Tolerance float64
	Budget    int64
	Grid      sim.Dim
	Block     sim.Dim
	Cluster   sim.Dim
	Shared    int
	Args      []Arg
	Wants     []Want
	Also      []sim.Kind
}

// Want is a finding that has to be there.
type Want struct {
	Kind sim.Kind
	Line int // 0 for a launch that is refused
}

// Arg is an argument: an array, or a scalar.
type Arg struct {
	Name  string
	Type  ptx.Type
	Count int // of an array; 0 for a scalar
	Fill  string
	Value float64 // of a scalar, or of Fill
	Freed bool
}

// Load reads the programs of a folder, by name.
func Load(dir string) ([]*Program, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.cu"))
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	var out []*Program
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		p, err := parse(file, string(text))
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

func parse(path, text string) (*Program, error) {
	p := &Program{Name: strings.TrimSuffix(filepath.Base(path), ".cu"), Path: path, Source: text, Arch: "compute_80", Block: sim.Dim{X: 1, Y: 1, Z: 1}, Grid: sim.Dim{X: 1, Y: 1, Z: 1}}
	lines := bufio.NewScanner(strings.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if rest, ok := strings.CutPrefix(line, "// "); ok {
			if err := p.header(rest); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", path, n, err)
			}
			continue
		}
		if _, kind, ok := strings.Cut(line, "// want: "); ok {
			p.Wants = append(p.Wants, Want{sim.Kind(strings.TrimSpace(kind)), n})
		}
	}
	if p.Kernel == "" {
		return nil, fmt.Errorf("%s: there is no line \"// kernel: NAME\"", path)
	}
	return p, lines.Err()
}

// header reads one comment at the start of a line; one that has no key is prose.
func (p *Program) header(line string) (err error) {
	key, value, ok := strings.Cut(line, ": ")
	if !ok {
		return nil
	}
	value = strings.TrimSpace(value)
	switch key {
	case "kernel":
		p.Kernel = value
	case "reference":
		p.Reference = value
	case "arch":
		p.Arch = value
	case "grid":
		p.Grid, err = dim(value)
	case "block":
		p.Block, err = dim(value)
	case "cluster":
		p.Cluster, err = dim(value)
	case "shared":
		p.Shared, err = strconv.Atoi(value)
	case "budget":
		p.Budget, err = strconv.ParseInt(value, 10, 64)
	case "tolerance":
		p.Tolerance, err = strconv.ParseFloat(value, 64)
	case "want":
		p.Wants = append(p.Wants, Want{Kind: sim.Kind(value)})
	case "also":
		p.Also = append(p.Also, sim.Kind(value))
	default:
		if name, ok := strings.CutPrefix(key, "arg "); ok {
			var a Arg
			a, err = argument(name, value)
			p.Args = append(p.Args, a)
		}
	}
	return err
}

func dim(s string) (sim.Dim, error) {
	d := [3]int{1, 1, 1}
	for i, f := range strings.Split(s, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(f))
		if err != nil || i == 3 {
			return sim.Dim{}, fmt.Errorf("%q is no geometry", s)
		}
		d[i] = n
	}
	return sim.Dim{X: d[0], Y: d[1], Z: d[2]}, nil
}

var argTypes = map[string]ptx.Type{
	"f32": ptx.F32, "f64": ptx.F64, "f16": ptx.F16, "bf16": ptx.BF16, "i32": ptx.S32, "u32": ptx.U32,
	"u8": ptx.U8, "i8": ptx.S8, "u16": ptx.U16, "i64": ptx.S64, "u64": ptx.U64,
}

// argument reads "f32[1000] = normal" or "i32 = 5".
func argument(name, s string) (Arg, error) {
	a := Arg{Name: name}
	what, fill, _ := strings.Cut(s, "=")
	what = strings.TrimSpace(what)
	if base, count, ok := strings.Cut(what, "["); ok {
		n, err := strconv.Atoi(strings.TrimSuffix(count, "]"))
		if err != nil || n <= 0 {
			return a, fmt.Errorf("%q is no array", what)
		}
		what, a.Count = base, n
	}
	var ok bool
	if a.Type, ok = argTypes[what]; !ok {
		return a, fmt.Errorf("the type %q is not known", what)
	}
	words := strings.Fields(fill)
	if n := len(words); n > 1 && words[n-1] == "freed" {
		a.Freed, words = true, words[:n-1]
	}
	var err error
	switch {
	case len(words) == 0:
		return a, fmt.Errorf("the argument %s has no value", name)
	case a.Count == 0:
		a.Value, err = strconv.ParseFloat(words[0], 64)
	default:
		if a.Fill = words[0]; len(words) > 1 {
			a.Value, err = strconv.ParseFloat(words[1], 64)
		}
	}
	return a, err
}

// Hash identifies the source and its architecture.
func (p *Program) Hash() string {
	sum := sha256.Sum256([]byte(p.Arch + "\n" + p.Source))
	return hex.EncodeToString(sum[:8])
}

// PTX is the PTX beside the source. It is an error when it was made of another one.
func (p *Program) PTX() (string, error) {
	path := strings.TrimSuffix(p.Path, ".cu") + ".ptx"
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("%w; run go run ./cuda/sim/internal/corpus/corpusgen", err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	if !strings.HasPrefix(first, "// source "+p.Hash()+" ") {
		return "", fmt.Errorf("%s was made of another %s.cu; run go run ./cuda/sim/internal/corpus/corpusgen", path, p.Name)
	}
	return string(text), nil
}

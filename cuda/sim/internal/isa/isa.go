// Package isa generates kernels that apply each PTX instruction that the simulator
// supports to tables of edge values and random ones, so that the simulator and a
// GPU can be compared bit by bit.
//
// A Case is one kernel with its input. Most are elementwise: thread i loads the
// i-th row of operands, executes the instruction once, and stores what it wrote.
// Cases are the same in every run of the generator. Golden data, the outputs of a
// GPU, are keyed by a hash of the kernel and its input, so that a changed case is
// seen to have none.
package isa

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/warpbook/warpbook/cuda/ptx"
)

// Case is one kernel, launched once with two pointers: its input, and zeroed memory
// for its outputs.
type Case struct {
	Name    string // "add.rn.f32"
	Kernel  string // the entry's name
	Text    string // its PTX
	Grid    int    // blocks
	Block   int    // threads of one
	Cluster int    // blocks of a cluster; 1 for none
	Input   []byte
	Out     int // bytes
	Outputs []Output
	Sources []Source // of elementwise cases, for messages
}

// Output is an array that a case writes.
type Output struct {
	Name      string
	Type      ptx.Type
	At, Count int // byte offset and number of elements
	Tolerance Tolerance
}

// Source is an array that a case reads.
type Source struct {
	Name      string
	Type      ptx.Type
	At, Count int
}

// Tolerance is how far a result may be from the GPU's: not at all when it is zero.
// Approximate instructions are documented to have such errors.
type Tolerance struct {
	ULP uint64  // units in the last place
	Abs float64 // or absolutely
}

// Hash identifies the case's kernel and input.
func (c *Case) Hash() string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %d %d %d\n", c.Grid, c.Block, c.Cluster, c.Out)
	h.Write([]byte(strings.ReplaceAll(c.Text, c.Kernel, "k")))
	h.Write(c.Input)
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Module is what is loaded at once.
type Module struct {
	Name  string
	PTX   string
	Cases []*Case
}

// perModule bounds what is lost when a module does not load.
const perModule = 150

// Cases generates all cases.
func Cases() []*Case {
	g := &generator{rows: map[string][]byte{}}
	g.integers()
	g.bits()
	g.carries()
	g.floats()
	g.approximate()
	g.halves()
	g.comparisons()
	g.conversions()
	g.memory()
	g.atomics()
	g.warps()
	g.matrices()
	g.fragments()
	g.asynchronous()
	return g.cases
}

// Modules puts cases into modules.
func Modules(cases []*Case) (out []*Module) {
	for i := 0; i < len(cases); i += perModule {
		m := &Module{Name: fmt.Sprintf("isa%02d", i/perModule), Cases: cases[i:min(i+perModule, len(cases))]}
		var b strings.Builder
		b.WriteString(".version 9.0\n.target sm_90\n.address_size 64\n")
		for _, c := range m.Cases {
			fmt.Fprintf(&b, "\n// %s\n%s", c.Name, c.Text)
		}
		m.PTX = b.String()
		out = append(out, m)
	}
	return out
}

type generator struct {
	cases []*Case
	rows  map[string][]byte // inputs by the operands that they are for
}

// threads is the size of a block of elementwise cases, and elements how many
// elements one has.
const (
	threads  = 128
	elements = 512
)

// each adds an elementwise case. The body names its sources a, b, c, e, f and what
// it writes d, d1, d2, ...
func (g *generator) each(name, body string, dst []ptx.Type, src ...values) *Case {
	return g.eachN(elements, Tolerance{}, name, body, dst, src...)
}

func (g *generator) approx(t Tolerance, name, body string, dst []ptx.Type, src ...values) {
	g.eachN(elements, t, name, body, dst, src...)
}

func (g *generator) eachN(n int, t Tolerance, name, body string, dst []ptx.Type, src ...values) *Case {
	c := &Case{Name: name, Kernel: g.kernelName(), Grid: n / threads, Block: threads, Cluster: 1}
	if n < threads {
		c.Grid, c.Block = 1, n
	}
	c.Input = g.operands(n, src)
	var b strings.Builder
	b.WriteString(header(c.Kernel))
	at := 0
	for i, s := range src {
		reg := string("abcefghi"[i])
		b.WriteString(declare(reg, s.t) + load(reg, s.t, at))
		c.Sources = append(c.Sources, Source{reg, s.t, at, n})
		at += n * memoryBytes(s.t)
	}
	for i, d := range dst {
		b.WriteString(declare(dstName(i), d))
	}
	b.WriteString("\t" + strings.ReplaceAll(strings.TrimSpace(body), "\n", "\n\t") + "\n")
	for i, d := range dst {
		b.WriteString(store(dstName(i), d, c.Out))
		c.Outputs = append(c.Outputs, Output{dstName(i), d, c.Out, n, t})
		c.Out += n * memoryBytes(d)
	}
	b.WriteString("\tret;\n}\n")
	c.Text = b.String()
	g.cases = append(g.cases, c)
	return c
}

// raw adds a case whose body does its own loads and stores. It may use %in, %out,
// %i (thread of the grid), %t (of the block), %lane, %ri and %rt (64 bits) and
// scratch registers %x<16> (b32), %y<16> (b64), %q<8> (predicates).
func (g *generator) raw(name, body string, grid, block int, input []byte, outputs ...Output) *Case {
	c := &Case{Name: name, Kernel: g.kernelName(), Grid: grid, Block: block, Cluster: 1, Input: input}
	for _, o := range outputs {
		o.At = c.Out
		c.Out += o.Count * memoryBytes(o.Type)
		c.Outputs = append(c.Outputs, o)
	}
	c.Text = header(c.Kernel) + "\t" + strings.ReplaceAll(strings.TrimSpace(body), "\n", "\n\t") + "\n\tret;\n}\n"
	g.cases = append(g.cases, c)
	return c
}

func (g *generator) kernelName() string { return fmt.Sprintf("case%04d", len(g.cases)) }

func dstName(i int) string {
	if i == 0 {
		return "d"
	}
	return fmt.Sprint("d", i)
}

func header(kernel string) string {
	return `.visible .entry ` + kernel + `(.param .u64 in, .param .u64 out)
{
	.reg .b64 %in, %out, %ri, %rt, %ad, %y<16>;
	.reg .b32 %i, %t, %lane, %x<16>;
	.reg .pred %q<8>;
	ld.param.u64 %in, [in];
	ld.param.u64 %out, [out];
	mov.u32 %t, %tid.x;
	mov.u32 %x0, %ntid.x;
	mov.u32 %x1, %ctaid.x;
	mad.lo.u32 %i, %x0, %x1, %t;
	cvt.u64.u32 %ri, %i;
	cvt.u64.u32 %rt, %t;
	mov.u32 %lane, %laneid;
`
}

// memoryBytes is the size of a value of an elementwise case in memory: a predicate
// is a 32-bit 0 or 1, and what an 8-bit register type extends to shows in 16 bits.
func memoryBytes(t ptx.Type) int {
	switch t {
	case ptx.Pred:
		return 4
	case ptx.B8, ptx.U8, ptx.S8:
		return 2
	}
	return t.Bytes()
}

// declare declares a register that holds a value. Registers are untyped bits, so
// that each instruction takes them.
func declare(reg string, t ptx.Type) string {
	if t == ptx.Pred {
		return fmt.Sprintf("\t.reg .pred %s;\n\t.reg .b32 %s_m;\n", reg, reg)
	}
	return fmt.Sprintf("\t.reg .b%d %s;\n", 8*memoryBytes(t), reg)
}

func load(reg string, t ptx.Type, at int) string {
	size := memoryBytes(t)
	text := fmt.Sprintf("\tmad.lo.u64 %%ad, %%ri, %d, %%in;\n", size)
	if t == ptx.Pred {
		return text + fmt.Sprintf("\tld.global.b32 %s_m, [%%ad+%d];\n\tsetp.ne.b32 %s, %s_m, 0;\n", reg, at, reg, reg)
	}
	return text + fmt.Sprintf("\tld.global.b%d %s, [%%ad+%d];\n", 8*size, reg, at)
}

func store(reg string, t ptx.Type, at int) string {
	size := memoryBytes(t)
	text := fmt.Sprintf("\tmad.lo.u64 %%ad, %%ri, %d, %%out;\n", size)
	if t == ptx.Pred {
		return text + fmt.Sprintf("\tselp.b32 %s_m, 1, 0, %s;\n\tst.global.b32 [%%ad+%d], %s_m;\n", reg, reg, at, reg)
	}
	return text + fmt.Sprintf("\tst.global.b%d [%%ad+%d], %s;\n", 8*size, at, reg)
}

// put appends the low bytes of v.
func put(b []byte, v uint64, size int) []byte {
	var w [8]byte
	binary.LittleEndian.PutUint64(w[:], v)
	return append(b, w[:size]...)
}

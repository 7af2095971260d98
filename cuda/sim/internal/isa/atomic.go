package isa

import (
	"fmt"

	"github.com/warpbook/warpbook/cuda/ptx"
)

// atomicOp is an operation of atom and red, with the types that it has.
type atomicOp struct {
	op    string
	types types
}

var atomicOps = []atomicOp{
	{"add", types{ptx.U32, ptx.S32, ptx.U64, ptx.F32, ptx.F64}},
	{"add.noftz", types{ptx.F16, ptx.F16x2, ptx.BF16, ptx.BF16x2}},
	{"min", wide}, {"max", wide},
	{"and", types{ptx.B32, ptx.B64}}, {"or", types{ptx.B32, ptx.B64}}, {"xor", types{ptx.B32, ptx.B64}},
	{"exch", types{ptx.B32, ptx.B64}}, {"cas", types{ptx.B16, ptx.B32, ptx.B64}},
	{"inc", types{ptx.U32}}, {"dec", types{ptx.U32}},
}

// atomics lets each thread update a word of its own, where the result is known; and
// all threads together with operations that commute.
func (g *generator) atomics() {
	for _, a := range atomicOps {
		for _, t := range a.types {
			for _, space := range []string{"global", "shared"} {
				g.atomic(a.op, t, space)
			}
		}
	}
	g.atomicVectors()
	g.contended()
}

// own is PTX that makes p the address of the thread's word and puts a there: in a
// shared array, or in the output after what the case stores.
func own(t ptx.Type, space string, stored int) string {
	size := t.Bytes()
	s := fmt.Sprintf(".shared .align 16 .b8 words[2048];\n.reg .b64 p;\nmov.u64 p, words;\nmad.lo.u64 p, %%rt, %d, p;\n", size)
	if space == "global" {
		s += fmt.Sprintf("mad.lo.u64 p, %%ri, %d, %%out;\nadd.u64 p, p, %d;\n", size, stored)
	}
	return s + fmt.Sprintf("st.%s.b%d [p], a;\n", space, 8*size)
}

// atomic stores what the operation returned; a second output is what it left.
func (g *generator) atomic(op string, t ptx.Type, space string) {
	args := "b"
	src := []values{of(t), of(t)}
	if op == "cas" {
		args = "b, c"
		few := only(t, "few"+t.String(), 0, 1, 2, 0xffff)
		src = []values{few, few, of(t)}
	}
	size := t.Bytes()
	body := own(t, space, 2*elements*size)
	body += fmt.Sprintf("atom.%s.%s.%v d, [p], %s;\nld.%s.b%d d1, [p];", space, op, t, args, space, 8*size)
	c := g.each(fmt.Sprintf("atom.%s.%s.%v", space, op, t), body, types{t, t}, src...)
	if space == "global" {
		c.Out += elements * size // the words
	}
	if op == "exch" || op == "cas" {
		return
	}
	body = own(t, space, elements*size)
	body += fmt.Sprintf("red.%s.%s.%v [p], %s;\nld.%s.b%d d, [p];", space, op, t, args, space, 8*size)
	c = g.each(fmt.Sprintf("red.%s.%s.%v", space, op, t), body, types{t}, src...)
	if space == "global" {
		c.Out += elements * size
	}
}

func (g *generator) atomicVectors() {
	for _, v := range []struct {
		op string
		t  ptx.Type
	}{{"add.v2.f32", ptx.F32}, {"add.noftz.v2.f16", ptx.F16}, {"add.noftz.v2.bf16x2", ptx.BF16x2}, {"max.noftz.v2.f16x2", ptx.F16x2}, {"min.noftz.v2.bf16", ptx.BF16}} {
		n := v.t.Bytes()
		body := fmt.Sprintf(`.reg .b64 p;
mad.lo.u64 p, %%ri, %[1]d, %%out;
add.u64 p, p, %[2]d;
st.global.b%[3]d [p], a;
st.global.b%[3]d [p+%[4]d], b;
atom.global.%[5]s {d, d1}, [p], {c, e};
ld.global.b%[3]d d2, [p];
ld.global.b%[3]d d3, [p+%[4]d];`, 2*n, 4*elements*n, 8*n, n, v.op)
		c := g.each("atom.global."+v.op, body, types{v.t, v.t, v.t, v.t}, of(v.t), of(v.t), of(v.t), of(v.t))
		c.Out += 2 * elements * n
	}
}

// contended has many threads update few words; only what is left is the same on
// every device.
func (g *generator) contended() {
	for _, a := range []struct {
		op   string
		t    ptx.Type
		more string
	}{
		{"add", ptx.U32, ""}, {"add", ptx.U64, ""}, {"min", ptx.S32, ""}, {"max", ptx.U64, ""}, {"and", ptx.B32, ""},
		{"or", ptx.B64, ""}, {"xor", ptx.B32, ""}, {"inc", ptx.U32, ""}, {"dec", ptx.U32, ""},
	} {
		for _, scope := range []string{"", ".relaxed.gpu", ".acq_rel.sys", ".relaxed.cta"} {
			if scope == ".relaxed.cta" && a.op != "add" {
				continue
			}
			size := a.t.Bytes()
			grid := 4
			if scope == ".relaxed.cta" {
				grid = 1
			}
			value := fmt.Sprintf("mad.lo.u64 %%ad, %%ri, %d, %%in;\nld.global.b%d v, [%%ad];\n", size, 8*size)
			body := fmt.Sprintf(".reg .b%d v;\n%sand.b64 %%y0, %%ri, 3;\nmad.lo.u64 %%y0, %%y0, %d, %%out;\n", 8*size, value, size)
			if a.op == "inc" || a.op == "dec" {
				body += "mov.b32 v, 50;\n"
			}
			body += fmt.Sprintf("atom%s.global.%s.%v v, [%%y0], v;", scope, a.op, a.t)
			g.raw(fmt.Sprintf("contended atom%s.%s.%v", scope, a.op, a.t), body, grid, 128, g.operands(elements, []values{of(a.t)}), Output{Name: "words", Type: a.t, Count: 4})
		}
	}
}

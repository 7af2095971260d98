package isa

import (
	"fmt"

	"github.com/warpbook/warpbook/cuda/ptx"
)

type types = []ptx.Type

var (
	words   = types{ptx.U16, ptx.U32, ptx.U64, ptx.S16, ptx.S32, ptx.S64}
	signed  = types{ptx.S16, ptx.S32, ptx.S64}
	narrow  = types{ptx.U16, ptx.U32, ptx.S16, ptx.S32}
	word32  = types{ptx.U32, ptx.S32}
	wide    = types{ptx.U32, ptx.U64, ptx.S32, ptx.S64}
	packed  = types{ptx.U16x2, ptx.S16x2}
	untyped = types{ptx.B16, ptx.B32, ptx.B64}
)

// doubled is the type of a product of two whole values.
func doubled(t ptx.Type) ptx.Type {
	return map[ptx.Type]ptx.Type{ptx.U16: ptx.U32, ptx.S16: ptx.S32, ptx.U32: ptx.U64, ptx.S32: ptx.S64}[t]
}

// unary, binary and ternary add the case of "op.type d, a...".
func (g *generator) unary(op string, t ptx.Type) {
	name := op + "." + t.String()
	g.each(name, name+" d, a;", types{t}, of(t))
}

func (g *generator) binary(op string, t ptx.Type) {
	name := op + "." + t.String()
	g.each(name, name+" d, a, b;", types{t}, of(t), of(t))
}

func (g *generator) ternary(op string, t ptx.Type) {
	name := op + "." + t.String()
	g.each(name, name+" d, a, b, c;", types{t}, of(t), of(t), of(t))
}

func (g *generator) integers() {
	for _, t := range words {
		for _, op := range []string{"add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max"} {
			g.binary(op, t)
		}
		for _, op := range []string{"mad.lo", "mad.hi", "sad"} {
			g.ternary(op, t)
		}
	}
	for _, t := range narrow {
		w := doubled(t)
		g.each("mul.wide."+t.String(), "mul.wide."+t.String()+" d, a, b;", types{w}, of(t), of(t))
		g.each("mad.wide."+t.String(), "mad.wide."+t.String()+" d, a, b, c;", types{w}, of(t), of(t), of(w))
	}
	for _, t := range signed {
		g.unary("abs", t)
		g.unary("neg", t)
	}
	for _, t := range packed {
		g.binary("add", t)
		g.binary("min", t)
		g.binary("max", t)
	}
	for _, op := range []string{"min.relu.s32", "max.relu.s32", "min.relu.s16x2", "max.relu.s16x2", "add.sat.s32", "sub.sat.s32"} {
		t := ptx.S32
		g.each(op, op+" d, a, b;", types{t}, of(t), of(t))
	}
	for _, t := range word32 {
		for _, part := range []string{"lo", "hi"} {
			g.binary("mul24."+part, t)
			g.ternary("mad24."+part, t)
		}
	}
	g.ternary("mad.hi.sat", ptx.S32)
	g.ternary("mad24.hi.sat", ptx.S32)
	for _, a := range word32 {
		for _, b := range word32 {
			d := ptx.S32
			if a == ptx.U32 && b == ptx.U32 {
				d = ptx.U32
			}
			for _, op := range []string{"dp4a", "dp2a.lo", "dp2a.hi"} {
				name := fmt.Sprintf("%s.%v.%v", op, a, b)
				g.each(name, name+" d, a, b, c;", types{d}, of(a), of(b), of(d))
			}
		}
	}
}

func (g *generator) bits() {
	for _, t := range []ptx.Type{ptx.B32, ptx.B64} {
		for _, op := range []string{"popc", "clz"} {
			name := op + "." + t.String()
			g.each(name, name+" d, a;", types{ptx.U32}, of(t))
		}
		g.unary("brev", t)
		g.each("bfi."+t.String(), "bfi."+t.String()+" d, a, b, c, e;", types{t}, of(t), of(t), shifts, shifts)
	}
	for _, t := range wide {
		for _, op := range []string{"bfind", "bfind.shiftamt"} {
			name := op + "." + t.String()
			g.each(name, name+" d, a;", types{ptx.U32}, of(t))
		}
		g.each("bfe."+t.String(), "bfe."+t.String()+" d, a, b, c;", types{t}, of(t), shifts, shifts)
	}
	offsets := only(ptx.S32, "fns", 0, 1, 2, 3, 5, 8, 16, 31, 32, 33, 1<<32-1, 1<<32-2, 1<<32-5, 1<<32-16, 1<<32-31, 1<<32-32, 1<<31)
	g.each("fns.b32", "fns.b32 d, a, b, c;", types{ptx.B32}, of(ptx.B32), below(ptx.U32, 32), offsets)
	for _, mode := range []string{"clamp", "wrap"} {
		for _, t := range word32 {
			name := fmt.Sprintf("szext.%s.%v", mode, t)
			g.each(name, name+" d, a, b;", types{t}, of(t), shifts)
		}
		g.each("bmsk."+mode+".b32", "bmsk."+mode+".b32 d, a, b;", types{ptx.B32}, shifts, shifts)
		for _, dir := range []string{"l", "r"} {
			name := fmt.Sprintf("shf.%s.%s.b32", dir, mode)
			g.each(name, name+" d, a, b, c;", types{ptx.B32}, of(ptx.B32), of(ptx.B32), shifts)
		}
	}
	for _, t := range untyped {
		g.each("shl."+t.String(), "shl."+t.String()+" d, a, b;", types{t}, of(t), shifts)
		g.unary("not", t)
		g.unary("cnot", t)
		for _, op := range []string{"and", "or", "xor"} {
			g.binary(op, t)
		}
	}
	for _, t := range append(words, untyped...) {
		g.each("shr."+t.String(), "shr."+t.String()+" d, a, b;", types{t}, of(t), shifts)
	}
	for _, op := range []string{"and", "or", "xor"} {
		g.binary(op, ptx.Pred)
	}
	g.unary("not", ptx.Pred)
	g.each("mov.pred", "mov.pred d, a;", types{ptx.Pred}, of(ptx.Pred))
	for _, mode := range []string{"", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"} {
		g.each("prmt.b32"+mode, "prmt.b32"+mode+" d, a, b, c;", types{ptx.B32}, of(ptx.B32), of(ptx.B32), of(ptx.B32))
	}
	g.logic()
	g.packing()
}

// logic applies lop3 with all of its tables.
func (g *generator) logic() {
	for first := 0; first < 256; first += 32 {
		body, dst := "", types{}
		for i := range 32 {
			body += fmt.Sprintf("lop3.b32 %s, a, b, c, 0x%x;\n", dstName(i), first+i)
			dst = append(dst, ptx.B32)
		}
		g.eachN(32, Tolerance{}, fmt.Sprintf("lop3.b32 0x%x..", first), body, dst, of(ptx.B32), of(ptx.B32), of(ptx.B32))
	}
	for _, op := range []string{"or", "and"} {
		g.each("lop3."+op+".b32", "lop3."+op+".b32 d|d1, a, b, c, 0x80, e;", types{ptx.B32, ptx.Pred}, of(ptx.B32), of(ptx.B32), of(ptx.B32), of(ptx.Pred))
	}
}

// packing moves vectors to scalars and back.
func (g *generator) packing() {
	h, w, l := ptx.B16, ptx.B32, ptx.B64
	g.each("mov.b32 {}", "mov.b32 d, {a, b};", types{w}, of(h), of(h))
	g.each("mov.b64 {}", "mov.b64 d, {a, b};", types{l}, of(w), of(w))
	g.each("mov.b64 {4}", "mov.b64 d, {a, b, c, e};", types{l}, of(h), of(h), of(h), of(h))
	g.each("mov.b32 out", "mov.b32 {d, d1}, a;", types{h, h}, of(w))
	g.each("mov.b64 out", "mov.b64 {d, d1}, a;", types{w, w}, of(l))
	g.each("mov.b64 out4", "mov.b64 {d, d1, d2, d3}, a;", types{h, h, h, h}, of(l))
	g.each("mov.b64 sink", "mov.b64 {_, d}, a;", types{w}, of(l))
	for _, t := range []ptx.Type{ptx.B16, ptx.U16, ptx.S16, ptx.B32, ptx.U32, ptx.S32, ptx.B64, ptx.U64, ptx.S64, ptx.F32, ptx.F64} {
		g.each("selp."+t.String(), "selp."+t.String()+" d, a, b, c;", types{t}, of(t), of(t), of(ptx.Pred))
		g.each("slct."+t.String()+".s32", "slct."+t.String()+".s32 d, a, b, c;", types{t}, of(t), of(t), of(ptx.S32))
		g.each("slct."+t.String()+".f32", "slct."+t.String()+".f32 d, a, b, c;", types{t}, of(t), of(t), of(ptx.F32))
		g.each("slct.ftz."+t.String()+".f32", "slct.ftz."+t.String()+".f32 d, a, b, c;", types{t}, of(t), of(t), of(ptx.F32))
	}
}

// carries chains words to numbers of 128 bits and more.
func (g *generator) carries() {
	for _, t := range wide {
		s := t.String()
		in := []values{of(t), of(t), of(t), of(t)}
		g.each("add.cc."+s, fmt.Sprintf("add.cc.%[1]s d, a, c;\naddc.%[1]s d1, b, e;", s), types{t, t}, in...)
		g.each("sub.cc."+s, fmt.Sprintf("sub.cc.%[1]s d, a, c;\nsubc.%[1]s d1, b, e;", s), types{t, t}, in...)
		g.each("addc.cc."+s, fmt.Sprintf("add.cc.%[1]s d, a, c;\naddc.cc.%[1]s d1, b, e;\naddc.%[1]s d2, 0, 0;", s), types{t, t, t}, in...)
		g.each("subc.cc."+s, fmt.Sprintf("sub.cc.%[1]s d, a, c;\nsubc.cc.%[1]s d1, b, e;\nsubc.%[1]s d2, 0, 0;", s), types{t, t, t}, in...)
		for _, part := range []string{"lo", "hi"} {
			g.each("mad."+part+".cc."+s, fmt.Sprintf("mad.%[2]s.cc.%[1]s d, a, b, c;\nmadc.%[2]s.cc.%[1]s d1, a, b, e;\nmadc.%[2]s.%[1]s d2, b, b, 0;", s, part), types{t, t, t}, in...)
		}
	}
}

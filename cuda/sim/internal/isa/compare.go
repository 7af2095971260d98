package isa

import (
	"fmt"
	"strings"

	"github.com/warpbook/warpbook/cuda/ptx"
)

// comparisonsOf lists what setp compares in a type.
func comparisonsOf(t ptx.Type) []string {
	switch {
	case t.Float():
		return strings.Fields("eq ne lt le gt ge equ neu ltu leu gtu geu num nan")
	case t.Signed():
		return strings.Fields("eq ne lt le gt ge")
	case t == ptx.B16 || t == ptx.B32 || t == ptx.B64:
		return strings.Fields("eq ne")
	}
	return strings.Fields("eq ne lt le gt ge lo ls hi hs")
}

func (g *generator) comparisons() {
	all := append(append(types{}, words...), ptx.B16, ptx.B32, ptx.B64, ptx.F32, ptx.F64, ptx.F16, ptx.F16x2, ptx.BF16, ptx.BF16x2)
	for _, t := range all {
		ftz := []string{""}
		if t == ptx.F32 || t == ptx.F16 || t == ptx.F16x2 {
			ftz = []string{"", ".ftz"}
		}
		for _, f := range ftz {
			g.setp(t, f)
			g.set(t, f)
		}
	}
}

// setp packs the outcomes of all comparisons of a type into the bits of one word.
func (g *generator) setp(t ptx.Type, ftz string) {
	half := t == ptx.F16 || t == ptx.BF16 // they write one predicate
	pair := t == ptx.F16x2 || t == ptx.BF16x2
	body := ".reg .pred p, q;\n.reg .b32 w;\nmov.b32 d, 0;\n"
	bit := 0
	add := func(instruction string, dsts ...string) {
		body += instruction + "\n"
		for _, p := range dsts {
			body += fmt.Sprintf("selp.b32 w, 0x%x, 0, %s;\nor.b32 d, d, w;\n", 1<<bit, p)
			bit++
		}
	}
	for _, cmp := range comparisonsOf(t) {
		if pair {
			add(fmt.Sprintf("setp.%s%s.%v p|q, a, b;", cmp, ftz, t), "p", "q")
		} else {
			add(fmt.Sprintf("setp.%s%s.%v p, a, b;", cmp, ftz, t), "p")
		}
	}
	g.each(fmt.Sprintf("setp%s.%v", ftz, t), body, types{ptx.B32}, of(t), of(t))
	body, bit = ".reg .pred p, q;\n.reg .b32 w;\nmov.b32 d, 0;\n", 0
	for _, op := range []string{"and", "or", "xor"} {
		for _, cmp := range comparisonsOf(t)[:2] {
			for _, c := range []string{"c", "!c"} {
				if half {
					add(fmt.Sprintf("setp.%s.%s%s.%v p, a, b, %s;", cmp, op, ftz, t, c), "p")
				} else {
					add(fmt.Sprintf("setp.%s.%s%s.%v p|q, a, b, %s;", cmp, op, ftz, t, c), "p", "q")
				}
			}
		}
	}
	g.each(fmt.Sprintf("setp.bool%s.%v", ftz, t), body, types{ptx.B32}, of(t), of(t), of(ptx.Pred))
}

// set stores its outcome in a register: ones, or 1.0.
func (g *generator) set(t ptx.Type, ftz string) {
	cmps := []string{"eq", "ne"}
	if len(comparisonsOf(t)) > 2 {
		cmps = append(cmps, "lt")
	}
	results := types{ptx.U32, ptx.S32, ptx.F32}
	switch t {
	case ptx.F16, ptx.BF16:
		cmps = append(cmps, "geu", "nan")
		results = types{t, ptx.U16, ptx.S16, ptx.U32, ptx.S32}
	case ptx.F16x2, ptx.BF16x2:
		results = types{t, ptx.U32, ptx.S32}
	case ptx.F32, ptx.F64:
		cmps = append(cmps, "geu", "nan")
	}
	for _, d := range results {
		body, dst := "", types{}
		for i, cmp := range cmps {
			body += fmt.Sprintf("set.%s%s.%v.%v %s, a, b;\n", cmp, ftz, d, t, dstName(i))
			dst = append(dst, d)
		}
		body += fmt.Sprintf("set.%s.and%s.%v.%v %s, a, b, c;\n", cmps[0], ftz, d, t, dstName(len(cmps)))
		g.eachN(256, Tolerance{}, fmt.Sprintf("set%s.%v.%v", ftz, d, t), body, append(dst, d), of(t), of(t), of(ptx.Pred))
	}
}

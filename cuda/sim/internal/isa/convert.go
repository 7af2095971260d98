package isa

import (
	"fmt"
	"math"

	"github.com/warpbook/warpbook/cuda/ptx"
)

func f32(v float64) uint64 { return uint64(math.Float32bits(float32(v))) }

var integerTypes = types{ptx.U8, ptx.U16, ptx.U32, ptx.U64, ptx.S8, ptx.S16, ptx.S32, ptx.S64}

// convert adds "cvt.mods.d.s".
func (g *generator) convert(mods string, d, s ptx.Type) {
	name := "cvt" + mods + "." + d.String() + "." + s.String()
	g.each(name, name+" d, a;", types{d}, of(s))
}

func (g *generator) conversions() {
	for _, d := range integerTypes {
		for _, s := range integerTypes {
			g.convert("", d, s)
			if !holds(d, s) { // elsewhere .sat is no modifier
				g.convert(".sat", d, s)
			}
		}
	}
	floats := types{ptx.F16, ptx.F32, ptx.F64, ptx.BF16}
	for _, f := range floats {
		for _, i := range integerTypes {
			if f == ptx.BF16 && i.Bytes() == 1 {
				continue
			}
			for _, r := range roundings {
				g.convert("."+r, f, i)
				if f == ptx.F32 && i.Bytes() >= 4 {
					g.convert("."+r+".sat", f, i)
				}
				g.convert("."+r+"i", i, f)
				if f == ptx.F32 {
					g.convert("."+r+"i.ftz", i, f)
				}
			}
		}
	}
	g.between()
	g.packedConversions()
}

// holds reports whether each value of s is one of d.
func holds(d, s ptx.Type) bool {
	switch {
	case d.Signed() == s.Signed():
		return d.Bytes() >= s.Bytes()
	case d.Signed():
		return d.Bytes() > s.Bytes()
	}
	return false
}

// between converts floats to floats.
func (g *generator) between() {
	for _, r := range roundings {
		for _, sat := range []string{"", ".sat"} {
			g.convert("."+r+sat, ptx.F16, ptx.F32)
			g.convert("."+r+sat, ptx.F16, ptx.F64)
			g.convert("."+r+sat, ptx.F32, ptx.F64)
			g.convert("."+r+".ftz"+sat, ptx.F32, ptx.F64)
			for _, t := range []ptx.Type{ptx.F16, ptx.F32, ptx.F64} { // to an integral value
				g.convert("."+r+"i"+sat, t, t)
			}
			g.convert("."+r+"i.ftz"+sat, ptx.F32, ptx.F32)
		}
		g.convert("."+r, ptx.BF16, ptx.F32)
		g.convert("."+r, ptx.BF16, ptx.F64)
		g.convert("."+r, ptx.BF16, ptx.F16)
		g.convert("."+r, ptx.F16, ptx.BF16)
		g.convert("."+r+"i", ptx.BF16, ptx.BF16)
	}
	for _, r := range []string{"rn", "rz"} {
		for _, m := range []string{".relu", ".satfinite", ".relu.satfinite"} {
			g.convert("."+r+m, ptx.F16, ptx.F32)
			g.convert("."+r+m, ptx.BF16, ptx.F32)
			if m == ".relu" {
				g.convert("."+r+m, ptx.TF32, ptx.F32)
			}
		}
		g.convert("."+r, ptx.TF32, ptx.F32)
	}
	g.convert(".rna", ptx.TF32, ptx.F32)
	g.convert(".rna.satfinite", ptx.TF32, ptx.F32)
	for _, ftz := range []string{"", ".ftz"} {
		for _, sat := range []string{"", ".sat"} {
			g.convert(ftz+sat, ptx.F32, ptx.F16)
			g.convert(ftz+sat, ptx.F32, ptx.F32)
		}
		g.convert(ftz, ptx.F64, ptx.F32)
	}
	g.convert("", ptx.F64, ptx.F16)
	g.convert("", ptx.F32, ptx.BF16)
	g.convert("", ptx.F64, ptx.BF16)
	g.convert(".sat", ptx.F64, ptx.F64)
	g.convert(".sat", ptx.F16, ptx.F16)
}

// packedConversions make two narrow floats of two others.
func (g *generator) packedConversions() {
	two := []values{of(ptx.F32), of(ptx.F32)}
	for _, t := range []ptx.Type{ptx.F16x2, ptx.BF16x2} {
		for _, r := range []string{"rn", "rz"} {
			for _, m := range []string{"", ".relu", ".satfinite", ".relu.satfinite"} {
				name := fmt.Sprintf("cvt.%s%s.%v.f32", r, m, t)
				g.each(name, name+" d, a, b;", types{t}, two...)
			}
		}
	}
	for _, t := range []ptx.Type{ptx.E4M3x2, ptx.E5M2x2} {
		for _, m := range []string{"", ".relu"} {
			name := fmt.Sprintf("cvt.rn.satfinite%s.%v.f32", m, t)
			g.each(name, name+" d, a, b;", types{t}, two...)
			g.convert(".rn.satfinite"+m, t, ptx.F16x2)
			name = fmt.Sprintf("cvt.rn%s.f16x2.%v", m, t)
			all := values{t: t, name: "all" + t.String(), random: func(r *random) uint64 { return r.next() & 0xffff }}
			for i := range uint64(256) {
				all.edges = append(all.edges, i|(255-i)<<8)
			}
			g.each(name, name+" d, a;", types{ptx.F16x2}, all)
		}
	}
	for _, d := range []ptx.Type{ptx.U16, ptx.S16} {
		name := fmt.Sprintf("cvt.pack.sat.%v.s32", d)
		g.each(name, name+" d, a, b;", types{ptx.B32}, of(ptx.S32), of(ptx.S32))
	}
	for _, d := range []ptx.Type{ptx.U8, ptx.S8} {
		name := fmt.Sprintf("cvt.pack.sat.%v.s32.b32", d)
		g.each(name, name+" d, a, b, c;", types{ptx.B32}, of(ptx.S32), of(ptx.S32), of(ptx.B32))
	}
}

package isa

import (
	"fmt"
	"math"
	"strings"

	"github.com/warpbook/warpbook/cuda/half"
	"github.com/warpbook/warpbook/cuda/ptx"
)

// shape is one mma.sync: registers of 32 bits that A, B, C and D have in a lane (of
// 64 bits where the element is f64).
type shape struct {
	shape      string
	d, a, b, c ptx.Type
	nd, na, nb int // C has as many as D
	mods       string
}

var shapes = []shape{
	{"m16n8k8", ptx.F32, ptx.F16, ptx.F16, ptx.F32, 4, 2, 1, ""},
	{"m16n8k8", ptx.F16, ptx.F16, ptx.F16, ptx.F16, 2, 2, 1, ""},
	{"m16n8k16", ptx.F32, ptx.F16, ptx.F16, ptx.F32, 4, 4, 2, ""},
	{"m16n8k16", ptx.F16, ptx.F16, ptx.F16, ptx.F16, 2, 4, 2, ""},
	{"m16n8k8", ptx.F32, ptx.BF16, ptx.BF16, ptx.F32, 4, 2, 1, ""},
	{"m16n8k16", ptx.F32, ptx.BF16, ptx.BF16, ptx.F32, 4, 4, 2, ""},
	{"m16n8k4", ptx.F32, ptx.TF32, ptx.TF32, ptx.F32, 4, 2, 1, ""},
	{"m16n8k8", ptx.F32, ptx.TF32, ptx.TF32, ptx.F32, 4, 4, 2, ""},
	{"m8n8k4", ptx.F64, ptx.F64, ptx.F64, ptx.F64, 2, 1, 1, ""},
	{"m16n8k4", ptx.F64, ptx.F64, ptx.F64, ptx.F64, 4, 2, 1, ""},
	{"m16n8k8", ptx.F64, ptx.F64, ptx.F64, ptx.F64, 4, 4, 2, ""},
	{"m16n8k16", ptx.F64, ptx.F64, ptx.F64, ptx.F64, 4, 8, 4, ""},
	{"m16n8k32", ptx.F32, ptx.E4M3, ptx.E4M3, ptx.F32, 4, 4, 2, ""},
	{"m16n8k32", ptx.F32, ptx.E5M2, ptx.E5M2, ptx.F32, 4, 4, 2, ""},
	{"m16n8k32", ptx.F32, ptx.E4M3, ptx.E5M2, ptx.F32, 4, 4, 2, ""},
	{"m8n8k16", ptx.S32, ptx.S8, ptx.S8, ptx.S32, 2, 1, 1, ""},
	{"m16n8k16", ptx.S32, ptx.S8, ptx.S8, ptx.S32, 4, 2, 1, ""},
	{"m16n8k16", ptx.S32, ptx.U8, ptx.S8, ptx.S32, 4, 2, 1, ".satfinite"},
	{"m16n8k32", ptx.S32, ptx.S8, ptx.S8, ptx.S32, 4, 4, 2, ""},
	{"m16n8k32", ptx.S32, ptx.U8, ptx.U8, ptx.S32, 4, 4, 2, ".satfinite"},
	{"m8n8k32", ptx.S32, ptx.S4, ptx.S4, ptx.S32, 2, 1, 1, ""},
	{"m16n8k32", ptx.S32, ptx.S4, ptx.U4, ptx.S32, 4, 2, 1, ""},
	{"m16n8k64", ptx.S32, ptx.U4, ptx.U4, ptx.S32, 4, 4, 2, ""},
	{"m8n8k128", ptx.S32, ptx.B1, ptx.B1, ptx.S32, 2, 1, 1, ".xor.popc"},
	{"m16n8k128", ptx.S32, ptx.B1, ptx.B1, ptx.S32, 4, 2, 1, ".and.popc"},
	{"m16n8k256", ptx.S32, ptx.B1, ptx.B1, ptx.S32, 4, 4, 2, ".xor.popc"},
}

// Kinds of data of a warp's fragments.
const (
	small     = iota // integers, whose sums are exact
	normal           // standard normal
	uniform          // in [0, 1)
	spread           // exponents far apart
	cancel           // large ones that cancel, and small ones beside them
	tiny             // denormal
	odd              // all edge values, Inf and NaN among them
	sparse           // nearly all zero: one or two products in each sum
	dataKinds        // how many
)

// fragmentWarps is how many warps a case of mma has: each kind of data several times.
const fragmentWarps = 2 * dataKinds

func (g *generator) fragments() {
	for _, s := range shapes {
		g.mma(s)
	}
	// m8n8k4 is Volta's: four independent products of quads of lanes.
	for _, l := range []string{"row.col", "col.row", "row.row", "col.col"} {
		g.fragment("mma.sync.aligned.m8n8k4."+l+".f32.f16.f16.f32", shape{"", ptx.F32, ptx.F16, ptx.F16, ptx.F32, 8, 2, 2, ""})
	}
	g.fragment("mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16", shape{"", ptx.F16, ptx.F16, ptx.F16, ptx.F16, 4, 2, 2, ""})
	g.wmma()
}

func (g *generator) mma(s shape) {
	name := fmt.Sprintf("mma.sync.aligned.%s.row.col%s.%v.%v.%v.%v", s.shape, s.mods, s.d, s.a, s.b, s.c)
	if strings.HasSuffix(s.mods, ".popc") { // the operation stands behind the types
		name = fmt.Sprintf("mma.sync.aligned.%s.row.col.%v.%v.%v.%v%s", s.shape, s.d, s.a, s.b, s.c, s.mods)
	}
	g.fragment(name, s)
}

// fragment lets each lane load its registers of A, B and C, and store those of D.
func (g *generator) fragment(op string, s shape) {
	reg, size := "b32", 4
	if s.a == ptx.F64 {
		reg, size = "b64", 8
	}
	lanes := 32 * fragmentWarps
	r := random(len(op))
	for _, c := range op {
		r = random(uint64(r)*31 + uint64(c))
	}
	var input []byte
	body := fmt.Sprintf(".reg .%s a<%d>, b<%d>, c<%d>, d<%d>;\n", reg, s.na, s.nb, s.nd, s.nd)
	for _, part := range []struct {
		name string
		n    int
		t    ptx.Type
	}{{"a", s.na, s.a}, {"b", s.nb, s.b}, {"c", s.nd, s.c}} {
		body += fmt.Sprintf("mad.lo.u64 %%ad, %%ri, %d, %%in;\n", part.n*size)
		for i := range part.n {
			body += fmt.Sprintf("ld.global.%s %s%d, [%%ad+%d];\n", reg, part.name, i, len(input)+i*size)
		}
		for lane := range lanes {
			for range part.n {
				input = append(input, packElements(part.t, size, lane/32%dataKinds, &r)...)
			}
		}
	}
	body += fmt.Sprintf("%s %s, %s, %s, %s;\n", op, regList("d", s.nd), regList("a", s.na), regList("b", s.nb), regList("c", s.nd))
	body += fmt.Sprintf("mad.lo.u64 %%ad, %%ri, %d, %%out;\n", s.nd*size)
	for i := range s.nd {
		body += fmt.Sprintf("st.global.%s [%%ad+%d], d%d;\n", reg, i*size, i)
	}
	g.raw(op, body, fragmentWarps/4, 128, input, Output{Name: "d", Type: s.d, Count: lanes * s.nd * size / s.d.Bytes()})
}

// packElements fills a register with elements of a kind.
func packElements(t ptx.Type, size, kind int, r *random) []byte {
	bits := t.Bits()
	switch t {
	case ptx.TF32:
		bits = 32
	case ptx.S4, ptx.U4, ptx.B1:
		return put(nil, r.next(), size)
	}
	var out []byte
	for len(out) < size {
		out = put(out, element(t, kind, r), bits/8)
	}
	return out
}

// element makes one number of a kind in a type.
func element(t ptx.Type, kind int, r *random) uint64 {
	if !t.Float() {
		if kind == small {
			return uint64(r.below(8))
		}
		return r.next()
	}
	if kind == odd && r.below(4) > 0 {
		list := edges(t)
		if len(list) > 0 && t != ptx.E4M3 && t != ptx.E5M2 {
			return list[r.below(len(list))]
		}
		return r.next() & 0xff
	}
	v := r.normal()
	switch kind {
	case small:
		v = float64(r.below(9) - 4)
	case uniform:
		v = r.unit()
	case spread:
		v = math.Ldexp(v, r.below(24)-12)
	case cancel:
		if r.below(2) == 0 {
			v = float64(1-2*r.below(2)) * math.Ldexp(1, 6+r.below(2))
		}
	case tiny:
		v = math.Ldexp(v, map[ptx.Type]int{ptx.F16: -15, ptx.BF16: -70, ptx.TF32: -70, ptx.F32: -127, ptx.F64: -520, ptx.E4M3: -7, ptx.E5M2: -15}[t])
	case sparse:
		if r.below(8) > 0 {
			v = 0
		}
	}
	return encode(t, v)
}

func encode(t ptx.Type, v float64) uint64 {
	switch t {
	case ptx.F16:
		return uint64(half.Binary16.Round(v, half.NearestEven))
	case ptx.BF16:
		return uint64(half.BFloat16.Round(v, half.NearestEven))
	case ptx.E4M3:
		return uint64(half.E4M3.Round(v, half.NearestEven))
	case ptx.E5M2:
		return uint64(half.E5M2.Round(v, half.NearestEven))
	case ptx.TF32:
		return f32(v) &^ 0x1fff
	case ptx.F64:
		return math.Float64bits(v)
	}
	return f32(v)
}

// wmma adds the older interface, whose fragments are opaque: matrices go from memory
// through it to memory.
func (g *generator) wmma() {
	type entry struct {
		shape      string
		m, n, k    int
		a, d       ptx.Type
		ra, rb, rd int
	}
	for _, e := range []entry{
		{"m16n16k16", 16, 16, 16, ptx.F16, ptx.F32, 8, 8, 8},
		{"m16n16k16", 16, 16, 16, ptx.F16, ptx.F16, 8, 8, 4},
		{"m32n8k16", 32, 8, 16, ptx.F16, ptx.F32, 8, 8, 8},
		{"m8n32k16", 8, 32, 16, ptx.F16, ptx.F16, 8, 8, 4},
		{"m16n16k16", 16, 16, 16, ptx.BF16, ptx.F32, 4, 4, 8},
		{"m16n16k8", 16, 16, 8, ptx.TF32, ptx.F32, 4, 4, 8},
		{"m16n16k16", 16, 16, 16, ptx.S8, ptx.S32, 2, 2, 8},
		{"m8n8k4", 8, 8, 4, ptx.F64, ptx.F64, 1, 1, 2},
	} {
		g.wmmaCase(e.shape, e.m, e.n, e.k, e.a, e.d, e.ra, e.rb, e.rd)
	}
}

func (g *generator) wmmaCase(name string, m, n, k int, a, d ptx.Type, ra, rb, rd int) {
	ab, cd := a.Bytes(), d.Bytes()
	regOf := func(t ptx.Type) string {
		if t == ptx.F64 {
			return "b64"
		}
		return "b32"
	}
	types4 := fmt.Sprintf("%v.%v", d, d)
	if a != ptx.F16 {
		types4 = fmt.Sprintf("%v.%v.%v.%v", d, a, a, d)
	}
	for _, layouts := range []string{"row.col", "col.row"} {
		la, lb, _ := strings.Cut(layouts, ".")
		var input []byte
		r := random(m*1000 + n*100 + k)
		for w := range dataKinds {
			for range m*k + k*n {
				input = put(input, element(a, w, &r), ab)
			}
		}
		cAt := len(input)
		for w := range dataKinds {
			for range m * n {
				input = put(input, element(d, w, &r), cd)
			}
		}
		lda, ldb := k, k
		if la == "col" {
			lda = m
		}
		if lb == "row" {
			ldb = n
		}
		body := fmt.Sprintf(".reg .%s a<%d>, b<%d>;\n.reg .%s c<%d>;\n.reg .b32 l;\n.reg .b64 w;\nshr.u32 l, %%i, 5;\ncvt.u64.u32 w, l;\n", regOf(a), ra, rb, regOf(d), rd)
		body += fmt.Sprintf("mad.lo.u64 %%y0, w, %d, %%in;\nmad.lo.u64 %%y1, w, %d, %%in;\nadd.u64 %%y1, %%y1, %d;\nmad.lo.u64 %%y2, w, %d, %%out;\n", (m*k+k*n)*ab, m*n*cd, cAt, m*n*cd)
		body += fmt.Sprintf("wmma.load.a.sync.aligned.%s.%s.global.%v %s, [%%y0], %d;\n", la, name, a, regList("a", ra), lda)
		body += fmt.Sprintf("wmma.load.b.sync.aligned.%s.%s.global.%v %s, [%%y0+%d], %d;\n", lb, name, a, regList("b", rb), m*k*ab, ldb)
		body += fmt.Sprintf("wmma.load.c.sync.aligned.row.%s.global.%v %s, [%%y1], %d;\n", name, d, regList("c", rd), n)
		round := ""
		if a == ptx.F64 {
			round = ".rn"
		}
		body += fmt.Sprintf("wmma.mma.sync.aligned.%s.%s%s.%s %s, %s, %s, %s;\n", layouts, name, round, types4, regList("c", rd), regList("a", ra), regList("b", rb), regList("c", rd))
		body += fmt.Sprintf("wmma.store.d.sync.aligned.row.%s.global.%v [%%y2], %s, %d;\n", name, d, regList("c", rd), n)
		g.raw(fmt.Sprintf("wmma %s.%s.%v.%v", layouts, name, a, d), body, dataKinds/4, 128, input, Output{Name: "d", Type: d, Count: dataKinds * m * n})
	}
}

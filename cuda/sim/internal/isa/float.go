package isa

import (
	"fmt"

	"github.com/warpbook/warpbook/cuda/ptx"
)

var roundings = []string{"rn", "rz", "rm", "rp"}

// variants gives op followed by each choice of modifiers, one of each list.
func variants(op string, lists ...[]string) []string {
	out := []string{op}
	for _, list := range lists {
		var next []string
		for _, o := range out {
			for _, m := range list {
				if m == "" {
					next = append(next, o)
				} else {
					next = append(next, o+"."+m)
				}
			}
		}
		out = next
	}
	return out
}

var (
	optFtz   = []string{"", "ftz"}
	optSat   = []string{"", "sat"}
	optRound = append([]string{""}, roundings...)
)

func (g *generator) floats() {
	for _, op := range []string{"add", "sub", "mul"} {
		for _, v := range variants(op, optRound, optFtz, optSat) {
			g.binary(v, ptx.F32)
		}
		for _, v := range variants(op, optRound) {
			g.binary(v, ptx.F64)
		}
	}
	for _, v := range variants("fma", roundings, optFtz, optSat) {
		g.ternary(v, ptx.F32)
	}
	for _, v := range variants("mad", roundings, optFtz) {
		g.ternary(v, ptx.F32)
	}
	for _, op := range []string{"fma", "mad"} {
		for _, v := range variants(op, roundings) {
			g.ternary(v, ptx.F64)
		}
	}
	for _, v := range variants("div", roundings, optFtz) {
		g.binary(v, ptx.F32)
	}
	for _, v := range variants("div", roundings) {
		g.binary(v, ptx.F64)
	}
	for _, op := range []string{"rcp", "sqrt"} {
		for _, v := range variants(op, roundings, optFtz) {
			g.unary(v, ptx.F32)
		}
		for _, v := range variants(op, roundings) {
			g.unary(v, ptx.F64)
		}
	}
	for _, op := range []string{"neg", "abs"} {
		for _, v := range variants(op, optFtz) {
			g.unary(v, ptx.F32)
		}
		g.unary(op, ptx.F64)
	}
	for _, op := range []string{"min", "max"} {
		for _, v := range variants(op, optFtz, []string{"", "NaN"}, []string{"", "xorsign.abs"}) {
			g.binary(v, ptx.F32)
		}
		g.binary(op, ptx.F64)
	}
	for _, t := range []ptx.Type{ptx.F32, ptx.F64} {
		g.binary("copysign", t)
		for _, test := range []string{"finite", "infinite", "number", "notanumber", "normal", "subnormal"} {
			name := fmt.Sprintf("testp.%s.%v", test, t)
			g.each(name, name+" d, a;", types{ptx.Pred}, of(t))
		}
	}
}

// approximate adds the instructions that PTX documents with an error. The tolerance
// covers twice that error, because the GPU and the simulator may each have it.
func (g *generator) approximate() {
	unary := func(t Tolerance, op string) { g.approx(t, op, op+" d, a;", types{ptx.F32}, of(ptx.F32)) }
	binary := func(t Tolerance, op string) {
		g.approx(t, op, op+" d, a, b;", types{ptx.F32}, of(ptx.F32), of(ptx.F32))
	}
	for _, ftz := range []string{"", ".ftz"} {
		unary(Tolerance{ULP: 2}, "rcp.approx"+ftz+".f32")
		unary(Tolerance{ULP: 2}, "sqrt.approx"+ftz+".f32")
		unary(Tolerance{ULP: 4}, "rsqrt.approx"+ftz+".f32")
		unary(Tolerance{ULP: 4, Abs: 1.0 / (1 << 21)}, "lg2.approx"+ftz+".f32")
		unary(Tolerance{ULP: 4}, "ex2.approx"+ftz+".f32")
		binary(Tolerance{ULP: 4}, "div.approx"+ftz+".f32")
		binary(Tolerance{ULP: 4}, "div.full"+ftz+".f32")
		for _, op := range []string{"sin", "cos"} { // documented on [-pi, pi] only
			op += ".approx" + ftz + ".f32"
			g.approx(Tolerance{Abs: 1.0 / (1 << 19)}, op, op+" d, a;", types{ptx.F32}, angles())
		}
	}
	unary(Tolerance{ULP: 1 << 14, Abs: 1.0 / (1 << 24)}, "tanh.approx.f32")
	for _, op := range []string{"rcp.approx.ftz.f64", "rsqrt.approx.f64", "rsqrt.approx.ftz.f64"} {
		g.approx(Tolerance{ULP: 1 << 33}, op, op+" d, a;", types{ptx.F64}, of(ptx.F64))
	}
	half := func(op string, t ptx.Type, tol Tolerance) {
		name := op + "." + t.String()
		g.approx(tol, name, name+" d, a;", types{t}, of(t))
	}
	for _, t := range []ptx.Type{ptx.F16, ptx.F16x2, ptx.BF16, ptx.BF16x2} {
		ex2 := "ex2.approx"
		if t == ptx.BF16 || t == ptx.BF16x2 {
			ex2 = "ex2.approx.ftz"
		}
		half("tanh.approx", t, Tolerance{ULP: 2, Abs: 1.0 / (1 << 10)})
		half(ex2, t, Tolerance{ULP: 2})
	}
}

func angles() values {
	v := of(ptx.F32)
	v.name = "angles"
	v.edges = []uint64{0, 0x80000000, 0x3f800000, 0xbf800000, 1, 0x807fffff, 0x00800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x40490fdb, 0x3fc90fdb, 0xc0490fdb, 0x3f490fdb, 0x3f000000, 0x38000000}
	v.random = func(r *random) uint64 { return f32((r.unit()*2 - 1) * 3.14159) }
	return v
}

func (g *generator) halves() {
	for _, t := range []ptx.Type{ptx.F16, ptx.F16x2} {
		for _, op := range []string{"add", "sub", "mul"} {
			for _, v := range variants(op, []string{"", "rn"}, optFtz, optSat) {
				g.binary(v, t)
			}
		}
		for _, v := range append(variants("fma.rn", optFtz, optSat), variants("fma.rn", optFtz, []string{"relu"})...) {
			g.ternary(v, t)
		}
		for _, op := range []string{"neg", "abs"} {
			for _, v := range variants(op, optFtz) {
				g.unary(v, t)
			}
		}
		for _, op := range []string{"min", "max"} {
			for _, v := range variants(op, optFtz, []string{"", "NaN"}, []string{"", "xorsign.abs"}) {
				g.binary(v, t)
			}
		}
	}
	for _, t := range []ptx.Type{ptx.BF16, ptx.BF16x2} {
		for _, op := range []string{"add", "sub", "mul"} {
			for _, v := range variants(op, []string{"", "rn"}) {
				g.binary(v, t)
			}
		}
		g.ternary("fma.rn", t)
		g.ternary("fma.rn.relu", t)
		g.unary("neg", t)
		g.unary("abs", t)
		for _, op := range []string{"min", "max"} {
			for _, v := range variants(op, []string{"", "NaN"}, []string{"", "xorsign.abs"}) {
				g.binary(v, t)
			}
		}
	}
	for _, t := range []ptx.Type{ptx.F16, ptx.F16x2, ptx.BF16, ptx.BF16x2} {
		g.ternary("fma.rn.oob", t)
		g.ternary("fma.rn.oob.relu", t)
	}
}

package arith

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/warpbook/warpbook/cuda/ptx"
)

var fuzzTypes = map[string]ptx.Type{
	"b16": ptx.B16, "b32": ptx.B32, "b64": ptx.B64, "u8": ptx.U8, "u16": ptx.U16, "u32": ptx.U32, "u64": ptx.U64,
	"s8": ptx.S8, "s16": ptx.S16, "s32": ptx.S32, "s64": ptx.S64, "f16": ptx.F16, "f16x2": ptx.F16x2,
	"bf16": ptx.BF16, "bf16x2": ptx.BF16x2, "f32": ptx.F32, "f64": ptx.F64, "pred": ptx.Pred,
	"u16x2": ptx.U16x2, "s16x2": ptx.S16x2, "e4m3x2": ptx.E4M3x2, "e5m2x2": ptx.E5M2x2, "tf32": ptx.TF32,
}

var fuzzMods = []string{"", "", "", "rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi", "ftz", "sat", "approx",
	"full", "lo", "hi", "wide", "cc", "relu", "satfinite", "NaN", "xorsign", "abs", "and", "or", "xor", "lt", "le",
	"gt", "ge", "eq", "ne", "ltu", "equ", "num", "nan", "l", "r", "wrap", "clamp", "shiftamt", "f4e", "rc16", "pack",
	"finite", "subnormal"}

// Whatever Compile accepts runs on whatever values without a panic, and leaves
// nothing above the width of its destination.
func TestRandomInstructions(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	var ops, types []string
	for op := range builders {
		ops = append(ops, op)
	}
	for name := range fuzzTypes {
		types = append(types, name)
	}
	slices.Sort(ops)
	slices.Sort(types)
	accepted := 0
	for range 60000 {
		in := &ptx.Instruction{Op: ops[rng.IntN(len(ops))], Text: "random"}
		for range rng.IntN(4) {
			if m := fuzzMods[rng.IntN(len(fuzzMods))]; m != "" {
				in.Mods = append(in.Mods, m)
			}
		}
		for range 1 + rng.IntN(2) {
			in.Types = append(in.Types, fuzzTypes[types[rng.IntN(len(types))]])
		}
		op, err := Compile(in, nil)
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Fatal("an error without text")
			}
			continue
		}
		accepted++
		for range 4 {
			src := make([]uint64, len(op.Src))
			for k, typ := range op.Src {
				src[k] = edge(rng) & ones(Width(typ))
			}
			dst, _ := apply(op, Mask(rng.IntN(2)), src...)
			for k, typ := range op.Dst {
				if dst[k]&^ones(Width(typ)) != 0 {
					t.Fatalf("%s %v %v of %#x: %#x is wider than %v", in.Op, in.Mods, in.Types, src, dst[k], typ)
				}
			}
		}
	}
	if accepted < 3000 {
		t.Errorf("only %d instructions were accepted: the generator is too wild", accepted)
	}
}

// edge gives values that instructions trip over, and random ones.
func edge(rng *rand.Rand) uint64 {
	edges := []uint64{0, 1, 0xff, 0x8000, 0x7fff, 0x7c00, 0x80000000, 0x7fffffff, 0xffffffff, 0x7f800000, 0xff800000,
		0x7fc00000, 1 << 63, 1<<63 - 1, 1<<64 - 1, 0x7ff0 << 48, 0x7ff8 << 48, 0x3f800000, 0x3ff0 << 48, 32, 64}
	if rng.IntN(2) == 0 {
		return edges[rng.IntN(len(edges))]
	}
	return rng.Uint64() >> rng.IntN(64)
}

// FuzzCompile gives Compile instructions as a person might write them.
func FuzzCompile(f *testing.F) {
	for _, s := range []string{"add.s32 %r0, %r1, %r2", "cvt.rn.f16x2.f32 %r0, %r1, %r2", "setp.lt.and.f32 %p0|%p1, %r1, %r2, %p2",
		"mov.b64 {%r0, %r1}, %d1", "lop3.b32 %r0, %r1, %r2, %r3, 0x96", "shf.l.wrap.b32 %r0, %r1, %r2, 7"} {
		f.Add(s, uint64(1), uint64(2), uint64(3))
	}
	f.Fuzz(func(t *testing.T, text string, a, b, c uint64) {
		if strings.ContainsAny(text, ";{}:/") && !strings.HasPrefix(text, "mov") {
			return
		}
		in, regType, err := parse(text)
		if err != nil || !Known(in.Op) {
			return
		}
		op, err := Compile(in, regType)
		if err != nil || len(op.Src) > 3 {
			return
		}
		src := []uint64{a, b, c}[:len(op.Src)]
		for k, typ := range op.Src {
			src[k] &= ones(Width(typ))
		}
		apply(op, 0, src...)
	})
}

func TestErrorsNameTheInstruction(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"add.sat.u32 %r0, %r1, %r2", "add"},
		{"add.rn.s32 %r0, %r1, %r2", "modifier .rn of add"},
		{"mul.lo.f32 %r0, %r1, %r2", "modifier .lo of mul"},
		{"add.s32 %r0, %r1", "operands"},
	} {
		_, err := compile(c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: the error is %v", c.text, err)
		}
	}
}

func BenchmarkOps(b *testing.B) {
	for _, text := range []string{
		"add.s32 %r0, %r1, %r2", "mad.lo.s32 %r0, %r1, %r2, %r3", "add.f32 %r0, %r1, %r2", "fma.rn.f32 %r0, %r1, %r2, %r3",
		"shl.b32 %r0, %r1, %r2", "and.b32 %r0, %r1, %r2", "setp.lt.s32 %p0, %r1, %r2", "setp.lt.f32 %p0, %r1, %r2",
		"selp.b32 %r0, %r1, %r2, %p0", "max.f32 %r0, %r1, %r2", "min.s32 %r0, %r1, %r2", "cvt.f32.f16 %r0, %h1",
		"cvt.rn.f16.f32 %h0, %r1", "cvt.rn.f32.s32 %r0, %r1", "cvt.s64.s32 %d0, %r1", "ex2.approx.ftz.f32 %r0, %r1",
		"mul.wide.s32 %d0, %r1, %r2", "mov.b32 %r0, %r1", "mov.b32 {%h1, %h2}, %r0", "lop3.b32 %r0, %r1, %r2, %r3, 0x96",
		"fma.rn.f16x2 %r0, %r1, %r2, %r3", "div.rn.f32 %r0, %r1, %r2", "cvt.rzi.s32.f32 %r0, %r1", "fma.rn.f64 %d0, %d1, %d2, %d3",
	} {
		op, err := compile(text)
		if err != nil {
			b.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(9, 10))
		var in [4]Lanes
		x := &Args{}
		for k := range in {
			for i := range in[k] {
				in[k][i] = 0x3f800000 + uint64(rng.IntN(1<<23))
				if k < len(op.Src) && Width(op.Src[k]) == 16 {
					in[k][i] = 0x3c00 + uint64(rng.IntN(1000))
				}
			}
			x.S[k], x.SP[k] = &in[k], rng.Uint32()
		}
		var out [8]Lanes
		for k := range out {
			x.D[k] = &out[k]
		}
		b.Run(strings.Fields(text)[0], func(b *testing.B) {
			for b.Loop() {
				op.apply(x)
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/WarpSize, "ns/lane")
		})
	}
}

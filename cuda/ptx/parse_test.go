package ptx

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// function parses the statements as the body of a kernel.
func function(t *testing.T, body string) *Function {
	t.Helper()
	m, err := Parse(".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u32 n)\n{\n.reg .pred %p<4>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>; .reg .b16 %rs<9>;\n" + body + "\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	return m.Functions[0]
}

func TestModifiers(t *testing.T) {
	type want struct {
		op    string
		types []Type
		mods  string
		dsts  int
	}
	for text, w := range map[string]want{
		"add.s32 %r1, %r2, -5;":                             {"add", []Type{S32}, "", 1},
		"fma.rn.ftz.sat.f32 %f1, %f2, %f3, 0f3F800000;":     {"fma", []Type{F32}, "rn ftz sat", 1},
		"ld.global.nc.v2.f32 {%f1, %f2}, [%rd1+16];":        {"ld", []Type{F32}, "global nc v2", 1},
		"st.shared.b32 [%r1], %r2;":                         {"st", []Type{B32}, "shared", 0},
		"cvt.rn.bf16x2.f32 %r1, %f1, %f2;":                  {"cvt", []Type{BF16x2, F32}, "rn", 1},
		"setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3;":          {"setp", []Type{S32}, "lt and", 1},
		"shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1;":       {"shfl", []Type{B32}, "sync bfly", 1},
		"cp.async.ca.shared.global [%r1], [%rd1], 4;":       {"cp", nil, "async ca shared global", 0},
		"mbarrier.init.shared::cta.b64 [%r1], 32;":          {"mbarrier", []Type{B64}, "init shared::cta", 0},
		"mbarrier.arrive.shared::cta.b64 _, [%r1];":         {"mbarrier", []Type{B64}, "arrive shared::cta", 1},
		"red.global.add.f32 [%rd1], %f1;":                   {"red", []Type{F32}, "global add", 0},
		"atom.relaxed.gpu.global.add.u32 %r1, [%rd1], %r2;": {"atom", []Type{U32}, "relaxed gpu global add", 1},
		"mul.hi.u32 %r1, %r2, %r3;":                         {"mul", []Type{U32}, "hi", 1},
		"bar.red.and.pred %p1, 0, %p2;":                     {"bar", []Type{Pred}, "red and", 1},
	} {
		in := function(t, text).Body[0]
		if in.Op != w.op || !reflect.DeepEqual(in.Types, w.types) || strings.Join(in.Mods, " ") != w.mods || in.Dsts != w.dsts {
			t.Errorf("%s: %s %v %v, %d written", text, in.Op, in.Types, in.Mods, in.Dsts)
		}
	}
}

func TestOperands(t *testing.T) {
	f := function(t, `ld.global.f32 %f1, [%rd1+-8];
		{ .reg .b32 %r1; mov.u32 %r1, %tid.x; }
		add.f64 %rd1, %rd2, 0d3FF0000000000000;
		setp.lt.s32 %p1|%p2, %r1, 0x10, !%p3;
		@!%p1 bra END;
		.local .align 8 .b8 depot[16];
		mov.u64 %rd1, depot+4;
		END: ret;`)
	b := f.Body
	if o := b[0].Operands[1]; o.Kind != Address || f.Regs[o.Reg].Name != "%rd1" || o.Offset != -8 {
		t.Errorf("address: %+v", o)
	}
	if b[1].Operands[0].Reg == b[3].Operands[1].Reg || b[1].Operands[1].Special != "tid.x" {
		t.Errorf("a register of an inner scope is the outer one: %+v", b[1].Operands)
	}
	if o := b[2].Operands[2]; o.As(F64) != 0x3FF0000000000000 {
		t.Errorf("0d literal: %+v", o)
	}
	if o := b[3].Operands; o[0].Reg2 < 0 || o[2].Bits != 16 || !o[3].Not {
		t.Errorf("setp: %+v", o)
	}
	if b[4].Target != 6 || !b[4].GuardNot || b[4].Guard < 0 {
		t.Errorf("bra: %+v", b[4])
	}
	if o := b[5].Operands[1]; o.Kind != Symbol || o.Symbol != "depot" || o.Offset != 4 {
		t.Errorf("symbol: %+v", o)
	}
	if offsets, size := f.ParamLayout(); !reflect.DeepEqual(offsets, []int{0, 8}) || size != 12 {
		t.Errorf("parameters at %v, %d bytes", offsets, size)
	}
}

func TestScopesKeepTheirLabels(t *testing.T) {
	one := "{ .reg .pred P; AGAIN: setp.eq.s32 P, %r1, 0; @P bra DONE; bra AGAIN; DONE: }\n"
	f := function(t, one+one+"bra DONE; DONE: ret;")
	for i, want := range map[int]int{1: 3, 2: 0, 4: 6, 5: 3, 6: 7} {
		if got := f.Body[i].Target; got != want {
			t.Errorf("instruction %d goes to %d, not to %d", i, got, want)
		}
	}
}

func TestTables(t *testing.T) {
	f := function(t, `mov.u32 %r1, 1;
		brx.idx %r1, ts;
		ts: .branchtargets L0, L1, L0;
		L0: add.s32 %r1, %r1, 1;
		L1: ret;
		p: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[16]) .noreturn;
		call (%r1), %rd1, (%r2, %r3), p;`)
	if want := []int{2, 3, 2}; !reflect.DeepEqual(f.Tables["ts"], want) {
		t.Errorf("branch targets %v", f.Tables["ts"])
	}
	proto := f.Protos["p"]
	if proto == nil || len(proto.Returns) != 1 || len(proto.Params) != 2 || !proto.NoReturn || proto.Params[1].Bytes != 16 {
		t.Errorf("prototype %+v", proto)
	}
	if c := f.Body[4]; len(c.Returns) != 1 || len(c.Args) != 2 || c.Callee != "" || len(c.Operands) != 2 || c.Operands[0].Kind != Reg || c.Operands[1].Symbol != "p" {
		t.Errorf("call %+v", c)
	}
}

func TestVariables(t *testing.T) {
	m, err := Parse(`.version 9.0
.target sm_80
.address_size 64
.global .align 4 .b8 a[8] = {1, 2, 0xff};
.global .s32 grid[2][3] = {{1, 2}, {-3}};
.const .u64 p[3] = {generic(a)+4, grid-8, 1<<4|2};
.global .v2 .f32 pair = {0f3F800000, 2.5};
.global .f64 d = -0d3FF0000000000000;
.extern .shared .align 16 .b8 dynamic[];
.visible .entry k(.param .u64 .ptr .global .align 16 out, .param .align 4 .b8 s[12], .param .u64 end) { ret; }
`)
	if err != nil {
		t.Fatal(err)
	}
	v := map[string]*Variable{}
	for _, x := range m.Variables {
		v[x.Name] = x
	}
	for name, want := range map[string][]Initial{
		"a":    {{At: 0, Bytes: []byte{1, 2, 255}}},
		"grid": {{At: 0, Bytes: []byte{1, 0, 0, 0, 2, 0, 0, 0}}, {At: 12, Bytes: []byte{0xfd, 255, 255, 255}}},
		"p":    {{At: 0, Symbol: "a", Offset: 4, Generic: true, Size: 8}, {At: 8, Symbol: "grid", Offset: -8, Size: 8}, {At: 16, Bytes: []byte{18, 0, 0, 0, 0, 0, 0, 0}}},
		"pair": {{At: 0, Bytes: []byte{0, 0, 0x80, 0x3f, 0, 0, 0x20, 0x40}}},
		"d":    {{At: 0, Bytes: []byte{0, 0, 0, 0, 0, 0, 0xf0, 0xbf}}},
	} {
		if !reflect.DeepEqual(v[name].Init, want) {
			t.Errorf("%s: %+v", name, v[name].Init)
		}
	}
	if d := v["dynamic"]; !d.Extern || d.Count != 0 || d.Align != 16 {
		t.Errorf("dynamic: %+v", d)
	}
	k, err := m.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	if offsets, size := k.ParamLayout(); !reflect.DeepEqual(offsets, []int{0, 8, 24}) || size != 32 {
		t.Errorf("parameters at %v, %d bytes", offsets, size)
	}
	if k.Params[0].Pointee != Global {
		t.Errorf("pointer: %+v", k.Params[0])
	}
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string]uint64{
		"17": 17, "0x1F": 31, "0X1fU": 31, "017": 15, "0b101": 5, "-1": ^uint64(0), "5U": 5, "(1+2)*3": 9, "1<<31": 1 << 31,
		"~0": ^uint64(0), "-8/3": ^uint64(1), "7 % 4": 3, "1?2:3": 2, "!0": 1, "3>2&&1": 1, "0f3F800000": 0x3f800000, "1.5": 0x3ff8000000000000, "-2.5e-1": 0xbfd0000000000000,
	} {
		f := function(t, "mov.b64 %rd1, "+text+";")
		if o := f.Body[0].Operands[1]; o.Kind != Imm || o.Bits != want {
			t.Errorf("%s is %#x, not %#x", text, o.Bits, want)
		}
	}
}

func TestInlined(t *testing.T) {
	text, err := os.ReadFile("testdata/calls.ptx")
	if err != nil {
		t.Fatal(err)
	}
	m, err := Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range k.Body {
		if at := in.Pos; at.Line == 1 && at.Function == "g" {
			if f := at.InlinedAt; f == nil || f.Line != 2 || f.Function != "f" || f.InlinedAt == nil || f.InlinedAt.Line != 10 || f.InlinedAt.InlinedAt != nil {
				t.Errorf("g was inlined at %+v", f)
			}
			return
		}
	}
	t.Error("no instruction of g")
}

func TestCompilerOutput(t *testing.T) {
	files, err := filepath.Glob("testdata/*.ptx")
	if err != nil || len(files) == 0 {
		t.Fatal("no testdata", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m, err := Parse(string(text))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, f := range m.Functions {
			for _, in := range f.Body {
				if in.Op == "bra" && (in.Target < 0 || in.Target > len(f.Body)) {
					t.Errorf("%s: %s has no target", file, in.Text)
				}
				if in.Pos.Line == 0 && in.Pos.File == 0 {
					t.Errorf("%s: %s has no place in the source", file, in.Text)
				}
			}
		}
	}
	text, _ := os.ReadFile("testdata/printf.ptx")
	m, err := Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if k, err := m.Kernel("softmax"); err != nil || len(k.Params) != 5 || len(k.Locals) != 5 {
		t.Errorf("kernel: %v, %v", err, k)
	}
	if _, err := m.Kernel("sofmax"); err == nil || !strings.Contains(err.Error(), "softmax") {
		t.Errorf("the error does not name the kernels: %v", err)
	}
}

func TestErrors(t *testing.T) {
	head := ".version 9.0\n.target sm_80\n.address_size 64\n"
	for text, want := range map[string]string{
		head + ".entry k() { .reg .b32 %r<99999999>; }":                    "out of range",
		head + ".entry k() { add.s32 %r1, %r2, 3; }":                       "%r1 is neither a register",
		head + ".entry k() { bra NOWHERE; }":                               "there is no label NOWHERE",
		head + ".entry k() { ret;":                                         "does not end",
		head + ".global .b8 s[2] = {1, 2, 3};":                             "more initial values",
		head + ".entry k() { A: A: ret; }":                                 "the label A is there twice",
		head + "/* no end":                                                 "a comment does not end",
		head + ".global .b8 big[99999999999];":                             "larger than",
		head + ".entry k() " + strings.Repeat("{", 100):                    "nested too deeply",
		strings.Replace(head, "64", "32", 1):                               "only 64-bit addresses",
		head + ".entry k() { @%q bra X; }":                                 "%q is no predicate",
		head + ".entry k() { mov.u32 r, " + strings.Repeat("(", 9999):      "nested too deeply",
		head + ".entry k() { ld.u32 r, [a, " + strings.Repeat("[a,", 9999): "nested too deeply",
		head + ".global .u32 x = 1/0;":                                     "divides by zero",
		head + ".global .align 3 .u32 x;":                                  "power of two",
		head + strings.Repeat(".func f() { .reg .b32 %r<900000>; }", 9):    "more than 1048576 registers",
		head + ".entry k() { mov.u32 %r1, {{{{{{{{{{1 ; }":                 "",
	} {
		_, err := Parse(text)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Msg, want) {
			t.Errorf("%q: got %v, want %s", text[len(head):], err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(".version 9.0\n.target sm_90\n.address_size 64\n.func (.param .b32 r) f(.param .b32 a)\n{ .reg .b32 %r<2>; L: ld.param.u32 %r1, [a]; @%p bra L; t: .branchtargets L; call (r), f, (a); ret; }")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Parse(text)
		if err != nil {
			return
		}
		for _, fn := range m.Functions {
			fn.ParamLayout()
			for i := range fn.Body {
				if fn.Body[i].Target > len(fn.Body) {
					t.Error("a branch leaves its function")
				}
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	text, err := os.ReadFile("testdata/split_softmax.ptx")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Parse(string(text)); err != nil {
			b.Fatal(err)
		}
	}
}

// Code of no line counts to the line before, also where it is inlined.
func TestLocations(t *testing.T) {
	m, err := Parse(`.version 9.0
.target sm_80
.address_size 64
.visible .entry k()
{
	.reg .b32 %r<3>;
	.loc 1 12 7
	mov.u32 %r1, 1;
	.loc 1 0 0, function_name $L__info_string0, inlined_at 1 20 28
	mov.u32 %r2, 2;
	.loc 1 3 9, function_name $L__info_string0, inlined_at 1 12 7
	ret;
}
.file 1 "a.cu"
`)
	if err != nil {
		t.Fatal(err)
	}
	body := m.Kernels()[0].Body
	for i, want := range []int{12, 12, 3} {
		if body[i].Pos.Line != want {
			t.Errorf("%s is at line %d, want %d", body[i].Text, body[i].Pos.Line, want)
		}
	}
	if at := body[2].Pos.InlinedAt; at == nil || at.Line != 12 {
		t.Errorf("the inlined instruction is called at %v", at)
	}
}

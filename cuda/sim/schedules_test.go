package sim

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/warpbook/warpbook/cuda/ptx"
)

// tryAll runs body, a kernel's that has x in %d0, the block in %r0 and the thread in
// %r1, under eight schedules, on 64 zeros of a type.
func tryAll(t *testing.T, cfg Config, body, typ string, grid, block int) (*Device, *Report, []byte) {
	t.Helper()
	m, err := ptx.Parse(header + `
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.global .align 1 .b8 text[4] = {104, 105, 10, 0};
.visible .entry k(.param .u64 x)
{
	.reg .b32 %r<16>; .reg .b64 %d<8>; .reg .pred %p<4>; .reg .f32 %f<8>;
	.shared .align 4 .b8 s[256];
	ld.param.u64 %d0, [x];
	mov.u32 %r0, %ctaid.x;
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %d1, %r1, 4;
	add.s64 %d2, %d0, %d1;
` + body + `
	ret;
}`)
	if err != nil {
		t.Fatal(err)
	}
	d := New(cfg)
	mod, err := d.Load(m, Source{})
	if err != nil {
		t.Fatal(err)
	}
	k, err := mod.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	x, err := d.Alloc(256, Label{Name: "x", Type: typ, Shape: []int{8, 8}, Item: 4})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Write(x, make([]byte, 256)); err != nil {
		t.Fatal(err)
	}
	r, err := d.Schedules(context.Background(), k, Launch{Grid: Dim{grid, 1, 1}, Block: Dim{block, 1, 1}, Params: binary.LittleEndian.AppendUint64(nil, x)}, 8)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]byte, 256)
	if err := d.Read(out, x); err != nil {
		t.Fatal(err)
	}
	return d, r, out
}

func only(t *testing.T, r *Report) Finding {
	t.Helper()
	if len(r.Findings) != 1 {
		t.Fatalf("%d findings: %s", len(r.Findings), r.Text())
	}
	return r.Findings[0]
}

// Whoever comes last decides: the last block, in the order of the seed.
const lastWins = "st.global.b32 [%d2+40], %r0;"

func TestSchedulesThatDiffer(t *testing.T) {
	_, r, out := tryAll(t, Config{Workers: 1, NoChecks: true}, lastWins, "i32", 6, 1)
	f := only(t, r)
	if f.Kind != ScheduleDependent || f.Label != "x" || f.Offset != 40 || f.Seed == 0 {
		t.Errorf("%+v", f)
	}
	if !strings.HasPrefix(f.Message, "x[1,2] is 5 under seed 0 and ") || strings.Contains(f.Message, "rounding") {
		t.Errorf("message: %s", f.Message)
	}
	if got := word(out, 10); got != 5 {
		t.Errorf("the result is that of another seed: %d", got)
	}
	if text := f.Text(); strings.Contains(text, "thread") || strings.Contains(text, "instruction:") {
		t.Errorf("text: %s", text)
	}
}

func TestSchedulesThatAgree(t *testing.T) {
	for name, body := range map[string]string{
		"each its own element": "add.s32 %r2, %r0, 7; mul.wide.u32 %d3, %r0, 128; add.s64 %d2, %d2, %d3; st.global.b32 [%d2], %r2;",
		"sums of integers":     "red.global.add.u32 [%d0], %r0; red.global.max.u32 [%d0+4], %r0;",
	} {
		if _, r, _ := tryAll(t, Config{}, body, "u32", 2, 32); len(r.Findings) > 0 {
			t.Errorf("%s: %s", name, r.Text())
		}
	}
}

// Sums of floating-point numbers depend on their order, by rounding.
func TestSchedulesRound(t *testing.T) {
	_, r, _ := tryAll(t, Config{Workers: 1}, `
	cvt.rn.f32.u32 %f0, %r0;
	add.f32 %f0, %f0, 0f3DCCCCCD;
	rcp.rn.f32 %f0, %f0;
	red.global.add.f32 [%d0], %f0;`, "f32", 300, 1)
	f := only(t, r)
	if f.Kind != ScheduleDependent || !strings.Contains(f.Message, "rounding") {
		t.Errorf("%+v", f)
	}
}

// Every schedule begins with the memory that the first one found, and the first one's
// results stay.
func TestSchedulesBeginAnew(t *testing.T) {
	_, r, out := tryAll(t, Config{}, "ld.global.b32 %r2, [%d2]; add.s32 %r2, %r2, 1; st.global.b32 [%d2], %r2;", "u32", 1, 64)
	if len(r.Findings) > 0 {
		t.Fatal(r.Text())
	}
	for i := range 64 {
		if got := word(out, i); got != 1 {
			t.Fatalf("x[%d] is %d", i, got)
		}
	}
}

// Memory that nothing has written is as unwritten for the next schedule.
func TestSchedulesForgetWrites(t *testing.T) {
	d := New(Config{Workers: 1})
	a, err := d.Alloc(64, Label{Name: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Write(a, make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
	before := d.snapshot()
	if err := d.Write(a, bytes.Repeat([]byte{9}, 64)); err != nil {
		t.Fatal(err)
	}
	after := before.now()
	before.restore()
	x := d.find(a)
	if !x.written(0, 4) || x.written(4, 4) || x.Data[0] != 0 {
		t.Error("the memory is not as it was")
	}
	after.restore()
	if !x.written(0, 64) || x.Data[63] != 9 {
		t.Error("the result is not there again")
	}
}

// A finding of one schedule only is reported with its seed; one of all, once.
func TestSchedulesMergeFindings(t *testing.T) {
	// The block whose turn is first reads what no block has written then.
	_, r, _ := tryAll(t, Config{Workers: 1}, `
	atom.global.add.u32 %r2, [%d0], 1;
	setp.eq.u32 %p0, %r2, 0;
	setp.eq.u32 %p1, %r0, 3;
	and.pred %p0, %p0, %p1;
	@!%p0 bra END;
	ld.shared.b32 %r3, [s];
END:
	ld.shared.b32 %r4, [s+4];`, "u32", 8, 1)
	var only3, all int
	for _, f := range r.Findings {
		switch {
		case f.Kind == Uninitialized && strings.HasPrefix(f.At.Text, "ld.shared.b32 %r3"):
			only3++
			if f.Seed == 0 {
				t.Error("the first schedule begins with block 0")
			}
		case f.Kind == Uninitialized:
			all++
		}
	}
	if only3 != 1 || all != 1 {
		t.Errorf("%d and %d findings: %s", only3, all, r.Text())
	}
}

func TestSchedulesPrintOnce(t *testing.T) {
	var out bytes.Buffer
	_, r, _ := tryAll(t, Config{Stdout: &out, Seed: 3}, `
	mov.u64 %d3, text;
	mov.u64 %d4, 0;
	{ .param .b64 a; .param .b64 b; .param .b32 r;
	st.param.b64 [a], %d3; st.param.b64 [b], %d4;
	call.uni (r), vprintf, (a, b);
	}`, "u32", 1, 1)
	if len(r.Findings) > 0 || out.String() != "hi\n" {
		t.Errorf("printed %q; %s", out.String(), r.Text())
	}
}

func TestSchedulesOfAFault(t *testing.T) {
	d, r, _ := tryAll(t, Config{Seed: 5}, "trap;", "u32", 1, 1)
	if f := only(t, r); f.Kind != Trap || !f.Fatal || f.Seed != 5 {
		t.Errorf("%+v", f)
	}
	if d.Config().Seed != 5 {
		t.Error("the seed is another one afterwards")
	}
}

func TestSchedulesCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	d := New(Config{Workers: 1})
	m, err := ptx.Parse(header + ".visible .entry k() { ret; }")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := d.Load(m, Source{})
	if err != nil {
		t.Fatal(err)
	}
	k, err := mod.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	one := Dim{1, 1, 1}
	if _, err := d.Schedules(ctx, k, Launch{Grid: one, Block: one}, 3); err != context.Canceled {
		t.Errorf("error %v", err)
	}
	if _, err := d.Schedules(context.Background(), k, Launch{Grid: one, Block: one}, 0); err == nil {
		t.Error("no schedules are no error")
	}
}

func TestLabelValue(t *testing.T) {
	for _, c := range []struct {
		typ  string
		bits uint64
		want string
	}{
		{"f32", uint64(math.Float32bits(0.1)), "0.1"}, {"f64", math.Float64bits(-2.5), "-2.5"}, {"f16", 0x3c00, "1"}, {"bf16", 0x4040, "3"},
		{"i32", 0xffffffff, "-1"}, {"s64", 1 << 63, "-9223372036854775808"}, {"u8", 255, "255"}, {"b32", 255, "0xff"}, {"", 16, "0x10"},
	} {
		if got := (Label{Type: c.typ}).value(binary.LittleEndian.AppendUint64(nil, c.bits)); got != c.want {
			t.Errorf("%s %#x: %s, want %s", c.typ, c.bits, got, c.want)
		}
	}
}

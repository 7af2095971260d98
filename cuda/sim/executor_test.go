package sim

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/warpbook/warpbook/cuda/ptx"
)

// Several special registers in one instruction do not disturb each other.
func TestSpecialRegisters(t *testing.T) {
	y := make([]byte, 4*32*3)
	runPTX(t, header+`
.visible .entry k(.param .u64 y)
{
	.reg .b32 %r<8>; .reg .b64 %d<4>;
	mad.lo.s32 %r1, %ctaid.x, %ntid.x, %nctaid.x;
	add.s32 %r2, %r1, %tid.x;
	mad.lo.s32 %r3, %ctaid.x, %ntid.x, %tid.x;
	ld.param.u64 %d0, [y];
	mul.wide.u32 %d1, %r3, 4;
	add.s64 %d1, %d0, %d1;
	st.global.b32 [%d1], %r2;
	ret;
}`, "k", Launch{Grid: Dim{3, 1, 1}, Block: Dim{32, 1, 1}}, y)
	for i := range 96 {
		if got, want := word(y, i), uint32(i+3); got != want {
			t.Fatalf("thread %d has %d, want %d", i, got, want)
		}
	}
}

// printf as C has it, from the buffer that the compiler packs arguments into.
func TestPrintf(t *testing.T) {
	le := binary.LittleEndian
	i32 := func(b []byte, v int32) []byte { return le.AppendUint32(b, uint32(v)) }
	f64 := func(b []byte, v float64) []byte {
		for len(b)%8 != 0 {
			b = append(b, 0)
		}
		return le.AppendUint64(b, math.Float64bits(v))
	}
	for _, c := range []struct {
		format string
		args   []byte
		want   string
	}{
		{"%d|%5d|%-5d|%05d|%+d", i32(i32(i32(i32(i32(nil, -7), 42), 42), 42), 42), "-7|   42|42   |00042|+42"},
		{"%u %x %X %#x %o", i32(i32(i32(i32(i32(nil, -1), 255), 255), 255), 8), "4294967295 ff FF 0xff 10"},
		{"%hd", i32(nil, 70000), "4464"},
		{"%hhu", i32(nil, 257), "1"},
		{"%c%%%c", i32(i32(nil, 'a'), 'b'), "a%b"},
		{"%lld", le.AppendUint64(nil, 1<<40), "1099511627776"},
		{"%*d", i32(i32(nil, 6), 42), "    42"},
		{"%f %.2f %8.3f", f64(f64(f64(nil, 1.5), 2.345), -3.14159), "1.500000 2.35   -3.142"},
		{"%e %g %g", f64(f64(f64(nil, 12345.678), 0.0001), 1e10), "1.234568e+04 0.0001 1e+10"},
		{"%f %g %5.1f|", f64(f64(f64(nil, math.Inf(-1)), math.NaN()), math.Inf(1)), "-inf nan   inf|"},
		{"%a", f64(nil, 1.5), "0x1.8p+0"},
		{"%q ends", nil, "%q ends"},
		{"100%", nil, "100%"},
	} {
		w := &Warp{}
		if got, _ := w.format(0, c.format, c.args); got != c.want {
			t.Errorf("printf(%q) = %q, want %q", c.format, got, c.want)
		}
	}
}

// A launch ends with its context, also one that would never end by itself.
func TestCancel(t *testing.T) {
	m, err := ptx.Parse(header + ".visible .entry k() { L: bra L; }")
	if err != nil {
		t.Fatal(err)
	}
	d := New(Config{Stdout: &bytes.Buffer{}})
	mod, err := d.Load(m, Source{})
	if err != nil {
		t.Fatal(err)
	}
	k, err := mod.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := d.Launch(ctx, k, Launch{Grid: Dim{4, 1, 1}, Block: Dim{64, 1, 1}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the launch ended with %v", err)
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("it took %v", d)
	}
}

// A launch that is too large to be searched whole says so, and finds what it has noted.
func TestRaceMemory(t *testing.T) {
	m, err := ptx.Parse(header + `
.visible .entry k(.param .u64 y)
{
	.reg .b32 %r<4>; .reg .b64 %d<4>;
	ld.param.u64 %d0, [y];
	mov.u32 %r0, %ctaid.x;
	st.global.b32 [%d0], %r0;
	ret;
}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, memory := range []int64{0, 1} {
		var said bytes.Buffer
		d := New(Config{Workers: 1, RaceMemory: memory, Stdout: &said})
		mod, err := d.Load(m, Source{})
		if err != nil {
			t.Fatal(err)
		}
		k, err := mod.Kernel("k")
		if err != nil {
			t.Fatal(err)
		}
		a, err := d.Alloc(4, Label{Name: "y"})
		if err != nil {
			t.Fatal(err)
		}
		r, err := d.Launch(context.Background(), k, Launch{Grid: Dim{8, 1, 1}, Block: Dim{1, 1, 1}, Params: binary.LittleEndian.AppendUint64(nil, a)})
		if err != nil {
			t.Fatal(err)
		}
		if told := bytes.Contains(said.Bytes(), []byte("too large to be searched")); told != (memory == 1) {
			t.Errorf("with %d bytes it says %q", memory, said.String())
		}
		if memory == 0 && (len(r.Findings) == 0 || r.Findings[0].Kind != GlobalRace) {
			t.Errorf("the race is not found: %v", r.Findings)
		}
	}
}

package sim

import (
	"context"
	"encoding/binary"
	"math"
	"testing"

	"github.com/warpbook/warpbook/cuda/half"
	"github.com/warpbook/warpbook/cuda/ptx"
)

// runPTX runs a kernel whose parameters are pointers to the buffers, and returns
// the report. Buffers are copied to the device and back.
func runPTX(t *testing.T, text, kernel string, l Launch, buffers ...[]byte) *Report {
	t.Helper()
	return runSeed(t, 0, text, kernel, l, buffers...)
}

func runSeed(t *testing.T, seed uint64, text, kernel string, l Launch, buffers ...[]byte) *Report {
	t.Helper()
	m, err := ptx.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	d := New(Config{Workers: 1, Seed: seed})
	mod, err := d.Load(m, Source{})
	if err != nil {
		t.Fatal(err)
	}
	k, err := mod.Kernel(kernel)
	if err != nil {
		t.Fatal(err)
	}
	var addrs []uint64
	for _, b := range buffers {
		a, err := d.Alloc(int64(len(b)), Label{Name: "buffer"})
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Write(a, b); err != nil {
			t.Fatal(err)
		}
		addrs = append(addrs, a)
		l.Params = binary.LittleEndian.AppendUint64(l.Params, a)
	}
	r, err := d.Launch(context.Background(), k, l)
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range buffers {
		if err := d.Read(b, addrs[i]); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// clean fails the test when there are findings.
func clean(t *testing.T, r *Report) {
	t.Helper()
	for _, f := range r.Findings {
		t.Errorf("%s: %s: %s", f.At.Text, f.Kind, f.Message)
	}
}

const header = ".version 9.0\n.target sm_90\n.address_size 64\n"

// A tile of 16x16 halves goes through ldmatrix and mma with a tile of 16x8.
func TestMatrixMultiply(t *testing.T) {
	const text = header + `
.visible .entry gemm(.param .u64 a, .param .u64 b, .param .u64 c)
{
	.reg .b32 %r<32>; .reg .b64 %d<8>; .reg .f32 %f<8>;
	.shared .align 16 .b8 sa[512];
	.shared .align 16 .b8 sb[256];
	mov.u32 %r0, %tid.x;
	ld.param.u64 %d0, [a]; ld.param.u64 %d1, [b]; ld.param.u64 %d2, [c];
	mov.u32 %r1, sa; mov.u32 %r2, sb;
	mul.wide.u32 %d3, %r0, 16; add.s64 %d4, %d0, %d3;
	ld.global.v4.b32 {%r4,%r5,%r6,%r7}, [%d4];
	mad.lo.s32 %r8, %r0, 16, %r1;
	st.shared.v4.b32 [%r8], {%r4,%r5,%r6,%r7};
	mul.wide.u32 %d3, %r0, 8; add.s64 %d4, %d1, %d3;
	ld.global.v2.b32 {%r4,%r5}, [%d4];
	mad.lo.s32 %r8, %r0, 8, %r2;
	st.shared.v2.b32 [%r8], {%r4,%r5};
	bar.sync 0;
	// a's four matrices: rows 0-7 and 8-15 of the left half, then of the right
	and.b32 %r9, %r0, 15; shr.u32 %r10, %r0, 4;
	mad.lo.s32 %r11, %r9, 32, %r1; mad.lo.s32 %r11, %r10, 16, %r11;
	ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r12,%r13,%r14,%r15}, [%r11];
	mad.lo.s32 %r16, %r9, 16, %r2;
	ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r17,%r18}, [%r16];
	mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
	mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r12,%r13,%r14,%r15}, {%r17,%r18}, {%f0,%f1,%f2,%f3};
	shr.u32 %r20, %r0, 2; and.b32 %r21, %r0, 3;
	shl.b32 %r20, %r20, 5; shl.b32 %r21, %r21, 3; add.s32 %r20, %r20, %r21;
	cvt.u64.u32 %d5, %r20; add.s64 %d6, %d2, %d5;
	st.global.v2.f32 [%d6], {%f0,%f1};
	st.global.v2.f32 [%d6+256], {%f2,%f3};
	ret;
}`
	a, b, c := make([]byte, 512), make([]byte, 256), make([]byte, 512)
	put := func(p []byte, i int, v float64) {
		binary.LittleEndian.PutUint16(p[2*i:], uint16(half.F16FromFloat64(v)))
	}
	x := func(i, k int) float64 { return float64((i*7+k*3)%11) - 5 }
	y := func(k, j int) float64 { return float64((k*5+j*2)%13) - 6 }
	for i := range 16 {
		for k := range 16 {
			put(a, 16*i+k, x(i, k))
		}
		for j := range 8 {
			put(b, 8*i+j, y(i, j))
		}
	}
	r := runPTX(t, text, "gemm", Launch{Grid: Dim{1, 1, 1}, Block: Dim{32, 1, 1}}, a, b, c)
	clean(t, r)
	for i := range 16 {
		for j := range 8 {
			want := 0.0
			for k := range 16 {
				want += x(i, k) * y(k, j)
			}
			got := math.Float32frombits(binary.LittleEndian.Uint32(c[4*(8*i+j):]))
			if float64(got) != want {
				t.Fatalf("c[%d,%d] is %v, want %v", i, j, got, want)
			}
		}
	}
	if r.LaneOps < 16*8*16 {
		t.Errorf("%d lane operations: the multiply-adds of mma count", r.LaneOps)
	}
}

// stmatrix undoes ldmatrix, and movmatrix is what .trans does.
func TestMatrixStoreAndTranspose(t *testing.T) {
	const text = header + `
.visible .entry k(.param .u64 x, .param .u64 y)
{
	.reg .b32 %r<16>; .reg .b64 %d<8>;
	.shared .align 16 .b8 s[256];
	mov.u32 %r0, %tid.x;
	ld.param.u64 %d0, [x]; ld.param.u64 %d1, [y];
	mov.u32 %r1, s;
	mul.wide.u32 %d2, %r0, 4;
	add.s64 %d3, %d0, %d2; add.s64 %d4, %d1, %d2;
	ld.global.b32 %r2, [%d3];
	mad.lo.s32 %r3, %r0, 4, %r1;
	st.shared.b32 [%r3], %r2;
	bar.warp.sync 0xffffffff;
	and.b32 %r4, %r0, 7; mad.lo.s32 %r4, %r4, 16, %r1;
	ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r5}, [%r4];
	movmatrix.sync.aligned.m8n8.trans.b16 %r6, %r5;
	stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r4+128], {%r6};
	bar.warp.sync 0xffffffff;
	ld.shared.b32 %r7, [%r3+128];
	st.global.b32 [%d4], %r7;
	ret;
}`
	x, y := make([]byte, 128), make([]byte, 128)
	for i := range 64 {
		binary.LittleEndian.PutUint16(x[2*i:], uint16(i))
	}
	clean(t, runPTX(t, text, "k", Launch{Grid: Dim{1, 1, 1}, Block: Dim{32, 1, 1}}, x, y))
	for i := range 64 {
		if got, want := binary.LittleEndian.Uint16(y[2*i:]), uint16(i%8*8+i/8); got != want {
			t.Fatalf("y[%d] is %d, want %d", i, got, want)
		}
	}
}

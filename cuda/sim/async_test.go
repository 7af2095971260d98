package sim

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// words makes a buffer of n 32-bit numbers.
func words(n int, f func(i int) uint32) []byte {
	b := make([]byte, 0, 4*n)
	for i := range n {
		b = binary.LittleEndian.AppendUint32(b, f(i))
	}
	return b
}

func word(b []byte, i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }

// copyKernel copies 4 bytes a thread by cp.async into shared memory that was zero,
// with what stands in for WAIT before it reads them.
func copyKernel(wait string) string {
	return header + `
.visible .entry k(.param .u64 x, .param .u64 y)
{
	.reg .b32 %r<16>; .reg .b64 %d<8>; .reg .pred %p<4>;
	.shared .align 16 .b8 s[512];
	mov.u32 %r0, %tid.x;
	ld.param.u64 %d0, [x]; ld.param.u64 %d1, [y];
	mov.u32 %r1, s;
	mul.wide.u32 %d2, %r0, 4;
	add.s64 %d3, %d0, %d2; add.s64 %d4, %d1, %d2;
	mad.lo.s32 %r3, %r0, 4, %r1;
	mov.u32 %r9, 0;
	st.shared.b32 [%r3], %r9;
	st.shared.b32 [%r3+128], %r9;
	` + wait + `
	ld.shared.b32 %r7, [%r3];
	ld.shared.b32 %r8, [%r3+128];
	mad.lo.s32 %r7, %r8, 1000, %r7;
	st.global.b32 [%d4], %r7;
	ret;
}`
}

const copyTwo = `
	cp.async.ca.shared.global [%r3], [%d3], 4;
	cp.async.commit_group;
	cp.async.ca.shared.global [%r3+128], [%d3], 4;
	cp.async.commit_group;
`

// What is not waited for is not there.
func TestAsyncCopyWaits(t *testing.T) {
	for _, c := range []struct {
		name, wait string
		want       func(i uint32) uint32
	}{
		{"wait for all", copyTwo + "cp.async.wait_group 0;", func(i uint32) uint32 { return 1001 * i }},
		{"wait for the first", copyTwo + "cp.async.wait_group 1;", func(i uint32) uint32 { return i }},
		{"no wait", copyTwo, func(i uint32) uint32 { return 0 }},
		{"not committed", "cp.async.ca.shared.global [%r3], [%d3], 4; cp.async.wait_group 0;", func(i uint32) uint32 { return 0 }},
		{"wait_all commits", "cp.async.ca.shared.global [%r3], [%d3], 4; cp.async.wait_all;", func(i uint32) uint32 { return i }},
		{"fewer bytes than there is room for", `
			cp.async.ca.shared.global [%r3], [%d3], 4, 1;
			cp.async.wait_all;`, func(i uint32) uint32 { return i & 0xff }},
		{"only zeros", `
			mov.u32 %r10, 7; st.shared.b32 [%r3], %r10;
			cp.async.ca.shared.global [%r3], [%d3], 4, 0;
			cp.async.wait_all;`, func(i uint32) uint32 { return 0 }},
		{"ignored source", `
			setp.lt.u32 %p0, %r0, 16;
			cp.async.ca.shared.global [%r3], [%d3], 4, %p0;
			cp.async.wait_all;`, func(i uint32) uint32 {
			if i < 300+16 {
				return 0
			}
			return i
		}},
		{"half of the warp, twice", `
			setp.lt.u32 %p0, %r0, 16;
			@%p0 cp.async.ca.shared.global [%r3], [%d3], 4;
			@%p0 cp.async.commit_group;
			@!%p0 cp.async.ca.shared.global [%r3+128], [%d3], 4;
			@!%p0 cp.async.commit_group;
			@%p0 cp.async.wait_group 0;`, func(i uint32) uint32 {
			if i < 300+16 {
				return i
			}
			return 0
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, y := words(32, func(i int) uint32 { return uint32(300 + i) }), make([]byte, 128)
			runPTX(t, copyKernel(c.wait), "k", Launch{Grid: Dim{1, 1, 1}, Block: Dim{32, 1, 1}}, x, y)
			for i := range 32 {
				if got, want := word(y, i), c.want(uint32(300+i)); got != want {
					t.Fatalf("thread %d has %d, want %d", i, got, want)
				}
			}
		})
	}
}

func TestAsyncCopyFaults(t *testing.T) {
	x, y := make([]byte, 64), make([]byte, 128) // x is too small
	r := runPTX(t, copyKernel("cp.async.ca.shared.global [%r3], [%d3], 4; cp.async.wait_all;"), "k", Launch{Grid: Dim{1, 1, 1}, Block: Dim{32, 1, 1}}, x, y)
	if len(r.Findings) == 0 || r.Findings[0].Kind != OutOfBounds || r.Findings[0].Count != 16 || !strings.Contains(r.Findings[0].Message, "copies from") {
		t.Errorf("findings: %+v", r.Findings)
	}
}

// A ring of two stages: the first warp fills them, the second one empties them.
// Full and empty are mbarriers, and parities tell the rounds apart.
func TestMbarrierPipeline(t *testing.T) {
	const text = header + `
.visible .entry k(.param .u64 x, .param .u64 y)
{
	.reg .b32 %r<32>; .reg .b64 %d<8>; .reg .pred %p<8>;
	.shared .align 16 .b8 s[256];
	.shared .align 8 .b64 full[2];
	.shared .align 8 .b64 empty[2];
	ld.param.u64 %d0, [x]; ld.param.u64 %d1, [y];
	mov.u32 %r0, %tid.x; mov.u32 %r1, s; mov.u32 %r2, full; mov.u32 %r3, empty;
	and.b32 %r4, %r0, 31;
	setp.ne.u32 %p0, %r0, 0;
	@%p0 bra started;
	mbarrier.init.shared.b64 [%r2], 32; mbarrier.init.shared.b64 [%r2+8], 32;
	mbarrier.init.shared.b64 [%r3], 32; mbarrier.init.shared.b64 [%r3+8], 32;
started:
	bar.sync 0;
	mov.u32 %r5, 0;            // the round
	setp.ge.u32 %p1, %r0, 32;
next:
	and.b32 %r6, %r5, 1;       // the stage
	shr.u32 %r7, %r5, 1; and.b32 %r7, %r7, 1;
	xor.b32 %r8, %r7, 1;
	mad.lo.s32 %r9, %r6, 8, %r2; mad.lo.s32 %r10, %r6, 8, %r3;
	mad.lo.s32 %r11, %r6, 128, %r1; mad.lo.s32 %r11, %r4, 4, %r11;
	mad.lo.s32 %r12, %r5, 32, %r4;
	mul.wide.u32 %d2, %r12, 4;
	@%p1 bra consume;
free:
	mbarrier.try_wait.parity.shared.b64 %p2, [%r10], %r8;
	@!%p2 bra free;
	add.s64 %d3, %d0, %d2;
	cp.async.ca.shared.global [%r11], [%d3], 4;
	cp.async.mbarrier.arrive.noinc.shared.b64 [%r9];
	bra done;
consume:
	mbarrier.try_wait.parity.shared.b64 %p2, [%r9], %r7;
	@!%p2 bra consume;
	ld.shared.b32 %r13, [%r11];
	mbarrier.arrive.shared.b64 _, [%r10];
	add.s64 %d3, %d1, %d2;
	st.global.b32 [%d3], %r13;
done:
	add.s32 %r5, %r5, 1;
	setp.lt.u32 %p3, %r5, 9;
	@%p3 bra next;
	ret;
}`
	x, y := words(9*32, func(i int) uint32 { return uint32(i * i) }), make([]byte, 4*9*32)
	// Under a seed, copies arrive early now and then, and warps take other turns.
	for seed := range uint64(20) {
		clear(y)
		clean(t, runSeed(t, seed, text, "k", Launch{Grid: Dim{1, 1, 1}, Block: Dim{64, 1, 1}}, x, y))
		if !bytes.Equal(x, y) {
			t.Fatalf("seed %d: got %v", seed, y)
		}
	}
}

// A thread starts a copy of 256 bytes; the others wait for the mbarrier that gets
// its bytes, and one more thread copies back.
func TestBulkCopy(t *testing.T) {
	const text = header + `
.visible .entry k(.param .u64 x, .param .u64 y)
{
	.reg .b32 %r<16>; .reg .b64 %d<8>; .reg .pred %p<8>;
	.shared .align 16 .b8 s[256];
	.shared .align 8 .b64 bar;
	ld.param.u64 %d0, [x]; ld.param.u64 %d1, [y];
	mov.u32 %r0, %tid.x; mov.u32 %r1, s; mov.u32 %r2, bar;
	setp.ne.u32 %p0, %r0, 0;
	@!%p0 mbarrier.init.shared.b64 [%r2], 1;
	@!%p0 fence.mbarrier_init.release.cluster;
	bar.sync 0;
	@%p0 bra wait;
	mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 256;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d0], 256, [%r2];
wait:
	mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0;
	@!%p1 bra wait;
	mad.lo.s32 %r3, %r0, 4, %r1;
	ld.shared.b32 %r4, [%r3];
	add.s32 %r4, %r4, 1;
	st.shared.b32 [%r3], %r4;
	fence.proxy.async;
	bar.sync 0;
	@%p0 bra end;
	cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r1], 256;
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group 0;
end:
	ret;
}`
	x, y := words(64, func(i int) uint32 { return uint32(i) }), make([]byte, 256)
	for seed := range uint64(12) {
		clear(y)
		clean(t, runSeed(t, seed, text, "k", Launch{Grid: Dim{1, 1, 1}, Block: Dim{64, 1, 1}}, x, y))
		for i := range 64 {
			if got := word(y, i); got != uint32(i+1) {
				t.Fatalf("seed %d: y[%d] is %d", seed, i, got)
			}
		}
	}
	// A wait for a phase that nothing completes ends as a deadlock.
	r := runPTX(t, strings.Replace(text, "expect_tx.shared.b64 _, [%r2], 256", "expect_tx.shared.b64 _, [%r2], 512", 1), "k",
		Launch{Grid: Dim{1, 1, 1}, Block: Dim{64, 1, 1}}, x, y)
	if len(r.Findings) != 1 || r.Findings[0].Kind != Deadlock {
		t.Errorf("findings: %+v", r.Findings)
	}
	r = runPTX(t, strings.Replace(text, "[%d0], 256", "[%d0+16], 256", 1), "k", Launch{Grid: Dim{1, 1, 1}, Block: Dim{64, 1, 1}}, x, y)
	if len(r.Findings) == 0 || r.Findings[0].Kind != OutOfBounds {
		t.Errorf("findings: %+v", r.Findings)
	}
}

// Blocks of a cluster read each other's shared memory, and count in one of them.
func TestClusterSharedMemory(t *testing.T) {
	const text = header + `
.visible .entry k(.param .u64 y) .reqnctapercluster 4, 1, 1
{
	.reg .b32 %r<16>; .reg .b64 %d<8>;
	.shared .align 4 .b32 own;
	.shared .align 4 .b32 count;
	ld.param.u64 %d0, [y];
	mov.u32 %r0, %cluster_ctarank; mov.u32 %r1, %cluster_nctarank; mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, own; mov.u32 %r9, count;
	mad.lo.s32 %r4, %r2, 10, 5;
	st.shared.b32 [%r3], %r4;
	mov.u32 %r10, 0; st.shared.b32 [%r9], %r10;
	barrier.cluster.arrive.release.aligned;
	barrier.cluster.wait.acquire.aligned;
	add.s32 %r5, %r0, 1; rem.u32 %r5, %r5, %r1;
	mapa.shared::cluster.u32 %r6, %r3, %r5;
	ld.shared::cluster.b32 %r7, [%r6];
	cvta.shared.u64 %d3, %r9;
	mapa.u64 %d4, %d3, 0;
	atom.add.u32 %r11, [%d4], %r4;
	getctarank.shared::cluster.u32 %r8, %r6;
	mad.lo.s32 %r7, %r8, 1000, %r7;
	mul.wide.u32 %d1, %r2, 4; add.s64 %d2, %d0, %d1;
	st.global.b32 [%d2], %r7;
	barrier.cluster.arrive;
	barrier.cluster.wait;
	ld.shared.b32 %r12, [%r9];
	st.global.b32 [%d2+32], %r12;
	ret;
}`
	y := make([]byte, 64)
	clean(t, runPTX(t, text, "k", Launch{Grid: Dim{8, 1, 1}, Block: Dim{1, 1, 1}}, y))
	for i := range 8 {
		neighbour := i/4*4 + (i+1)%4
		if got, want := word(y, i), uint32((i+1)%4*1000+neighbour*10+5); got != want {
			t.Errorf("block %d has %d, want %d", i, got, want)
		}
		sum := uint32(0)
		if i%4 == 0 {
			for k := range 4 {
				sum += uint32((i+k)*10 + 5)
			}
		}
		if got := word(y, 8+i); got != sum {
			t.Errorf("block %d counted %d, want %d", i, got, sum)
		}
	}
}

// Arrivals return the state from which pending_count and test_wait tell.
func TestMbarrierState(t *testing.T) {
	const text = header + `
.visible .entry k(.param .u64 y)
{
	.reg .b32 %r<16>; .reg .b64 %d<16>; .reg .pred %p<8>;
	.shared .align 8 .b64 bar;
	ld.param.u64 %d0, [y];
	mov.u32 %r2, bar;
	mbarrier.init.shared.b64 [%r2], 3;
	mbarrier.arrive.shared.b64 %d1, [%r2];
	mbarrier.test_wait.shared.b64 %p0, [%r2], %d1; selp.u32 %r3, 1, 0, %p0;
	mbarrier.pending_count.b64 %r4, %d1;
	mbarrier.arrive.noComplete.shared.b64 %d2, [%r2], 1;
	mbarrier.pending_count.b64 %r5, %d2;
	mbarrier.arrive_drop.shared.b64 %d3, [%r2];
	mbarrier.test_wait.shared.b64 %p0, [%r2], %d3; selp.u32 %r6, 1, 0, %p0;
	mbarrier.test_wait.parity.shared.b64 %p0, [%r2], 1; selp.u32 %r7, 1, 0, %p0;
	mbarrier.arrive.shared.b64 %d4, [%r2];
	mbarrier.pending_count.b64 %r8, %d4;
	st.global.v2.b32 [%d0], {%r3, %r4};
	st.global.v2.b32 [%d0+8], {%r5, %r6};
	st.global.v2.b32 [%d0+16], {%r7, %r8};
	ret;
}`
	y := make([]byte, 24)
	clean(t, runPTX(t, text, "k", Launch{Grid: Dim{1, 1, 1}, Block: Dim{1, 1, 1}}, y))
	want := words(6, func(i int) uint32 { return []uint32{0, 3, 2, 1, 0, 2}[i] })
	if !bytes.Equal(y, want) {
		t.Errorf("got %v, want %v", y, want)
	}
}

func TestMbarrierWord(t *testing.T) {
	for _, bytes := range []int{0, 1, -1, 1 << 19, -1 << 19} {
		w := newMbWord(7, 9, bytes, 1)
		if got := fmt.Sprint(w.pending(), w.expected(), w.bytes(), w.phase()); got != fmt.Sprint(7, 9, bytes, 1) {
			t.Errorf("%d bytes: %s", bytes, got)
		}
	}
	w := newMbWord(2, 2, 0, 0)
	w.change(1, 0, 64, 0)
	w.change(1, 0, 0, 0)
	if w.phase() != 0 {
		t.Error("the phase ended before its bytes came")
	}
	w.change(0, 0, 0, 64)
	if w.phase() != 1 || w.pending() != 2 {
		t.Errorf("phase %d with %d pending", w.phase(), w.pending())
	}
}

package sim

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"testing"

	"github.com/warpbook/warpbook/cuda/ptx"
)

func TestSectors(t *testing.T) {
	for _, c := range []struct {
		name          string
		bytes         int
		mask          Mask
		addr          func(lane int) uint64
		count, unique int
	}{
		{"side by side", 4, Full, func(l int) uint64 { return uint64(4 * l) }, 4, 128},
		{"in reverse", 4, Full, func(l int) uint64 { return uint64(4 * (31 - l)) }, 4, 128},
		{"from the middle of a sector", 4, Full, func(l int) uint64 { return uint64(16 + 4*l) }, 5, 128},
		{"every second one", 4, Full, func(l int) uint64 { return uint64(8 * l) }, 8, 128},
		{"a column", 4, Full, func(l int) uint64 { return uint64(4096 * l) }, 32, 128},
		{"all the same", 4, Full, func(l int) uint64 { return 64 }, 1, 4},
		{"half a warp", 4, 0xffff, func(l int) uint64 { return uint64(4 * l) }, 2, 64},
		{"bytes", 1, Full, func(l int) uint64 { return uint64(l) }, 1, 32},
		{"float4", 16, Full, func(l int) uint64 { return uint64(16 * l) }, 16, 512},
		{"the last byte of a sector", 1, 1, func(l int) uint64 { return 31 }, 1, 1},
	} {
		var a Lanes
		for l := range a {
			a[l] = 0x7f00_0000_0000 + c.addr(l)
		}
		if count, unique := sectors(&a, c.mask, c.bytes); count != c.count || unique != c.unique {
			t.Errorf("%s: %d sectors of %d bytes, want %d of %d", c.name, count, unique, c.count, c.unique)
		}
	}
}

func TestBankConflicts(t *testing.T) {
	for _, c := range []struct {
		name        string
		bytes       int
		mask        Mask
		addr        func(lane int) uint64
		ways, ideal int
	}{
		{"a row", 4, Full, func(l int) uint64 { return uint64(4 * l) }, 1, 1},
		{"broadcast", 4, Full, func(l int) uint64 { return 12 }, 1, 1},
		{"two words of one bank, each for half the warp", 4, Full, func(l int) uint64 { return uint64(l % 2 * 128) }, 2, 1},
		{"a column of 32", 4, Full, func(l int) uint64 { return uint64(128 * l) }, 32, 1},
		{"a column of 33", 4, Full, func(l int) uint64 { return uint64(132 * l) }, 1, 1},
		{"stride 2", 4, Full, func(l int) uint64 { return uint64(8 * l) }, 2, 1},
		{"bytes of the same words", 1, Full, func(l int) uint64 { return uint64(l) }, 1, 1},
		{"halves", 2, Full, func(l int) uint64 { return uint64(2 * l) }, 1, 1},
		{"doubles side by side", 8, Full, func(l int) uint64 { return uint64(8 * l) }, 2, 2},
		{"a column of doubles", 8, Full, func(l int) uint64 { return uint64(256 * l) }, 32, 2},
		{"float4 side by side", 16, Full, func(l int) uint64 { return uint64(16 * l) }, 4, 4},
		{"rows of 64 halves, as ldmatrix reads them", 16, Full, func(l int) uint64 { return uint64(128 * l) }, 32, 4},
		{"rows of 72 halves", 16, Full, func(l int) uint64 { return uint64(144 * l) }, 4, 4},
		{"half a warp", 4, 0xffff, func(l int) uint64 { return uint64(128 * l) }, 16, 1},
		{"eight lanes of 16 bytes", 16, 0xff, func(l int) uint64 { return uint64(16 * l) }, 1, 1},
	} {
		var a Lanes
		for l := range a {
			a[l] = c.addr(l)
		}
		var b bankCount
		if ways, ideal := b.count(&a, c.mask, c.bytes); ways != c.ways || ideal != c.ideal {
			t.Errorf("%s: %d passes instead of %d, want %d instead of %d", c.name, ways, ideal, c.ways, c.ideal)
		}
	}
}

// The kernel's lines: 1 a load by all, 2 a store of a column by half of the lanes, 3
// atomics of all lanes on two counters, 4 local memory, 5 the barrier.
const profiled = `
.file 1 "k.cu"
.visible .entry k(.param .u64 x)
{
	.reg .b32 %r<8>; .reg .b64 %d<8>; .reg .pred %p<2>;
	.local .align 8 .b8 spill[16];
	.shared .align 4 .b8 s[4096];
	.loc 1 1 1
	mov.u32 %r0, %tid.x;
	ld.param.u64 %d0, [x];
	mul.wide.u32 %d1, %r0, 4;
	add.s64 %d2, %d0, %d1;
	ld.global.b32 %r1, [%d2];
	.loc 1 2 1
	mul.lo.s32 %r2, %r0, 128;
	mov.u32 %r3, s;
	add.s32 %r3, %r3, %r2;
	setp.lt.u32 %p0, %r0, 16;
	@%p0 st.shared.b32 [%r3], %r1;
	.loc 1 3 1
	and.b32 %r4, %r0, 1;
	mul.wide.u32 %d3, %r4, 64;
	add.s64 %d3, %d0, %d3;
	red.global.add.u32 [%d3], 1;
	.loc 1 4 1
	st.local.v2.b32 [spill], {%r1, %r2};
	.loc 1 5 1
	bar.sync 0;
	ret;
}`

func TestProfile(t *testing.T) {
	m, err := ptx.Parse(header + profiled)
	if err != nil {
		t.Fatal(err)
	}
	d := New(Config{Workers: 1})
	mod, err := d.Load(m, Source{Name: "cell", Text: "a\nb\nc\nd\ne"})
	if err != nil {
		t.Fatal(err)
	}
	k, err := mod.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	addr, err := d.Alloc(128, Label{Name: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Write(addr, make([]byte, 128)); err != nil {
		t.Fatal(err)
	}
	d.cfg.NoChecks = true // blocks share what they count in
	const blocks = 10
	p, r, err := d.Profile(context.Background(), k, Launch{Grid: Dim{blocks, 1, 1}, Block: Dim{32, 1, 1}, Params: binary.LittleEndian.AppendUint64(nil, addr)})
	if err != nil || len(r.Findings) > 0 {
		t.Fatal(err, r.Text())
	}
	if len(p.Lines) != 5 || p.Lines[3].Source != "d" {
		t.Fatalf("lines: %+v", p.Lines)
	}
	load, store, atomics, local, barrier := p.Lines[0], p.Lines[1], p.Lines[2], p.Lines[3], p.Lines[4]
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"executions of line 1", float64(load.Warps), 5 * blocks},
		{"lanes of line 1", load.Active(), 1},
		{"sectors of line 1", load.SectorsPerRequest(), 4},
		{"ideal sectors of line 1", load.IdealSectors(), 4},
		{"lanes of line 2", store.Active(), (4*32 + 16) / (5 * 32.0)},
		{"bank conflicts of line 2", store.BankWays(), 16},
		{"sectors of line 3", atomics.SectorsPerRequest(), 2},
		{"ideal sectors of line 3", atomics.IdealSectors(), 1},
		{"lanes at one address in line 3", atomics.AtomicDepth(), 16},
		{"bytes of line 4", float64(local.LocalBytes), 8 * 32 * blocks},
		{"barriers of line 5", float64(barrier.Barriers), blocks},
		{"requests in all", float64(p.Total.GlobalRequests), 2 * blocks},
		{"instructions in all", float64(p.Total.Warps), float64(r.Instructions)},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var back Profile
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if back.Table() != p.Table() || back.Annotated(Source{}) != p.Annotated(Source{}) {
		t.Error("a profile is another one after JSON")
	}
}

// Worked out by hand with the rules of NVIDIA's occupancy calculator.
func TestOccupancy(t *testing.T) {
	for _, c := range []struct {
		gpu                        string
		threads, registers, shared int
		want                       string
	}{
		{"H100/H200", 256, 32, 0, "H100/H200: 8 blocks a multiprocessor, 64 of 64 warps (100%); limited by threads and registers"},
		{"H100/H200", 256, 0, 0, "H100/H200: 8 blocks a multiprocessor, 64 of 64 warps (100%); limited by threads; registers are not counted"},
		{"H100/H200", 256, 64, 0, "H100/H200: 4 blocks a multiprocessor, 32 of 64 warps (50%); limited by registers"},
		{"H100/H200", 32, 16, 0, "H100/H200: 32 blocks a multiprocessor, 32 of 64 warps (50%); limited by blocks of a multiprocessor"},
		{"H100/H200", 128, 32, 48 << 10, "H100/H200: 4 blocks a multiprocessor, 16 of 64 warps (25%); limited by shared memory"},
		{"H100/H200", 256, 255, 227 << 10, "H100/H200: 1 blocks a multiprocessor, 8 of 64 warps (12%); limited by registers and shared memory"},
		{"A100", 128, 32, 48 << 10, "A100: 3 blocks a multiprocessor, 12 of 64 warps (19%); limited by shared memory"},
		{"A100", 1024, 65, 0, "A100: no block fits: 1024 threads of 65 registers need more than the 65536 registers of a multiprocessor"},
		{"A100", 96, 40, 0, "A100: 16 blocks a multiprocessor, 48 of 64 warps (75%); limited by registers"},
		{"T4", 256, 32, 0, "T4: 4 blocks a multiprocessor, 32 of 32 warps (100%); limited by threads"},
		{"T4", 256, 32, 100 << 10, "T4: no block fits: a block has at most 65536 bytes of shared memory, not 102400"},
		{"T4", 0, 32, 0, "T4: no block fits: a block has 1 to 1024 threads, not 0"},
		{"T4", 32, 256, 0, "T4: no block fits: a thread has at most 255 registers, not 256"},
	} {
		for _, g := range GPUs() {
			if g.Name != c.gpu {
				continue
			}
			if got := g.Occupancy(c.threads, c.registers, c.shared).String(); got != c.want {
				t.Errorf("%d threads, %d registers, %d bytes:\n got %s\nwant %s", c.threads, c.registers, c.shared, got, c.want)
			}
		}
	}
}

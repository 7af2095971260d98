package isa

import (
	"fmt"
	"strings"

	"github.com/warpbook/warpbook/cuda/ptx"
)

// regList is "{name0, name1, ...}".
func regList(name string, n int) string {
	s := make([]string, n)
	for i := range s {
		s[i] = fmt.Sprint(name, i)
	}
	return "{" + strings.Join(s, ", ") + "}"
}

// fill copies 2 KB of input to shared memory, sm.
const fill = `.shared .align 128 .b8 sm[2048];
.reg .b64 s;
.reg .b32 s32;
mov.u64 s, sm;
cvt.u32.u64 s32, s;
mad.lo.u64 %ad, %rt, 64, %in;
mad.lo.u64 %y0, %rt, 64, s;
ld.global.v4.b32 {%x2, %x3, %x4, %x5}, [%ad];
st.shared.v4.b32 [%y0], {%x2, %x3, %x4, %x5};
ld.global.v4.b32 {%x2, %x3, %x4, %x5}, [%ad+16];
st.shared.v4.b32 [%y0+16], {%x2, %x3, %x4, %x5};
ld.global.v4.b32 {%x2, %x3, %x4, %x5}, [%ad+32];
st.shared.v4.b32 [%y0+32], {%x2, %x3, %x4, %x5};
ld.global.v4.b32 {%x2, %x3, %x4, %x5}, [%ad+48];
st.shared.v4.b32 [%y0+48], {%x2, %x3, %x4, %x5};
bar.sync 0;
`

// matrices adds ldmatrix, stmatrix and movmatrix: rows of 16 bytes, in an order that
// is not the lanes'.
func (g *generator) matrices() {
	bytes := g.operands(elements, []values{of(ptx.B32)}) // 2 KB
	// The row of lane l is (5*l + 3) mod 32 of the 128 in memory, times 3.
	row := `mad.lo.u32 %x6, %lane, 5, 3;
and.b32 %x6, %x6, 31;
mul.lo.u32 %x6, %x6, 48;
`
	for _, n := range []int{1, 2, 4} {
		for _, trans := range []string{"", ".trans"} {
			op := fmt.Sprintf("ldmatrix.sync.aligned.m8n8.x%d%s.shared.b16", n, trans)
			body := fill + row + fmt.Sprintf(`add.u32 %%x6, %%x6, s32;
.reg .b32 r<4>;
%s %s, [%%x6];
`, op, regList("r", n)) + storeRegs(n)
			g.raw(op, body, 1, 32, bytes, Output{Name: "d", Type: ptx.B32, Count: 32 * n})
			op = fmt.Sprintf("stmatrix.sync.aligned.m8n8.x%d%s.shared.b16", n, trans)
			body = fill + row + fmt.Sprintf(`add.u32 %%x6, %%x6, s32;
.reg .b32 r<4>;
mad.lo.u64 %%ad, %%ri, 16, %%in;
ld.global.v4.b32 {r0, r1, r2, r3}, [%%ad+512];
%s [%%x6], %s;
bar.sync 0;
mad.lo.u64 %%ad, %%rt, 64, %%out;
`, op, regList("r", n))
			for off := 0; off < 64; off += 16 {
				body += fmt.Sprintf("ld.shared.v4.b32 {%%x2, %%x3, %%x4, %%x5}, [%%y0+%[1]d];\nst.global.v4.b32 [%%ad+%[1]d], {%%x2, %%x3, %%x4, %%x5};\n", off)
			}
			g.raw(op, body, 1, 32, bytes, Output{Name: "shared", Type: ptx.B16, Count: 1024})
		}
	}
	g.each("movmatrix", "movmatrix.sync.aligned.m8n8.trans.b16 d, a;", types{ptx.B32}, of(ptx.B32))
}

// storeRegs stores r0.. of each lane, n words a lane.
func storeRegs(n int) string {
	s := fmt.Sprintf("mad.lo.u64 %%ad, %%ri, %d, %%out;\n", 4*n)
	for i := range n {
		s += fmt.Sprintf("st.global.b32 [%%ad+%d], r%d;\n", 4*i, i)
	}
	return s
}

// asynchronous adds copies that are waited for, and what clusters share.
func (g *generator) asynchronous() {
	bytes := g.operands(elements, []values{of(ptx.B32)})
	prologue := `.shared .align 128 .b8 sm[2048];
.reg .b64 s;
.reg .b32 s32;
mov.u64 s, sm;
cvt.u32.u64 s32, s;
mad.lo.u64 %y0, %rt, 16, s;
mad.lo.u64 %y1, %rt, 16, %in;
mad.lo.u64 %y2, %rt, 16, %out;
mov.b32 %x2, -1;
st.shared.v4.b32 [%y0], {%x2, %x2, %x2, %x2};
bar.sync 0;
`
	epilogue := `
bar.sync 0;
xor.b64 %y0, %y0, 16;
ld.shared.v4.b32 {%x2, %x3, %x4, %x5}, [%y0];
st.global.v4.b32 [%y2], {%x2, %x3, %x4, %x5};`
	copies := map[string]string{
		"cp.async.ca 4":             "cp.async.ca.shared.global [%y0+4], [%y1+8], 4;",
		"cp.async.ca 8":             "cp.async.ca.shared.global [%y0+8], [%y1], 8;",
		"cp.async.ca 16":            "cp.async.ca.shared.global [%y0], [%y1], 16;",
		"cp.async.cg 16":            "cp.async.cg.shared.global [%y0], [%y1], 16;",
		"cp.async.cg L2":            "cp.async.cg.shared.global.L2::128B [%y0], [%y1], 16;",
		"cp.async.ca 4 of 2":        "cp.async.ca.shared.global [%y0+4], [%y1+8], 4, 2;",
		"cp.async.cg 16 of lane":    "and.b32 %x3, %lane, 15;\ncp.async.cg.shared.global [%y0], [%y1], 16, %x3;",
		"cp.async.ca ignore source": "and.b32 %x3, %lane, 1;\nsetp.eq.u32 %q0, %x3, 0;\ncp.async.ca.shared.global [%y0], [%y1], 16, %q0;",
	}
	for _, name := range []string{"cp.async.ca 4", "cp.async.ca 8", "cp.async.ca 16", "cp.async.cg 16", "cp.async.cg L2", "cp.async.ca 4 of 2", "cp.async.cg 16 of lane", "cp.async.ca ignore source"} {
		g.raw(name, prologue+copies[name]+"\ncp.async.wait_all;"+epilogue, 1, 128, bytes, Output{Name: "d", Type: ptx.B32, Count: 512})
		g.raw(name+" groups", prologue+copies[name]+"\ncp.async.commit_group;\ncp.async.commit_group;\ncp.async.wait_group 1;"+epilogue, 1, 128, bytes, Output{Name: "d", Type: ptx.B32, Count: 512})
	}
	g.barriers(prologue, epilogue, bytes)
	g.bulk(prologue, epilogue, bytes)
	g.clusters(bytes)
}

// wait spins until the phase of parity 0 of the mbarrier mb has completed.
const wait = `WAIT:
mbarrier.try_wait.parity.shared::cta.b64 %q1, [mb], 0;
@!%q1 bra WAIT;
`

func (g *generator) barriers(prologue, epilogue string, bytes []byte) {
	initialize := prologue + ".shared .align 8 .b64 mb;\nsetp.eq.u32 %q0, %t, 0;\n@%q0 mbarrier.init.shared::cta.b64 [mb], 128;\nbar.sync 0;\n"
	out := Output{Name: "d", Type: ptx.B32, Count: 512}
	g.raw("mbarrier.arrive", initialize+"st.shared.b32 [%y0], %t;\nmbarrier.arrive.shared::cta.b64 %y5, [mb];\n"+wait+epilogue, 1, 128, bytes, out)
	g.raw("mbarrier.test_wait", initialize+`mbarrier.arrive.shared::cta.b64 %y5, [mb];
AGAIN:
mbarrier.test_wait.shared::cta.b64 %q1, [mb], %y5;
@!%q1 bra AGAIN;
mbarrier.test_wait.parity.shared::cta.b64 %q2, [mb], 1;
selp.b32 %x3, 1, 2, %q2;
st.shared.b32 [%y0], %x3;`+epilogue, 1, 128, bytes, out)
	g.raw("mbarrier.pending_count", initialize+`mbarrier.arrive.shared::cta.b64 %y5, [mb];
mbarrier.pending_count.b64 %x3, %y5;
setp.ge.u32 %q1, %x3, 1;
setp.le.u32 %q2, %x3, 128;
and.pred %q1, %q1, %q2;
selp.b32 %x3, 1, 0, %q1;
st.shared.b32 [%y0], %x3;`+epilogue, 1, 128, bytes, out)
	g.raw("cp.async.mbarrier.arrive", initialize+"cp.async.ca.shared.global [%y0], [%y1], 16;\ncp.async.mbarrier.arrive.noinc.shared::cta.b64 [mb];\n"+wait+epilogue, 1, 128, bytes, out)
}

func (g *generator) bulk(prologue, epilogue string, bytes []byte) {
	out := Output{Name: "d", Type: ptx.B32, Count: 512}
	g.raw("cp.async.bulk to shared", prologue+`.shared .align 8 .b64 mb;
setp.eq.u32 %q0, %t, 0;
@!%q0 bra READY;
mbarrier.init.shared::cta.b64 [mb], 1;
fence.mbarrier_init.release.cluster;
fence.proxy.async.shared::cta;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 2048;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%in], 1024, [mb];
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s+1024], [%in+1024], 1024, [mb];
READY:
bar.sync 0;
`+wait+epilogue, 1, 128, bytes, out)
	g.raw("cp.async.bulk to global", prologue+`ld.global.v4.b32 {%x2, %x3, %x4, %x5}, [%y1];
st.shared.v4.b32 [%y0], {%x2, %x3, %x4, %x5};
fence.proxy.async.shared::cta;
bar.sync 0;
setp.eq.u32 %q0, %t, 0;
@!%q0 bra DONE;
cp.async.bulk.global.shared::cta.bulk_group [%out], [s], 2048;
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
DONE:`, 1, 128, bytes, out)
	for _, op := range []string{"add.u32", "add.s32", "min.s32", "max.u32", "and.b32", "xor.b32", "inc.u32", "add.noftz.f16", "add.noftz.bf16", "add.f32"} {
		dot := op
		global := "global"
		body := prologue + `ld.global.v4.b32 {%x2, %x3, %x4, %x5}, [%y1];
st.shared.v4.b32 [%y0], {%x2, %x3, %x4, %x5};
ld.global.v4.b32 {%x2, %x3, %x4, %x5}, [%y1+16];
st.global.v4.b32 [%y2], {%x3, %x4, %x5, %x2};
fence.proxy.async;
bar.sync 0;
setp.eq.u32 %q0, %t, 0;
@!%q0 bra DONE;
cp.reduce.async.bulk.` + global + `.shared::cta.bulk_group.` + dot + ` [%out], [s], 2048;
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
DONE:`
		g.raw("cp.reduce.async.bulk."+op, body, 1, 128, append(append([]byte{}, bytes...), make([]byte, 16)...), out)
	}
}

func (g *generator) clusters(bytes []byte) {
	for _, size := range []int{2, 4} {
		body := fmt.Sprintf(`.shared .align 16 .b8 sm[1024];
.reg .b64 s, remote;
.reg .b32 rank, other, r<8>;
mov.u64 s, sm;
mad.lo.u64 s, %%rt, 4, s;
mad.lo.u64 %%ad, %%ri, 4, %%in;
ld.global.b32 r0, [%%ad];
st.shared.b32 [s], r0;
st.shared.b32 [s+512], %%t;
barrier.cluster.arrive.release.aligned;
barrier.cluster.wait.acquire.aligned;
mov.u32 rank, %%cluster_ctarank;
add.u32 other, rank, 1;
rem.u32 other, other, %d;
mapa.shared::cluster.u64 remote, s, other;
ld.shared::cluster.b32 r1, [remote];
atom.shared::cluster.add.u32 r2, [remote+512], 1000;
getctarank.shared::cluster.u64 r3, remote;
cvta.shared.u64 %%y5, s;
mapa.u64 %%y6, %%y5, other;
ld.b32 r4, [%%y6];
isspacep.shared::cluster %%q0, %%y6;
selp.b32 r5, 1, 0, %%q0;
isspacep.shared::cta %%q0, %%y6;
selp.b32 r6, 1, 0, %%q0;
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
ld.shared.b32 r7, [s+512];
`, size) + storeRegs(8)
		c := g.raw(fmt.Sprint("cluster ", size), body, size, 128, bytes, Output{Name: "d", Type: ptx.B32, Count: size * 128 * 8})
		c.Cluster = size
		c.Text = strings.Replace(c.Text, ")\n{", fmt.Sprintf(")\n.explicitcluster\n.reqnctapercluster %d, 1, 1\n{", size), 1)
	}
}

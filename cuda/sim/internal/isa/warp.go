package isa

import (
	"fmt"

	"github.com/warpbook/warpbook/cuda/ptx"
)

// halfMask is the lanes that take part in a warp-level instruction of a part of the
// warp, as the instruction's mask and as a test of %lane.
var halfMask = []struct{ name, mask, guard string }{
	{"all", "0xffffffff", "setp.lt.u32 act, %lane, 32;"},
	{"low", "0x0000ffff", "setp.lt.u32 act, %lane, 16;"},
	{"odd", "0xaaaaaaaa", "and.b32 %x5, %lane, 1;\nsetp.eq.u32 act, %x5, 1;"},
}

// lanes adds a case for each mask: the instruction is executed by the mask's lanes
// only, the others store zeros.
func (g *generator) lanes(name, instruction string, dst []ptx.Type, src ...values) {
	for _, m := range halfMask {
		body := ".reg .pred act;\n"
		for i, d := range dst {
			if d == ptx.Pred {
				body += fmt.Sprintf("setp.ne.u32 %s, 0, 0;\n", dstName(i))
			} else {
				body += fmt.Sprintf("mov.b%d %s, 0;\n", 8*memoryBytes(d), dstName(i))
			}
		}
		body += m.guard + "\n@!act bra OUT;\n" + fmt.Sprintf(instruction, m.mask) + "\nOUT:"
		g.each(name+" "+m.name, body, dst, src...)
	}
}

func (g *generator) warps() {
	full := func(name, instruction string, dst []ptx.Type, src ...values) {
		g.each(name, fmt.Sprintf(instruction, "0xffffffff"), dst, src...)
	}
	value := of(ptx.B32)
	clamp := only(ptx.U32, "clamp", 31, 0x1f1f, 0x1e1f, 0x1c1f, 0x181f, 0x101f, 15, 0x1c1b)
	clampUp := only(ptx.U32, "clampUp", 0, 0x1f00, 0x1e00, 0x1c00, 0x1800, 0x1000, 4, 0x1802)
	for _, mode := range []string{"up", "down", "bfly", "idx"} {
		c := clamp
		if mode == "up" {
			c = clampUp
		}
		full("shfl.sync."+mode, "shfl.sync."+mode+".b32 d|d1, a, b, c, %s;", types{ptx.B32, ptx.Pred}, value, below(ptx.U32, 33), c)
	}
	// Among lanes of one parity or half, each lane reads one that takes part.
	g.lanes("shfl.sync.idx to first", "mov.b32 %%x6, %[1]s;\nbfind.u32 %%x7, %%x6;\nshfl.sync.idx.b32 d|d1, a, %%x7, 31, %[1]s;", types{ptx.B32, ptx.Pred}, value)
	g.lanes("shfl.sync.bfly 2", "shfl.sync.bfly.b32 d|d1, a, 2, 31, %s;", types{ptx.B32, ptx.Pred}, value)
	for _, mode := range []string{"all", "any", "uni"} {
		g.lanes("vote.sync."+mode, "vote.sync."+mode+".pred d, a, %s;", types{ptx.Pred}, mostly())
		g.lanes("vote.sync."+mode+" not", "vote.sync."+mode+".pred d, !a, %s;", types{ptx.Pred}, mostly())
	}
	g.lanes("vote.sync.ballot", "vote.sync.ballot.b32 d, a, %s;", types{ptx.B32}, of(ptx.Pred))
	for _, t := range []ptx.Type{ptx.B32, ptx.B64} {
		few := only(t, "match"+t.String(), 0, 1, 5, 1<<31, 1<<63, 1<<63|1<<31)
		same := only(t, "same"+t.String(), 9)
		g.lanes("match.any.sync."+t.String(), "match.any.sync."+t.String()+" d, a, %s;", types{ptx.B32}, few)
		g.lanes("match.all.sync."+t.String(), "match.all.sync."+t.String()+" d|d1, a, %s;", types{ptx.B32, ptx.Pred}, few)
		g.lanes("match.all.sync same "+t.String(), "match.all.sync."+t.String()+" d|d1, a, %s;", types{ptx.B32, ptx.Pred}, same)
	}
	for _, t := range word32 {
		for _, op := range []string{"add", "min", "max"} {
			name := fmt.Sprintf("redux.sync.%s.%v", op, t)
			g.lanes(name, name+" d, a, %s;", types{t}, of(t))
		}
	}
	for _, op := range []string{"and", "or", "xor"} {
		name := "redux.sync." + op + ".b32"
		g.lanes(name, name+" d, a, %s;", types{ptx.B32}, value)
	}
	g.lanes("activemask", "activemask.b32 d; // %s", types{ptx.B32}, value)
	g.lanes("elect.sync", "elect.sync d|d1, %s;", types{ptx.B32, ptx.Pred}, value)
	for _, op := range []string{"and", "or"} {
		name := "bar.red." + op
		g.each(name, name+".pred d, 0, a;\n"+name+".pred d1, 1, 128, !a;", types{ptx.Pred, ptx.Pred}, mostly())
	}
	g.each("bar.red.popc", "bar.red.popc.u32 d, 0, a;\nbarrier.cta.red.popc.u32 d1, 2, !a;", types{ptx.U32, ptx.U32}, of(ptx.Pred))
	g.specials()
}

// mostly is predicates that are often alike in a whole warp.
func mostly() values {
	n := 0
	return values{t: ptx.Pred, name: "mostly", random: func(r *random) uint64 {
		n++
		if n/32%3 == 0 {
			return r.next() & 1
		}
		return uint64(n / 32 % 3 & 1)
	}}
}

func (g *generator) specials() {
	body, dst := "", types{}
	for _, s := range []string{"tid.x", "tid.y", "ntid.x", "ntid.z", "ctaid.x", "ctaid.y", "nctaid.x", "nctaid.z", "laneid", "lanemask_eq", "lanemask_lt", "lanemask_le", "lanemask_gt", "lanemask_ge", "cluster_ctarank", "cluster_nctarank", "clusterid.x", "nclusterid.x", "cluster_ctaid.x", "cluster_nctaid.x", "dynamic_smem_size"} {
		body += fmt.Sprintf("mov.u32 %s, %%%s;\n", dstName(len(dst)), s)
		dst = append(dst, ptx.U32)
	}
	g.eachN(256, Tolerance{}, "special registers", body, dst, of(ptx.U32))
	g.each("guards", `.reg .pred p;
mov.b32 d, 1;
setp.lt.u32 p, a, b;
@p add.u32 d, d, 2;
@!p add.u32 d, d, 4;
@p bra L1;
mul.lo.u32 d, d, 3;
bra L2;
L1: xor.b32 d, d, a;
L2: add.u32 d, d, b;`, types{ptx.U32}, of(ptx.U32), of(ptx.U32))
	g.each("brx.idx", `mov.b32 d, 0;
table: .branchtargets L0, L1, L2, L1;
brx.idx a, table;
L0: add.u32 d, d, 1;
L1: add.u32 d, d, 10;
L2: add.u32 d, d, 100;`, types{ptx.U32}, below(ptx.U32, 4))
}

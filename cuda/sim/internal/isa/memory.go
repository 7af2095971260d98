package isa

import (
	"fmt"
	"strings"

	"github.com/warpbook/warpbook/cuda/ptx"
)

// memory adds loads and stores: extension of narrow values, vectors, spaces.
func (g *generator) memory() {
	for _, t := range integerTypes {
		for _, w := range []ptx.Type{ptx.B16, ptx.B32, ptx.B64} { // into wider registers
			if t.Bytes() > w.Bytes() {
				continue
			}
			body := fmt.Sprintf("mad.lo.u64 %%ad, %%ri, %d, %%in;\nld.global.%v d, [%%ad];", memoryBytes(t), t)
			g.each(fmt.Sprintf("ld.%v.%v", t, w), body, types{w}, of(t))
		}
	}
	for _, space := range []string{"shared", "local"} {
		for _, generic := range []bool{false, true} {
			g.spaces(space, generic)
		}
	}
	g.vectors()
	g.constants()
}

// spaces stores words of four sizes to a space and loads them back, directly or
// through generic addresses; each thread has 16 bytes.
func (g *generator) spaces(space string, generic bool) {
	body := ".shared .align 16 .b8 m_shared[2048];\n.local .align 16 .b8 m_local[2048];\n.reg .b64 p;\nmov.u64 p, m_" + space + ";\nmad.lo.u64 p, %rt, 16, p;\n"
	name, dot := space, "."+space
	if generic {
		name, dot = space+" generic", ""
		body += "cvta." + space + ".u64 p, p;\n"
	}
	body += strings.ReplaceAll(`st@.b64 [p], a;
st@.b32 [p+8], a;
st@.b16 [p+12], a;
st@.b8 [p+14], a;
st@.b8 [p+15], 7;
bar.sync 0;
ld@.v2.b64 {d, d1}, [p];
ld@.s8 d2, [p+6];
ld@.u16 d3, [p+8];
`, "@", dot)
	g.each("st ld "+name, body, types{ptx.B64, ptx.B64, ptx.B32, ptx.B32}, of(ptx.B64))
}

func (g *generator) vectors() {
	for _, v := range []struct {
		n int
		t ptx.Type
	}{{2, ptx.B8}, {4, ptx.B8}, {2, ptx.B16}, {4, ptx.B16}, {2, ptx.B32}, {4, ptx.B32}, {2, ptx.B64}} {
		size := v.n * v.t.Bytes()
		regs := make([]string, v.n)
		body := ""
		for i := range regs {
			regs[i] = fmt.Sprint("v", i)
			body += declare(regs[i], v.t)
		}
		list := "{" + strings.Join(regs, ", ") + "}"
		regs[0], regs[v.n-1] = regs[v.n-1], regs[0]
		swapped := "{" + strings.Join(regs, ", ") + "}"
		body += fmt.Sprintf("mad.lo.u64 %%ad, %%ri, %d, %%in;\nld.global.v%d.%v %s, [%%ad];\nmad.lo.u64 %%ad, %%ri, %d, %%out;\nst.global.v%d.%v [%%ad], %s;", size, v.n, v.t, list, size, v.n, v.t, swapped)
		g.raw(fmt.Sprintf("ld st v%d.%v", v.n, v.t), body, 1, 128, g.operands(128*size/4, []values{of(ptx.B32)}), Output{Name: "memory", Type: ptx.B8, Count: 128 * size / 2})
	}
	g.raw("ld st b128", `.reg .b128 w;
mad.lo.u64 %ad, %ri, 16, %in;
ld.global.b128 w, [%ad];
mad.lo.u64 %ad, %ri, 16, %out;
st.global.b128 [%ad], w;`, 1, 128, g.operands(512, []values{of(ptx.B32)}), Output{Name: "memory", Type: ptx.B32, Count: 512})
}

// constants reads initialized variables and asks addresses for their space.
func (g *generator) constants() {
	k := g.kernelName()
	c := g.raw("ld.const, isspacep", `.shared .b32 sm;
.local .b32 lc;
cvta.global.u64 %y0, `+k+`_g;
cvta.const.u64 %y1, `+k+`_c;
cvta.shared.u64 %y2, sm;
cvta.local.u64 %y3, lc;
mov.b32 %x8, 0;
`+spaceTests()+`
and.b32 %x0, %t, 7;
cvt.u64.u32 %y4, %x0;
shl.b64 %y4, %y4, 2;
mov.u64 %y5, `+k+`_c;
add.u64 %y5, %y5, %y4;
ld.const.s32 %x1, [%y5];
ld.global.u64 %y6, [`+k+`_g+8];
add.u64 %y6, %y6, %y4;
ld.s32 %x2, [%y6];
ld.global.f32 %x3, [`+k+`_g+4];
ld.const.u16 %x4, [`+k+`_c+6];
mad.lo.u64 %ad, %ri, 20, %out;
st.global.b32 [%ad], %x8;
st.global.b32 [%ad+4], %x1;
st.global.b32 [%ad+8], %x2;
st.global.b32 [%ad+12], %x3;
st.global.b32 [%ad+16], %x4;`, 1, 32, nil, Output{Name: "words", Type: ptx.B32, Count: 160})
	c.Text = fmt.Sprintf(`.const .align 4 .s32 %[1]s_c[8] = {1, -2, 0x7fffffff, 4, 5+6*2, 6, 7, 8};
.global .align 8 .b8 %[1]s_h[32] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 255};
.global .align 8 .b32 %[1]s_g[2] = {17, 0f40490fdb};
.global .align 8 .u64 %[1]s_p = generic(%[1]s_h);
`, k) + strings.ReplaceAll(c.Text, k+"_g+8", k+"_p")
}

// spaceTests sets a bit of %x8 for each pair of address and space that fits.
func spaceTests() string {
	s, bit := "", 0
	for y := range 4 {
		for _, space := range []string{"global", "const", "shared", "local"} {
			s += fmt.Sprintf("isspacep.%s %%q0, %%y%d;\nselp.b32 %%x9, 0x%x, 0, %%q0;\nor.b32 %%x8, %%x8, %%x9;\n", space, y, 1<<bit)
			bit++
		}
	}
	return s
}

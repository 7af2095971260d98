package isa

import (
	"fmt"
	"math"

	"github.com/warpbook/warpbook/cuda/ptx"
)

// random is a splitmix64 generator: the same numbers in every version of Go.
type random uint64

func (r *random) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (r *random) below(n int) int { return int(r.next() % uint64(n)) }

// unit is uniform in [0, 1).
func (r *random) unit() float64 { return float64(r.next()>>11) / (1 << 53) }

// normal is roughly standard normal: the sum of twelve uniform numbers. It uses no
// function whose results differ between machines.
func (r *random) normal() float64 {
	s := -6.0
	for range 12 {
		s += r.unit()
	}
	return s
}

// values says what an operand is given: edge values and random ones.
type values struct {
	t      ptx.Type
	name   string
	edges  []uint64
	random func(*random) uint64
}

// of gives the values of a type.
func of(t ptx.Type) values {
	v := values{t: t, name: t.String(), edges: edges(t), random: func(r *random) uint64 { return r.next() }}
	switch t {
	case ptx.F32, ptx.TF32:
		v.random = func(r *random) uint64 { return uint64(math.Float32bits(float32(someFloat(r)))) }
	case ptx.F64:
		v.random = func(r *random) uint64 { return math.Float64bits(someFloat(r)) }
	case ptx.Pred:
		v.random = func(r *random) uint64 { return r.next() & 1 }
	case ptx.U8, ptx.B8:
		v.random = func(r *random) uint64 { return r.next() & 0xff }
	case ptx.S8:
		v.random = func(r *random) uint64 { return uint64(int8(r.next())) }
	case ptx.U16, ptx.S16, ptx.B16, ptx.U32, ptx.S32, ptx.B32, ptx.U64, ptx.S64, ptx.B64:
		v.random = func(r *random) uint64 { return r.next() >> r.below(64) } // small ones too
	}
	return v
}

// someFloat is any bit pattern of an f32 as often as a number of moderate size.
func someFloat(r *random) float64 {
	switch r.below(4) {
	case 0:
		f := math.Float32frombits(uint32(r.next()))
		if f != f {
			return r.normal() // NaNs are edge values: converting one here would quiet it
		}
		return float64(f)
	case 1:
		return r.normal() * 1000
	case 2:
		return math.Ldexp(r.normal(), r.below(60)-30)
	}
	return r.normal()
}

// only is a table without edges of its own.
func only(t ptx.Type, name string, list ...uint64) values {
	return values{t: t, name: name, edges: list, random: func(r *random) uint64 { return list[r.below(len(list))] }}
}

// below is integers under n.
func below(t ptx.Type, n int) values {
	return values{t: t, name: fmt.Sprint("below", n), random: func(r *random) uint64 { return uint64(r.below(n)) }}
}

var shifts = only(ptx.U32, "shift", 0, 1, 2, 7, 8, 15, 16, 17, 24, 30, 31, 32, 33, 48, 62, 63, 64, 65, 127, 128, 255, 256, 257, 1<<31, 1<<32-1)

func edges(t ptx.Type) []uint64 {
	switch t {
	case ptx.F32, ptx.TF32:
		return f32Edges
	case ptx.F64:
		return f64Edges()
	case ptx.F16:
		return f16Edges
	case ptx.BF16:
		return bf16Edges
	case ptx.F16x2:
		return pairs(f16Edges)
	case ptx.BF16x2:
		return pairs(bf16Edges)
	case ptx.Pred:
		return []uint64{0, 1}
	case ptx.S8:
		return []uint64{0, 1, 127, 1<<64 - 1, 1<<64 - 128}
	case ptx.U8, ptx.B8:
		return []uint64{0, 1, 127, 128, 255}
	}
	bits := t.Bits()
	top := uint64(1) << (bits - 1)
	list := []uint64{0, 1, 2, 3, top - 1, top, top + 1, top<<1 - 1, top<<1 - 2, top >> 1, 0x5555555555555555, 0xaaaaaaaaaaaaaaaa, 7, 10, 255, 256, 1<<(bits/2) - 1, 1 << (bits / 2)}
	if bits >= 32 {
		list = append(list, 0x7fff, 0x8000, 0xffff8000, 0xffffff80, 1<<24+1, 1<<31-1, 1<<31)
	}
	return list
}

// pairs packs each value with another one.
func pairs(list []uint64) (out []uint64) {
	for i, v := range list {
		out = append(out, v|list[(i*7+3)%len(list)]<<16)
	}
	return out
}

// The first sixteen of each are met with each other in instructions of two operands.
var f32Edges = []uint64{
	0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x00000001, 0x807fffff, 0x00800000, 0x7f7fffff,
	0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0x3f7fffff, 0x40400000, 0x33800000,
	0xffc12345, 0x7fffffff, 0x80000001, 0x007fffff, 0x80800000, 0x3f800001, 0x3f000000, 0xbf000000,
	0x3fc00000, 0x40200000, 0x40600000, 0xc0200000, 0x3effffff, 0x4b000001, 0x4b800000, 0x4affffff, // 0.5, 1.5, 2.5, 3.5; 2^23+1, 2^24
	0x4f000000, 0x4effffff, 0xcf000000, 0xcf000001, 0x4f800000, 0x4f7fffff, 0x5f000000, 0x5effffff, // around 2^31, 2^32, 2^63
	0xdf000000, 0x5f800000, 0x5f7fffff, 0x477fe000, 0x477fefff, 0x477ff000, 0x477fffff, 0x47800000, // 2^64; 65504, 65520: f16's largest
	0x33000000, 0x33000001, 0x33c00000, 0x387fc000, 0x387fe000, 0x38800000, 0x3f801000, 0x3f803000, // f16's smallest; halfway of f16
	0x3f808000, 0x3f818000, 0x3f807fff, 0x7f7f8000, 0x7f7f7fff, 0x3f801fff, 0x43e00000, 0x43e80000, // halfway of bf16; 448, 464: e4m3's largest
	0x43e7ffff, 0x47600000, 0x47700000, 0x476fffff, 0x3c800000, 0x3b000000, 0x3a800000, 0x37800000, // e5m2's largest; small fp8
	0x42fe0000, 0x42ff0000, 0x43000000, 0x437f0000, 0x437f8000, 0xc3000000, 0xc3008000, 0x46fffe00, // 127, 127.5, 128, 255, 255.5, -128, -128.5, 32767
	0x46ffff00, 0x47000000, 0x477fff00, 0x477fff80, 0xbf7fffff, 0xbf000001, 0x40490fdb, 0x3fc90fdb, // ..., pi, pi/2
	0x402df854, 0x3eaaaaab, 0x42c80000, 0x501502f9, 0x2edbe6ff, 0xc2c80000, 0x42b17218, 0xc2ce8ed0, // e, 1/3, 100, 1e10, 1e-10; bounds of exp
	0x43000000, 0xc3150000, 0xc2fc0000, 0xc3160000, 0x3dcccccd, 0x7e800000, 0x00ffffff, 0x01000000,
}

func f64Edges() (out []uint64) {
	for _, v := range f32Edges[:32] {
		if v&0x7f800000 == 0x7f800000 {
			continue
		}
		out = append(out, math.Float64bits(float64(math.Float32frombits(uint32(v)))))
	}
	special := []uint64{
		0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0x7ff0000000000001, 0xfff8123456789abc, 0x7fffffffffffffff,
		0x0000000000000001, 0x800fffffffffffff, 0x0010000000000000, 0x7fefffffffffffff,
	}
	out = append(out[:6:6], append(special, out[6:]...)...)
	for _, f := range []float64{
		2147483647, 2147483647.5, 2147483648, -2147483648, -2147483648.5, -2147483649, 4294967295, 4294967295.5, 4294967296,
		9223372036854774784, 9223372036854775808, -9223372036854775808, -9223372036854777856, 18446744073709549568, 18446744073709551616,
		0.5, 1.5, 2.5, -0.5, -1.5, 127.5, 255.5, 32767.5, 65535.5, 65504, 65519.999, 65520, 5.960464477539063e-08, 2.98e-08,
		3.4028234663852886e38, 3.4028235677973366e38, 3.402823567797337e38, 1.401298464324817e-45, 7.006492321624085e-46, 7.1e-46, 1.1754943508222875e-38,
		1.00000005960464477, 1.00000005960464489, math.Pi, 1.0 / 3, 1e300, 1e-300, 1e16, 123456789.123,
	} {
		out = append(out, math.Float64bits(f))
	}
	return out
}

var f16Edges = []uint64{
	0x0000, 0x8000, 0x3c00, 0xbc00, 0x0001, 0x83ff, 0x0400, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x7c01, 0x3bff, 0x4200, 0x1400,
	0xfe12, 0x7fff, 0x8001, 0x03ff, 0x8400, 0x3c01, 0x3800, 0xb800, 0x3e00, 0x4100, 0x4300, 0xc100, 0x6400, 0x6401, 0x6800, 0x57f0,
	0x5bf8, 0x5bfc, 0x7800, 0x77ff, 0x4248, 0x3555, 0x5640, 0x0800, 0x4900, 0x4d00, 0xcb00, 0x4f00, 0x4800, 0x5f00, 0x5f40, 0x7b00,
}

var bf16Edges = []uint64{
	0x0000, 0x8000, 0x3f80, 0xbf80, 0x0001, 0x807f, 0x0080, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0x7f81, 0x3f7f, 0x4040, 0x3380,
	0xffd2, 0x7fff, 0x8001, 0x007f, 0x8080, 0x3f81, 0x3f00, 0xbf00, 0x3fc0, 0x4020, 0x4060, 0xc020, 0x4300, 0x4301, 0x4380, 0x42ff,
	0x4f00, 0xcf00, 0x4f80, 0x5f00, 0x5f80, 0x4049, 0x3eab, 0x42c8, 0x0100, 0x4120, 0xc2c8, 0x43e0, 0x4760, 0x7e80, 0x477f, 0x3dcd,
}

// crossed is how many edge values of one operand meet those of another.
const crossed = 16

// operands makes the rows of an elementwise case: edges first, each with each where
// there are two operands, then random values.
func (g *generator) operands(n int, src []values) []byte {
	key := fmt.Sprint(n)
	for _, s := range src {
		key += " " + s.name
	}
	if rows, ok := g.rows[key]; ok {
		return rows
	}
	r := random(1)
	for _, c := range key {
		r = random(uint64(r)*31 + uint64(c))
	}
	rows := make([][]uint64, n)
	for i := range rows {
		rows[i] = make([]uint64, len(src))
		for j, s := range src {
			rows[i][j] = s.pick(i, j, len(src), n, &r)
		}
	}
	var out []byte
	for j, s := range src {
		for i := range rows {
			out = put(out, rows[i][j], memoryBytes(s.t))
		}
	}
	g.rows[key] = out
	return out
}

func (v values) pick(i, j, operands, n int, r *random) uint64 {
	e := len(v.edges)
	switch {
	case e == 0:
	case operands == 1 && i < e:
		return v.edges[i]
	case operands == 2 && n >= elements && i < crossed*crossed:
		k := i % crossed
		if j == 1 {
			k = i / crossed
		}
		if j == 1 || k < e {
			return v.edges[k%e]
		}
	case operands > 2 && i < n/4: // among the edges that differ most
		return v.edges[r.below(min(e, crossed))]
	case i < n*5/8:
		return v.edges[r.below(e)]
	}
	return v.random(r)
}

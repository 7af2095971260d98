package arith

import (
	"fmt"
	"math/bits"

	"github.com/warpbook/warpbook/cuda/ptx"
)

func andBits(d, a, b *Lanes) {
	_, _, _ = *d, *a, *b
	for i := range d {
		d[i] = a[i] & b[i]
	}
}

func orBits(d, a, b *Lanes) {
	_, _, _ = *d, *a, *b
	for i := range d {
		d[i] = a[i] | b[i]
	}
}

func xorBits(d, a, b *Lanes) {
	_, _, _ = *d, *a, *b
	for i := range d {
		d[i] = a[i] ^ b[i]
	}
}

func notBits[T unsigned](d, a *Lanes) {
	_, _ = *d, *a
	for i := range d {
		d[i] = uint64(^T(a[i]))
	}
}

// compileLogic is for and, or, xor and not, of bits and of predicates.
func compileLogic(c *compiler) (Op, error) {
	if err := c.allow(); err != nil {
		return Op{}, err
	}
	t := c.typ(0)
	if t == ptx.Pred {
		logic := map[string]func(a, b Mask) Mask{
			"and": func(a, b Mask) Mask { return a & b },
			"or":  func(a, b Mask) Mask { return a | b },
			"xor": func(a, b Mask) Mask { return a ^ b },
			"not": func(a, _ Mask) Mask { return ^a },
		}[c.Op]
		src := []ptx.Type{t, t}
		if c.Op == "not" {
			src = src[:1]
		}
		return Op{Dst: []ptx.Type{t}, Src: src, Logic: logic}, nil
	}
	if c.Op == "not" {
		return c.unary(byType[fn1]{u16: notBits[uint16], u32: notBits[uint32], u64: notBits[uint64]}.of(t), t, t)
	}
	f := map[string]fn2{"and": andBits, "or": orBits, "xor": xorBits}[c.Op]
	return c.binary(byType[fn2]{u16: f, u32: f, u64: f}.of(t), t, t, t)
}

// compileCnot is for C's "!": 1 for zero and 0 for the rest.
func compileCnot(c *compiler) (Op, error) {
	if err := c.allow(); err != nil {
		return Op{}, err
	}
	t := c.typ(0)
	f := map1(func(a uint64) uint64 {
		if a == 0 {
			return 1
		}
		return 0
	})
	return c.unary(byType[fn1]{u16: f, u32: f, u64: f}.of(t), t, t)
}

// A shift of Go is zero, or all sign, where the distance is too large, as PTX wants it.

func shlBits[T unsigned](d, a, b *Lanes) {
	_, _, _ = *d, *a, *b
	for i := range d {
		d[i] = uint64(T(a[i]) << uint32(b[i]))
	}
}

func shrBits[T integer, U unsigned](d, a, b *Lanes) {
	_, _, _ = *d, *a, *b
	for i := range d {
		d[i] = uint64(U(T(a[i]) >> uint32(b[i])))
	}
}

func compileShift(c *compiler) (Op, error) {
	if err := c.allow(); err != nil {
		return Op{}, err
	}
	t := c.typ(0)
	f := byType[fn2]{shrBits[uint16, uint16], shrBits[uint32, uint32], shrBits[uint64, uint64],
		shrBits[int16, uint16], shrBits[int32, uint32], shrBits[int64, uint64]}
	if c.Op == "shl" {
		f = byType[fn2]{u16: shlBits[uint16], u32: shlBits[uint32], u64: shlBits[uint64]}
	}
	return c.binary(f.of(t), t, t, ptx.U32)
}

// compileFunnel is for shf: a shift of the 64 bits b:a, one half of which is kept.
func compileFunnel(c *compiler) (Op, error) {
	if err := c.allow("l", "r", "wrap", "clamp"); err != nil {
		return Op{}, err
	}
	if c.typ(0) != ptx.B32 || len(c.Types) != 1 {
		return c.badType()
	}
	t, left, wrap := c.typ(0), c.has("l"), c.has("wrap")
	return c.ternary(map3(func(a, b, n uint64) uint64 {
		if wrap {
			n &= 31
		} else {
			n = min(n, 32)
		}
		if left {
			return (b<<32 | a) << n >> 32
		}
		return (b<<32 | a) >> n & 0xffffffff
	}), t, t, t, ptx.U32)
}

// compilePrmt is for prmt, which picks bytes of the pair b:a.
func compilePrmt(c *compiler) (Op, error) {
	if err := c.allow("f4e", "b4e", "rc8", "ecl", "ecr", "rc16"); err != nil {
		return Op{}, err
	}
	if c.typ(0) != ptx.B32 || len(c.Types) != 1 {
		return c.badType()
	}
	t := c.typ(0)
	if len(c.Mods) > 1 {
		return Op{}, fmt.Errorf("prmt with the modifiers %v is %w", c.Mods, ErrUnsupported)
	}
	if len(c.Mods) == 0 {
		return c.ternary(permuteBytes, t, t, t, t)
	}
	// In the named modes the selector's low bits give, for each byte of the result,
	// the byte that is taken.
	pick := map[string]func(i, k uint64) uint64{
		"f4e":  func(i, k uint64) uint64 { return i + k },
		"b4e":  func(i, k uint64) uint64 { return (i - k) & 7 },
		"rc8":  func(i, k uint64) uint64 { return i },
		"ecl":  func(i, k uint64) uint64 { return max(i, k) },
		"ecr":  func(i, k uint64) uint64 { return min(i, k) },
		"rc16": func(i, k uint64) uint64 { return i&1<<1 + k&1 },
	}[c.Mods[0]]
	return c.ternary(map3(func(a, b, sel uint64) (r uint64) {
		for k := range uint64(4) {
			r |= (b<<32 | a) >> (8 * pick(sel&3, k)) & 0xff << (8 * k)
		}
		return r
	}), t, t, t, t)
}

// permuteBytes takes three bits of the selector for each byte, and a fourth that
// fills the byte with its sign.
func permuteBytes(d, a, b, c *Lanes) {
	_, _, _, _ = *d, *a, *b, *c
	for i := range d {
		v, sel, r := b[i]<<32|a[i], c[i], uint64(0)
		for k := 0; k < 32; k += 8 {
			x := v >> (sel & 7 * 8) & 0xff
			if sel&8 != 0 {
				x = uint64(uint8(int8(x) >> 7))
			}
			r |= x << k
			sel >>= 4
		}
		d[i] = r
	}
}

// compileLop3 is for any function of three bits, given by the table of its values.
func compileLop3(c *compiler) (Op, error) {
	if err := c.allow("and", "or", "xor"); err != nil {
		return Op{}, err
	}
	if c.typ(0) != ptx.B32 || len(c.Types) != 1 {
		return c.badType()
	}
	t := c.typ(0)
	if len(c.Mods) == 0 {
		return Op{Dst: []ptx.Type{t}, Src: []ptx.Type{t, t, t, ptx.U32}, Any: func(x *Args) {
			if x.D[0] != nil {
				lookup(x.D[0], x.S[0], x.S[1], x.S[2], x.S[3][0])
			}
		}}, nil
	}
	combine := boolOp(c.Mods[0])
	return Op{Dst: []ptx.Type{t, ptx.Pred}, Src: []ptx.Type{t, t, t, ptx.U32, ptx.Pred}, Any: func(x *Args) {
		var nonzero Mask
		d := x.D[0]
		if d == nil {
			d = new(Lanes)
		}
		lookup(d, x.S[0], x.S[1], x.S[2], x.S[3][0])
		for i, v := range d {
			if v != 0 {
				nonzero |= 1 << i
			}
		}
		x.DP[1] = combine(nonzero, x.SP[4])
	}}, nil
}

// lookup computes the function of three bits whose values are in table, which is
// a constant of the instruction.
func lookup(d, a, b, c *Lanes, table uint64) {
	var m [8]uint64 // the table's bits, each as a mask
	for k := range m {
		m[k] = -(table >> k & 1) & 0xffffffff
	}
	for i := range d {
		// Halve the table with one input after the other.
		x, y, z := a[i], b[i], c[i]
		ab00, ab01 := m[0]^(m[0]^m[1])&z, m[2]^(m[2]^m[3])&z
		ab10, ab11 := m[4]^(m[4]^m[5])&z, m[6]^(m[6]^m[7])&z
		a0, a1 := ab00^(ab00^ab01)&y, ab10^(ab10^ab11)&y
		d[i] = a0 ^ (a0^a1)&x
	}
}

// compileCount is for popc and clz.
func compileCount(c *compiler) (Op, error) {
	if err := c.allow(); err != nil {
		return Op{}, err
	}
	t := c.typ(0)
	w := Width(t)
	f := map1(func(a uint64) uint64 { return uint64(bits.OnesCount64(a)) })
	if c.Op == "clz" {
		f = map1(func(a uint64) uint64 { return uint64(bits.LeadingZeros64(a) - 64 + w) })
	}
	return c.unary(byType[fn1]{u32: f, u64: f}.of(t), ptx.U32, t)
}

// compileBfind finds the most significant bit that is not the sign.
func compileBfind(c *compiler) (Op, error) {
	if err := c.allow("shiftamt"); err != nil {
		return Op{}, err
	}
	t, shift := c.typ(0), c.has("shiftamt")
	w := Width(t)
	f := map1(func(a uint64) uint64 {
		if v := signExtend(a, w); isSigned(t) && v < 0 {
			a = uint64(^v)
		}
		n := bits.Len64(a) - 1
		if shift && n >= 0 {
			n = w - 1 - n
		}
		return uint64(uint32(n))
	})
	return c.unary(byType[fn1]{u32: f, u64: f, s32: f, s64: f}.of(t), ptx.U32, t)
}

// compileFns finds the n-th set bit from a place on.
func compileFns(c *compiler) (Op, error) {
	if err := c.allow(); err != nil {
		return Op{}, err
	}
	if c.typ(0) != ptx.B32 || len(c.Types) != 1 {
		return c.badType()
	}
	return c.ternary(map3(func(mask, base, offset uint64) uint64 {
		n, step := int64(int32(offset)), int64(1)
		if n == -1<<31 {
			return 0 // its magnitude is no number of 32 bits; an H200 gives this
		}
		if n < 0 {
			n, step = -n, -1
		}
		first := n == 0
		for pos := int64(uint32(base)); pos >= 0 && pos < 32; pos += step {
			if mask>>pos&1 != 0 {
				if n--; n <= 0 {
					return uint64(pos)
				}
			}
			if first {
				break
			}
		}
		return 0xffffffff
	}), ptx.B32, ptx.B32, ptx.B32, ptx.S32)
}

func compileBrev(c *compiler) (Op, error) {
	if err := c.allow(); err != nil {
		return Op{}, err
	}
	t := c.typ(0)
	w := Width(t)
	f := map1(func(a uint64) uint64 { return bits.Reverse64(a) >> (64 - w) })
	return c.unary(byType[fn1]{u32: f, u64: f}.of(t), t, t)
}

// field reads the place or the length of a bit field. The hardware looks at eight
// bits of it for 32-bit numbers and, against the manual, at all for 64-bit ones.
func field(v, width uint64) uint64 {
	if width == 32 {
		return v & 0xff
	}
	return min(v, 256)
}

// compileBfe takes bits out of a number; what lies beyond its end is the sign.
func compileBfe(c *compiler) (Op, error) {
	if err := c.allow(); err != nil {
		return Op{}, err
	}
	t := c.typ(0)
	w := uint64(Width(t))
	f := map3(func(a, pos, n uint64) uint64 {
		pos, n = field(pos, w), field(n, w)
		if n == 0 {
			return 0
		}
		if !isSigned(t) {
			return a >> pos & ones(int(n))
		}
		v := signExtend(a, int(w)) >> pos
		if n < 64 {
			// The sign is the last bit taken, or the last bit there is.
			sign := a >> min(pos+n-1, w-1) & 1
			v = int64(uint64(v)&ones(int(n)) | -sign&^ones(int(n)))
		}
		return uint64(v) & ones(int(w))
	})
	return c.ternary(byType[fn3]{u32: f, u64: f, s32: f, s64: f}.of(t), t, t, ptx.U32, ptx.U32)
}

// compileBfi puts bits of a into b.
func compileBfi(c *compiler) (Op, error) {
	if err := c.allow(); err != nil {
		return Op{}, err
	}
	t := c.typ(0)
	if t != ptx.B32 && t != ptx.B64 {
		return c.badType()
	}
	w := Width(t)
	return Op{Dst: []ptx.Type{t}, Src: []ptx.Type{t, t, ptx.U32, ptx.U32}, Any: func(x *Args) {
		d, a, b, pos, n := x.D[0], x.S[0], x.S[1], x.S[2], x.S[3]
		for i := range d {
			p := field(pos[i], uint64(w))
			mask := ones(int(field(n[i], uint64(w)))) << p & ones(w)
			d[i] = a[i]<<p&mask | b[i]&^mask
		}
	}}, nil
}

// compileBmsk makes a mask of n bits from a place on.
func compileBmsk(c *compiler) (Op, error) {
	if err := c.allow("clamp", "wrap"); err != nil {
		return Op{}, err
	}
	if c.typ(0) != ptx.B32 || len(c.Types) != 1 {
		return c.badType()
	}
	wrap := c.has("wrap")
	return c.binary(map2(func(pos, n uint64) uint64 {
		if wrap {
			pos, n = pos&31, n&31
		}
		return ones(int(min(n, 32))) << min(pos, 32) & 0xffffffff
	}), ptx.B32, ptx.B32, ptx.B32)
}

// compileSzext extends a number of n bits.
func compileSzext(c *compiler) (Op, error) {
	if err := c.allow("clamp", "wrap"); err != nil {
		return Op{}, err
	}
	t, wrap := c.typ(0), c.has("wrap")
	if t != ptx.U32 && t != ptx.S32 {
		return c.badType()
	}
	return c.binary(map2(func(a, n uint64) uint64 {
		if wrap {
			n &= 31
		}
		switch {
		case n >= 32:
			return a
		case n == 0:
			return 0
		case t == ptx.U32:
			return a & ones(int(n))
		}
		return uint64(uint32(signExtend(a, int(n))))
	}), t, t, ptx.U32)
}

// compileDot is for dp4a and dp2a: products of bytes, summed and added to c.
func compileDot(c *compiler) (Op, error) {
	if err := c.allow("lo", "hi"); err != nil {
		return Op{}, err
	}
	at, bt := c.typ(0), c.typ(1)
	if Width(at) != 32 || Width(bt) != 32 || len(c.Types) != 2 {
		return c.badType()
	}
	part := func(t ptx.Type, v uint64, at, n int) int64 {
		if isSigned(t) {
			return signExtend(v>>at, n)
		}
		return int64(v >> at & ones(n))
	}
	hi := 0
	if c.has("hi") {
		hi = 16
	}
	four := func(a, b, c uint64) uint64 {
		for k := 0; k < 32; k += 8 {
			c += uint64(part(at, a, k, 8) * part(bt, b, k, 8))
		}
		return uint64(uint32(c))
	}
	two := func(a, b, c uint64) uint64 {
		for k := range 2 {
			c += uint64(part(at, a, 16*k, 16) * part(bt, b, hi+8*k, 8))
		}
		return uint64(uint32(c))
	}
	t := ptx.U32
	if isSigned(at) || isSigned(bt) {
		t = ptx.S32
	}
	if c.Op == "dp2a" {
		return c.ternary(map3(two), t, at, bt, t)
	}
	return c.ternary(map3(four), t, at, bt, t)
}

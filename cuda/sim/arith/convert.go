package arith

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/warpbook/warpbook/cuda/half"
	"github.com/warpbook/warpbook/cuda/ptx"
)

// compileCvt is for conversions between all numbers.
func compileCvt(c *compiler) (Op, error) {
	if err := c.allow("rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi",
		"ftz", "sat", "relu", "satfinite", "pack"); err != nil {
		return Op{}, err
	}
	dt, st := c.typ(0), c.typ(1)
	switch {
	case c.has("pack"):
		return compileCvtPack(c)
	case len(c.Types) != 2:
		return c.badType()
	case dt == ptx.F16x2 || dt == ptx.BF16x2 || dt == ptx.E4M3x2 || dt == ptx.E5M2x2:
		return compileCvtPair(c)
	}
	if f := commonCvt(c, dt, st); f != nil {
		return c.unary(f, dt, st)
	}
	var f func(uint64) uint64
	switch {
	case isFloat(st) && isFloat(dt):
		f = floatToFloat(c, dt, st)
	case isFloat(st):
		f = floatToInt(c, dt, st)
	case isFloat(dt):
		f = intToFloat(c, dt, st)
	default:
		f = intToInt(c, dt, st)
	}
	if f == nil {
		return c.badType()
	}
	return c.unary(map1(f), dt, st)
}

// registerWidth is the width of the destination, which may be wider than the type.
func (c *compiler) registerWidth(t ptx.Type) int {
	if len(c.Operands) > 0 && c.Operands[0].Kind == ptx.Reg && c.regType != nil {
		return max(Width(t), Width(c.regType(c.Operands[0].Reg)))
	}
	return Width(t)
}

// commonCvt has loops for the conversions that kernels are full of.
func commonCvt(c *compiler, dt, st ptx.Type) fn1 {
	if c.registerWidth(dt) != Width(dt) && isSigned(dt) {
		return nil
	}
	plain := len(c.Mods) == 0
	nearest := slices.Equal(c.Mods, []string{"rn"})
	is := func(d, s ptx.Type) bool { return dt == d && st == s }
	switch {
	case plain && !isFloat(dt) && !isFloat(st) && !isSigned(st):
		// Without a sign to extend, only what does not fit goes.
		mask := ones(min(Width(dt), Width(st)))
		return func(d, a *Lanes) {
			_, _ = *d, *a
			for i := range d {
				d[i] = a[i] & mask
			}
		}
	case plain && (is(ptx.S64, ptx.S32) || is(ptx.U64, ptx.S32)):
		return func(d, a *Lanes) {
			_, _ = *d, *a
			for i := range d {
				d[i] = uint64(int64(int32(a[i])))
			}
		}
	case nearest && is(ptx.F32, ptx.S32):
		return func(d, a *Lanes) {
			_, _ = *d, *a
			for i := range d {
				d[i] = uint64(math.Float32bits(float32(int32(a[i]))))
			}
		}
	case nearest && is(ptx.F32, ptx.U32):
		return func(d, a *Lanes) {
			_, _ = *d, *a
			for i := range d {
				d[i] = uint64(math.Float32bits(float32(int64(uint32(a[i])))))
			}
		}
	case slices.Equal(c.Mods, []string{"rzi"}) && is(ptx.S32, ptx.F32):
		rare := floatToInt(c, dt, st)
		return func(d, a *Lanes) {
			_, _ = *d, *a
			for i := range d {
				if x := f32(a[i]); x > -0x1p31 && x < 0x1p31 {
					d[i] = uint64(uint32(int32(x)))
				} else {
					d[i] = rare(a[i])
				}
			}
		}
	case plain && is(ptx.F32, ptx.F32):
		return func(d, a *Lanes) { *d = *a } // NaNs as they are
	case plain && is(ptx.F32, ptx.F16):
		return func(d, a *Lanes) {
			_, _ = *d, *a
			for i := range d {
				d[i] = bits32(half.F16(a[i]).Float32())
			}
		}
	case plain && is(ptx.F32, ptx.BF16):
		return func(d, a *Lanes) {
			_, _ = *d, *a
			for i := range d {
				d[i] = a[i] & 0xffff << 16 // NaNs as they are
			}
		}
	case nearest && is(ptx.F16, ptx.F32):
		return func(d, a *Lanes) {
			_, _ = *d, *a
			for i := range d {
				d[i] = f32ToF16(a[i])
			}
		}
	case nearest && is(ptx.BF16, ptx.F32):
		return func(d, a *Lanes) {
			_, _ = *d, *a
			for i := range d {
				d[i] = f32ToBF16(a[i])
			}
		}
	}
	return nil
}

func f32ToF16(u uint64) uint64 {
	h := half.F16FromFloat32(f32(u))
	if h.IsNaN() {
		return nan16
	}
	return uint64(h)
}

func f32ToBF16(u uint64) uint64 {
	h := half.BF16FromFloat32(f32(u))
	if h.IsNaN() {
		return nan16
	}
	return uint64(h)
}

// extendTo returns the bits of v in a register: those of type t, and above them
// the sign when t has one.
func (c *compiler) extendTo(t ptx.Type) func(v uint64) uint64 {
	w, register := Width(t), c.registerWidth(t)
	if isSigned(t) && register > w {
		return func(v uint64) uint64 { return uint64(signExtend(v, w)) & ones(register) }
	}
	return func(v uint64) uint64 { return v & ones(w) }
}

func intToInt(c *compiler, dt, st ptx.Type) func(uint64) uint64 {
	if !slices.Contains([]int{8, 16, 32, 64}, Width(st)) || !slices.Contains([]int{8, 16, 32, 64}, Width(dt)) {
		return nil
	}
	sw, sat, out := Width(st), c.has("sat"), c.extendTo(dt)
	return func(v uint64) uint64 {
		if isSigned(st) {
			v = uint64(signExtend(v, sw))
		} else {
			v &= ones(sw)
		}
		if sat {
			v = clampInt(v, isSigned(st), dt)
		}
		return out(v)
	}
}

// clampInt brings a number into the range of t.
func clampInt(v uint64, signed bool, t ptx.Type) uint64 {
	w := Width(t)
	largest := ones(w)
	if isSigned(t) {
		largest >>= 1
	}
	switch {
	case !signed || int64(v) >= 0:
		return min(v, largest)
	case !isSigned(t):
		return 0
	}
	return uint64(max(int64(v), -int64(largest)-1))
}

// integerModes round a float to an integer that is a float.
var integerModes = map[string]func(float64) float64{
	"rni": math.RoundToEven, "rzi": math.Trunc, "rmi": math.Floor, "rpi": math.Ceil,
	"rn": math.RoundToEven, "rz": math.Trunc, "rm": math.Floor, "rp": math.Ceil,
}

// toInteger is the integer rounding of the instruction, nil without.
func (c *compiler) toInteger(modes ...string) func(float64) float64 {
	for _, m := range modes {
		if c.has(m) {
			return integerModes[m]
		}
	}
	return nil
}

func floatToInt(c *compiler, dt, st ptx.Type) func(uint64) uint64 {
	load, round, out := loader(st, c.has("ftz")), c.toInteger("rni", "rzi", "rmi", "rpi", "rn", "rz", "rm", "rp"), c.extendTo(dt)
	if load == nil || round == nil || isPair(st) {
		return nil
	}
	w := Width(dt)
	// What is too large becomes the largest number. NaN becomes 0, or in 64 bits
	// the number with only the highest bit set.
	nan := uint64(0)
	if st == ptx.F64 || w == 64 {
		nan = 1 << (w - 1)
	}
	low, high := 0.0, math.Ldexp(1, w)
	largest := ones(w)
	if isSigned(dt) {
		low, high, largest = -math.Ldexp(1, w-1), math.Ldexp(1, w-1), largest>>1
	}
	return func(u uint64) uint64 {
		x := load(u)
		if x != x {
			return out(nan)
		}
		switch x = round(x); {
		case x >= high:
			return out(largest)
		case x <= low:
			return out(uint64(int64(low)))
		case x < 0:
			return out(uint64(int64(x)))
		}
		return out(uint64(x))
	}
}

func intToFloat(c *compiler, dt, st ptx.Type) func(uint64) uint64 {
	store, mode, sw := storer(c, dt), c.mode(), Width(st)
	if store == nil {
		return nil
	}
	return func(v uint64) uint64 {
		neg := false
		if isSigned(st) {
			if s := signExtend(v, sw); s < 0 {
				v, neg = uint64(-s), true
			} else {
				v = uint64(s)
			}
		} else {
			v &= ones(sw)
		}
		x := roundInt(v, neg, dt == ptx.F64, mode)
		if neg {
			x = -x
		}
		return store(x)
	}
}

// roundInt brings the magnitude v into 53 bits: rounded in the given mode when
// that is the result, and otherwise so that it can be rounded again.
func roundInt(v uint64, neg, final bool, mode half.Mode) float64 {
	drop := bits.Len64(v) - 53
	if drop <= 0 {
		return float64(v)
	}
	kept, rest, halfway := v>>drop, v&ones(drop), uint64(1)<<(drop-1)
	if !final {
		if rest != 0 {
			kept |= 1
		}
		return float64(kept << drop)
	}
	up := false
	switch mode {
	case half.NearestEven:
		up = rest > halfway || rest == halfway && kept&1 != 0
	case half.Downward:
		up = rest != 0 && neg
	case half.Upward:
		up = rest != 0 && !neg
	}
	if up {
		kept++
	}
	return math.Ldexp(float64(kept), drop)
}

// storer returns the function that rounds a float64 to a value of type t in the
// instruction's way.
func storer(c *compiler, t ptx.Type) func(float64) uint64 {
	mode, sat, relu, finite := c.mode(), c.has("sat"), c.has("relu"), c.has("satfinite")
	clamp := func(x float64) float64 {
		switch {
		case sat && !(x > 0):
			return 0
		case sat && x > 1:
			return 1
		case relu && x <= 0:
			return 0
		}
		return x
	}
	narrow := func(f half.Format, nan uint64) func(float64) uint64 {
		return func(x float64) uint64 {
			x = clamp(x)
			switch {
			case x != x:
				return nan
			case finite:
				return uint64(f.RoundFinite(x, mode))
			}
			return uint64(f.Round(x, mode))
		}
	}
	switch t {
	case ptx.F32:
		s := c.style32()
		return s.out
	case ptx.F64:
		return func(x float64) uint64 { return math.Float64bits(clamp(x)) }
	case ptx.F16, ptx.F16x2:
		return narrow(half.Binary16, nan16)
	case ptx.BF16, ptx.BF16x2:
		return narrow(half.BFloat16, nan16)
	case ptx.TF32:
		f := narrow(half.TF32, nan32>>13)
		return func(x float64) uint64 {
			return f(x) << 13
		}
	case ptx.E4M3, ptx.E4M3x2:
		return narrow(half.E4M3, 0x7f)
	case ptx.E5M2, ptx.E5M2x2:
		return narrow(half.E5M2, 0x7f)
	}
	return nil
}

func floatToFloat(c *compiler, dt, st ptx.Type) func(uint64) uint64 {
	load, store := loader(st, c.has("ftz") && st == ptx.F32), storer(c, dt)
	if load == nil || store == nil {
		return nil
	}
	round := c.toInteger("rni", "rzi", "rmi", "rpi")
	return func(u uint64) uint64 {
		x := load(u)
		if x != x && (dt == ptx.F64 || st == ptx.F64) && !c.has("sat") {
			if c.has("ftz") && st == ptx.F32 {
				u = nan32
			}
			return nanConvert(dt, st, u)
		}
		if x != x && dt == ptx.TF32 && c.has("rna") { // this mode works on the bits of a NaN, too
			if u &^= 0x1fff; c.has("satfinite") {
				u -= 0x2000
			}
			return u
		}
		if round != nil {
			x = round(x)
		}
		return store(x)
	}
}

// nanConvert is the NaN for a NaN u, to or from float64: it keeps its sign and as
// much of its payload as fits, and is quiet.
func nanConvert(dt, st ptx.Type, u uint64) uint64 {
	mantissa := func(t ptx.Type) int {
		switch t {
		case ptx.F16:
			return 10
		case ptx.BF16:
			return 7
		case ptx.F32:
			return 23
		}
		return 52
	}
	w, m := Width(dt), mantissa(dt)
	payload := u & ones(mantissa(st)) << (52 - mantissa(st)) >> (52 - m)
	return u>>(Width(st)-1)&1<<(w-1) | ones(w-1)&^ones(m) | 1<<(m-1) | payload
}

// compileCvtPair makes two numbers of 16 or 8 bits at once. The first source is
// the upper one.
func compileCvtPair(c *compiler) (Op, error) {
	dt, st := c.typ(0), c.typ(1)
	store := storer(c, dt)
	w := Width(dt) / 2
	if st == ptx.F32 {
		if s := c.Mods; slices.Equal(s, []string{"rn"}) && w == 16 {
			one := f32ToF16
			if dt == ptx.BF16x2 {
				one = f32ToBF16
			}
			return c.binary(func(d, a, b *Lanes) {
				_, _, _ = *d, *a, *b
				for i := range d {
					d[i] = one(a[i])<<16 | one(b[i])
				}
			}, dt, st, st)
		}
		load := loader(st, c.has("ftz"))
		return c.binary(map2(func(a, b uint64) uint64 { return store(load(a))<<w | store(load(b)) }), dt, st, st)
	}
	// A pair to a pair: between the 8-bit formats and binary16.
	var from func(uint64) float64
	sw := Width(st) / 2
	switch st {
	case ptx.E4M3x2:
		from = func(u uint64) float64 { return half.E4M3.Value(uint32(u & 0xff)) }
	case ptx.E5M2x2:
		from = func(u uint64) float64 { return half.E5M2.Value(uint32(u & 0xff)) }
	case ptx.F16x2, ptx.BF16x2:
		from = loader(st, false)
	}
	if from == nil || store == nil {
		return c.badType()
	}
	return c.unary(map1(func(a uint64) uint64 { return store(from(a>>sw))<<w | store(from(a)) }), dt, st)
}

// compileCvtPack saturates two integers and packs them, above them what c holds.
func compileCvtPack(c *compiler) (Op, error) {
	t, st := c.typ(0), c.typ(1)
	if st != ptx.S32 || !c.has("sat") {
		return c.badType()
	}
	w := Width(t)
	pack := func(a, b uint64) uint64 {
		clamp := func(v uint64) uint64 { return clampInt(uint64(int64(int32(v))), true, t) & ones(w) }
		return clamp(a)<<w | clamp(b)
	}
	switch {
	case w == 16 && len(c.Types) == 2:
		return c.binary(map2(pack), ptx.B32, st, st)
	case w == 8 && len(c.Types) == 3:
		return c.ternary(map3(func(a, b, z uint64) uint64 { return pack(a, b) | z&0xffff<<16 }), ptx.B32, st, st, ptx.B32)
	}
	return Op{}, fmt.Errorf("cvt.pack with the types %v is %w", c.Types, ErrUnsupported)
}

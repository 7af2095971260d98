package arith

import (
	"fmt"
	"slices"

	"github.com/warpbook/warpbook/cuda/half"
	"github.com/warpbook/warpbook/cuda/ptx"
)

// compiler is an instruction on its way to an Op.
type compiler struct {
	*ptx.Instruction
	regType func(int) ptx.Type
}

func (c *compiler) has(mod string) bool { return slices.Contains(c.Mods, mod) }

// typ is the i-th type of the instruction, Untyped when it has fewer.
func (c *compiler) typ(i int) ptx.Type {
	if i < len(c.Types) {
		return c.Types[i]
	}
	return ptx.Untyped
}

// allow refuses modifiers that are not listed: to ignore one would be to guess.
func (c *compiler) allow(mods ...string) error {
	for _, m := range c.Mods {
		if !slices.Contains(mods, m) {
			return fmt.Errorf("the modifier .%s of %s is %w", m, c.Op, ErrUnsupported)
		}
	}
	return nil
}

// badType is the error for an instruction that has no such type.
func (c *compiler) badType() (Op, error) {
	return Op{}, fmt.Errorf("%s with the types %v is %w", c.Op, c.Types, ErrUnsupported)
}

// fits checks that the instruction has as many operands as op.
func (c *compiler) fits(op Op) error {
	if len(c.Operands) == 0 {
		return nil // built by hand, for its function only
	}
	n := 0
	for _, o := range c.Operands {
		n += max(len(o.Elems), 1)
	}
	want := len(op.Src) + len(op.Dst)
	if len(op.Dst) == 2 && op.Dst[1] == ptx.Pred {
		want-- // p|q is one operand
	}
	if n != want {
		return fmt.Errorf("%s has %d operands here, not %d", c.Op, want, n)
	}
	return nil
}

// second reports whether the destination has a second part, as p|q has.
func (c *compiler) second() bool {
	return len(c.Operands) > 0 && (c.Operands[0].Kind == ptx.Reg || c.Operands[0].Kind == ptx.Sink) && c.Operands[0].Reg2 >= 0
}

// mode is the rounding mode of the instruction, to nearest even by default.
func (c *compiler) mode() half.Mode {
	for i, m := range []string{"rn", "rz", "rm", "rp", "rna"} {
		if c.has(m) {
			return half.Mode(i)
		}
	}
	return half.NearestEven
}

type (
	fn1 = func(d, a *Lanes)
	fn2 = func(d, a, b *Lanes)
	fn3 = func(d, a, b, c *Lanes)
)

// unary, binary and ternary make Ops whose types are given destination first. A
// nil function is an unsupported type.
func (c *compiler) unary(f fn1, types ...ptx.Type) (Op, error) {
	if f == nil {
		return c.badType()
	}
	return Op{Dst: types[:1], Src: types[1:2], Fn1: f}, nil
}

func (c *compiler) binary(f fn2, types ...ptx.Type) (Op, error) {
	if f == nil {
		return c.badType()
	}
	return Op{Dst: types[:1], Src: types[1:3], Fn2: f}, nil
}

func (c *compiler) ternary(f fn3, types ...ptx.Type) (Op, error) {
	if f == nil {
		return c.badType()
	}
	return Op{Dst: types[:1], Src: types[1:4], Fn3: f}, nil
}

// byType has the function for each integer type, nil where there is none.
// Untyped bits take those of unsigned numbers.
type byType[F any] struct{ u16, u32, u64, s16, s32, s64 F }

func (b byType[F]) of(t ptx.Type) (f F) {
	switch t {
	case ptx.U16, ptx.B16:
		return b.u16
	case ptx.U32, ptx.B32:
		return b.u32
	case ptx.U64, ptx.B64:
		return b.u64
	case ptx.S16:
		return b.s16
	case ptx.S32:
		return b.s32
	case ptx.S64:
		return b.s64
	}
	return f
}

// Loops over lanes begin with reading their operands' pointers: the compiler knows
// then that none is nil, and does not ask again for each lane.

// map1, map2 and map3 apply a function of single lanes. They serve what is rare:
// what is not has a loop of its own.
func map1(f func(a uint64) uint64) fn1 {
	return func(d, a *Lanes) {
		_, _ = *d, *a
		for i := range d {
			d[i] = f(a[i])
		}
	}
}

func map2(f func(a, b uint64) uint64) fn2 {
	return func(d, a, b *Lanes) {
		_, _, _ = *d, *a, *b
		for i := range d {
			d[i] = f(a[i], b[i])
		}
	}
}

func map3(f func(a, b, c uint64) uint64) fn3 {
	return func(d, a, b, c *Lanes) {
		_, _, _, _ = *d, *a, *b, *c
		for i := range d {
			d[i] = f(a[i], b[i], c[i])
		}
	}
}

// pairs1, pairs2 and pairs3 apply a function of 16-bit values to both halves of
// 32-bit ones.
func pairs1(f func(a uint64) uint64) fn1 {
	return map1(func(a uint64) uint64 { return f(a&0xffff) | f(a>>16&0xffff)<<16 })
}

func pairs2(f func(a, b uint64) uint64) fn2 {
	return map2(func(a, b uint64) uint64 {
		return f(a&0xffff, b&0xffff) | f(a>>16&0xffff, b>>16&0xffff)<<16
	})
}

func pairs3(f func(a, b, c uint64) uint64) fn3 {
	return map3(func(a, b, c uint64) uint64 {
		return f(a&0xffff, b&0xffff, c&0xffff) | f(a>>16&0xffff, b>>16&0xffff, c>>16&0xffff)<<16
	})
}

func isSigned(t ptx.Type) bool {
	switch t {
	case ptx.S8, ptx.S16, ptx.S32, ptx.S64, ptx.S16x2:
		return true
	}
	return false
}

func isFloat(t ptx.Type) bool {
	switch t {
	case ptx.F16, ptx.F16x2, ptx.BF16, ptx.BF16x2, ptx.TF32, ptx.F32, ptx.F64,
		ptx.E4M3, ptx.E5M2, ptx.E4M3x2, ptx.E5M2x2:
		return true
	}
	return false
}

// isHalf reports whether t is a 16-bit float or two of them.
func isHalf(t ptx.Type) bool {
	return t == ptx.F16 || t == ptx.F16x2 || t == ptx.BF16 || t == ptx.BF16x2
}

// isPair reports whether t is two 16-bit values.
func isPair(t ptx.Type) bool {
	switch t {
	case ptx.F16x2, ptx.BF16x2, ptx.U16x2, ptx.S16x2:
		return true
	}
	return false
}

// wide is the type with twice the bits.
func wide(t ptx.Type) ptx.Type {
	switch t {
	case ptx.U16:
		return ptx.U32
	case ptx.S16:
		return ptx.S32
	case ptx.U32:
		return ptx.U64
	case ptx.S32:
		return ptx.S64
	}
	return ptx.Untyped
}

// signExtend reads the low n bits as a two's complement number.
func signExtend(v uint64, n int) int64 { return int64(v<<(64-n)) >> (64 - n) }

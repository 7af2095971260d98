// Package arith computes what PTX's arithmetic instructions compute.
//
// Compile turns an instruction that touches neither memory nor control nor other
// lanes into an Op: a Go function over the 32 lanes of a warp. The function
// computes every lane, whether it takes part or not, and fails for no input:
// what PTX leaves undefined (a division by zero) has some result. Who executes it
// keeps the lanes that take part.
//
// A value lies in the low bits of its lane and the bits above are zero: floats as
// their bits, two halves with the first in the lower 16 bits. Sources and
// destinations are numbered in the order of the instruction's text, the elements
// of vectors one by one. Results are those of the hardware where PTX leaves a
// choice: the functions whose name begins with nan say which NaN.
package arith

import (
	"errors"
	"fmt"
	"math"

	"github.com/warpbook/warpbook/cuda/half"
	"github.com/warpbook/warpbook/cuda/ptx"
)

// Lanes is a register of a warp: one value a lane.
type Lanes = [32]uint64

// Mask is a predicate of a warp: one bit a lane.
type Mask = uint32

// Op is what an instruction computes. Exactly one of the functions is set. A
// destination may be the same register as a source.
type Op struct {
	// Types of destinations and sources. Those of type Pred are masks. A literal
	// source i has the bits Immediate(Src[i], operand).
	Dst, Src []ptx.Type

	Fn1   func(d, a *Lanes)
	Fn2   func(d, a, b *Lanes)
	Fn3   func(d, a, b, c *Lanes)
	Cmp   func(a, b *Lanes) Mask       // one predicate of two values
	Sel   func(d, a, b *Lanes, p Mask) // a where p, b elsewhere
	Logic func(a, b Mask) Mask         // of predicates; b is ignored when there is one source
	Any   func(x *Args)                // everything else
}

// Args are the operands of Op.Any, at the index that their types have in Op.Dst
// and Op.Src.
type Args struct {
	D  [8]*Lanes // nil for a destination that is not wanted, and for predicates
	DP [8]Mask   // resulting predicates
	S  [8]*Lanes
	SP [8]Mask
	// Carry is the carry flag, read and written by add.cc and its like.
	Carry Mask
}

// ErrUnsupported is wrapped by the errors of Compile.
var ErrUnsupported = errors.New("not supported by the simulator")

// Known reports whether op is an arithmetic opcode, one that Compile may accept.
func Known(op string) bool { return builders[op] != nil }

// Compile prepares an instruction. The type of a register decides how far a
// result narrower than it is extended; regType tells it.
func Compile(in *ptx.Instruction, regType func(r int) ptx.Type) (Op, error) {
	build := builders[in.Op]
	if build == nil {
		return Op{}, fmt.Errorf("%q: the instruction %s is %w", in.Text, in.Op, ErrUnsupported)
	}
	c := &compiler{Instruction: in, regType: regType}
	op, err := build(c)
	if err != nil {
		return Op{}, fmt.Errorf("%q: %w", in.Text, err)
	}
	if err := c.fits(op); err != nil {
		return Op{}, fmt.Errorf("%q: %w", in.Text, err)
	}
	return op, nil
}

// builders has the function that compiles each opcode. It is never written.
var builders map[string]func(*compiler) (Op, error)

func init() {
	builders = map[string]func(*compiler) (Op, error){
		"add": compileAdd, "sub": compileAdd, "mul": compileMul, "mad": compileMad, "fma": compileFma,
		"addc": compileCarry, "subc": compileCarry, "madc": compileCarry,
		"mul24": compileMul24, "mad24": compileMul24, "sad": compileSad,
		"div": compileDiv, "rem": compileRem, "abs": compileAbs, "neg": compileNeg,
		"min": compileMinMax, "max": compileMinMax,
		"popc": compileCount, "clz": compileCount, "bfind": compileBfind, "fns": compileFns,
		"brev": compileBrev, "bfe": compileBfe, "bfi": compileBfi, "bmsk": compileBmsk, "szext": compileSzext,
		"dp4a": compileDot, "dp2a": compileDot,
		"shl": compileShift, "shr": compileShift, "shf": compileFunnel, "prmt": compilePrmt, "lop3": compileLop3,
		"and": compileLogic, "or": compileLogic, "xor": compileLogic, "not": compileLogic, "cnot": compileCnot,
		"selp": compileSelp, "slct": compileSlct, "set": compileSet, "setp": compileSetp,
		"testp": compileTestp, "copysign": compileCopysign,
		"mov": compileMov, "cvt": compileCvt,
		"rcp": compileRcp, "sqrt": compileSqrt, "rsqrt": compileRsqrt,
		"sin": compileApprox, "cos": compileApprox, "lg2": compileApprox, "ex2": compileApprox, "tanh": compileApprox,
	}
}

// Width is the number of bits of a value of type t: 1 for a predicate.
func Width(t ptx.Type) int {
	switch t {
	case ptx.Pred, ptx.B1:
		return 1
	case ptx.S4, ptx.U4:
		return 4
	case ptx.B8, ptx.U8, ptx.S8, ptx.E4M3, ptx.E5M2:
		return 8
	case ptx.B16, ptx.U16, ptx.S16, ptx.F16, ptx.BF16, ptx.E4M3x2, ptx.E5M2x2:
		return 16
	case ptx.B64, ptx.U64, ptx.S64, ptx.F64, ptx.F32x2:
		return 64
	case ptx.B128:
		return 128
	}
	return 32
}

// Immediate is the bits of a literal operand that stands for a value of type t.
func Immediate(t ptx.Type, o ptx.Operand) uint64 {
	v := o.Bits
	switch {
	case !o.Float && (t == ptx.F32 || t == ptx.TF32):
		// A whole number where a float is wanted is that number.
		v = uint64(math.Float32bits(float32(int64(v))))
	case !o.Float && t == ptx.F64:
		v = math.Float64bits(float64(int64(v)))
	case o.Float && t == ptx.F64 && o.F32:
		v = math.Float64bits(float64(math.Float32frombits(uint32(v))))
	case o.Float && !o.F32 && Width(t) == 32:
		v = uint64(math.Float32bits(float32(math.Float64frombits(v))))
	case o.Float && (t == ptx.F16 || t == ptx.BF16):
		f := math.Float64frombits(v)
		if o.F32 {
			f = float64(math.Float32frombits(uint32(v)))
		}
		v = uint64(half.F16FromFloat64(f))
		if t == ptx.BF16 {
			v = uint64(half.BF16FromFloat64(f))
		}
	}
	return v & ones(Width(t))
}

// ones is a mask of the n lowest bits.
func ones(n int) uint64 {
	if n >= 64 {
		return math.MaxUint64
	}
	return 1<<n - 1
}

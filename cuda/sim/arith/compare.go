package arith

import (
	"fmt"
	"math"

	"github.com/warpbook/warpbook/cuda/half"
	"github.com/warpbook/warpbook/cuda/ptx"
)

// WarpSize is the number of lanes.
const WarpSize = 32

// The masks of lanes for which a comparison holds. They have no branches, which
// a processor would guess wrong half of the time.

func less[T integer](a, b *Lanes) (m Mask) {
	_, _ = *a, *b
	for i := WarpSize - 1; i >= 0; i-- {
		t := Mask(0)
		if T(a[i]) < T(b[i]) {
			t = 1
		}
		m = m<<1 | t
	}
	return m
}

func lessEqual[T integer](a, b *Lanes) Mask { return ^less[T](b, a) }

func equal[T integer](a, b *Lanes) (m Mask) {
	_, _ = *a, *b
	for i := WarpSize - 1; i >= 0; i-- {
		t := Mask(0)
		if T(a[i]) == T(b[i]) {
			t = 1
		}
		m = m<<1 | t
	}
	return m
}

func lessF32(a, b *Lanes) (m Mask) {
	_, _ = *a, *b
	for i := WarpSize - 1; i >= 0; i-- {
		t := Mask(0)
		if f32(a[i]) < f32(b[i]) {
			t = 1
		}
		m = m<<1 | t
	}
	return m
}

func lessEqualF32(a, b *Lanes) (m Mask) {
	_, _ = *a, *b
	for i := WarpSize - 1; i >= 0; i-- {
		t := Mask(0)
		if f32(a[i]) <= f32(b[i]) {
			t = 1
		}
		m = m<<1 | t
	}
	return m
}

func equalF32(a, b *Lanes) (m Mask) {
	_, _ = *a, *b
	for i := WarpSize - 1; i >= 0; i-- {
		t := Mask(0)
		if f32(a[i]) == f32(b[i]) {
			t = 1
		}
		m = m<<1 | t
	}
	return m
}

// relation is the basic comparisons of a type; the others follow from them.
type relation struct {
	less, lessEqual, equal func(a, b *Lanes) Mask
	ordered                func(a, b *Lanes) Mask // neither is NaN; nil for integers
}

func integers[T integer]() relation {
	return relation{less: less[T], lessEqual: lessEqual[T], equal: equal[T]}
}

// floats are the comparisons of numbers that load reads.
func floats(load func(uint64) float64) relation {
	by := func(f func(x, y float64) bool) func(a, b *Lanes) Mask {
		return func(a, b *Lanes) (m Mask) {
			_, _ = *a, *b
			for i := range a {
				if f(load(a[i]), load(b[i])) {
					m |= 1 << i
				}
			}
			return m
		}
	}
	return relation{
		less:      by(func(x, y float64) bool { return x < y }),
		lessEqual: by(func(x, y float64) bool { return x <= y }),
		equal:     by(func(x, y float64) bool { return x == y }),
		ordered:   by(func(x, y float64) bool { return x == x && y == y }),
	}
}

// loader reads a float of type t, the lower one of a pair.
func loader(t ptx.Type, ftz bool) func(uint64) float64 {
	switch t {
	case ptx.F32, ptx.TF32:
		if ftz {
			return func(u uint64) float64 { return float64(f32(flush32(u))) }
		}
		return func(u uint64) float64 { return float64(f32(u)) }
	case ptx.F64:
		return math.Float64frombits
	case ptx.F16, ptx.F16x2:
		if ftz {
			return func(u uint64) float64 { return half.F16(flush16(uint16(u))).Float64() }
		}
		return func(u uint64) float64 { return float64(half.F16(u).Float32()) }
	case ptx.BF16, ptx.BF16x2:
		return func(u uint64) float64 { return float64(half.BF16(u).Float32()) }
	}
	return nil
}

func relationOf(t ptx.Type, ftz bool) relation {
	switch t {
	case ptx.F32:
		if !ftz {
			r := floats(loader(t, false))
			r.less, r.lessEqual, r.equal = lessF32, lessEqualF32, equalF32
			return r
		}
		return floats(loader(t, true))
	case ptx.F64, ptx.F16, ptx.F16x2, ptx.BF16, ptx.BF16x2:
		return floats(loader(t, ftz))
	}
	return byType[relation]{integers[uint16](), integers[uint32](), integers[uint64](),
		integers[int16](), integers[int32](), integers[int64]()}.of(t)
}

// is returns the comparison that PTX calls by name, nil when the type has none.
func (r relation) is(name string) func(a, b *Lanes) Mask {
	if r.less == nil {
		return nil
	}
	not := func(f func(a, b *Lanes) Mask) func(a, b *Lanes) Mask {
		return func(a, b *Lanes) Mask { return ^f(a, b) }
	}
	swap := func(f func(a, b *Lanes) Mask) func(a, b *Lanes) Mask {
		return func(a, b *Lanes) Mask { return f(b, a) }
	}
	switch name {
	case "lt", "lo":
		return r.less
	case "le", "ls":
		return r.lessEqual
	case "gt", "hi":
		return swap(r.less)
	case "ge", "hs":
		return swap(r.lessEqual)
	case "eq":
		return r.equal
	case "ne":
		if r.ordered != nil {
			return func(a, b *Lanes) Mask { return r.ordered(a, b) &^ r.equal(a, b) }
		}
		return not(r.equal)
	}
	if r.ordered == nil {
		return nil
	}
	switch name {
	case "ltu":
		return not(swap(r.lessEqual))
	case "leu":
		return not(swap(r.less))
	case "gtu":
		return not(r.lessEqual)
	case "geu":
		return not(r.less)
	case "equ":
		return func(a, b *Lanes) Mask { return r.equal(a, b) | ^r.ordered(a, b) }
	case "neu":
		return not(r.equal)
	case "num":
		return r.ordered
	case "nan":
		return not(r.ordered)
	}
	return nil
}

// boolOp is the operation that combines predicates, nil for other names.
func boolOp(name string) func(a, b Mask) Mask {
	switch name {
	case "and":
		return func(a, b Mask) Mask { return a & b }
	case "or":
		return func(a, b Mask) Mask { return a | b }
	case "xor":
		return func(a, b Mask) Mask { return a ^ b }
	}
	return nil
}

// comparison reads the modifiers of setp and set: what is compared, and how the
// result is combined with a third operand.
func (c *compiler) comparison(t ptx.Type) (low, high func(a, b *Lanes) Mask, combine func(a, b Mask) Mask, err error) {
	name := ""
	for _, m := range c.Mods {
		if f := boolOp(m); f != nil {
			combine = f
		} else if m != "ftz" && name == "" {
			name = m
		} else if m != "ftz" {
			return nil, nil, nil, fmt.Errorf("the modifier .%s of %s is %w", m, c.Op, ErrUnsupported)
		}
	}
	low = relationOf(t, c.has("ftz")).is(name)
	if low == nil {
		return nil, nil, nil, fmt.Errorf("the comparison .%s of %v is %w", name, c.Types, ErrUnsupported)
	}
	if isPair(t) {
		load := loader(t, c.has("ftz"))
		high = floats(func(u uint64) float64 { return load(u >> 16) }).is(name)
	}
	return low, high, combine, nil
}

func compileSetp(c *compiler) (Op, error) {
	t := c.typ(0)
	low, high, combine, err := c.comparison(t)
	if err != nil {
		return Op{}, err
	}
	if combine == nil && high == nil && !c.second() {
		return Op{Dst: []ptx.Type{ptx.Pred}, Src: []ptx.Type{t, t}, Cmp: low}, nil
	}
	op := Op{Dst: []ptx.Type{ptx.Pred, ptx.Pred}, Src: []ptx.Type{t, t}}
	if combine != nil {
		op.Src = append(op.Src, ptx.Pred)
	}
	op.Any = func(x *Args) {
		p := low(x.S[0], x.S[1])
		q := ^p
		if high != nil {
			q = high(x.S[0], x.S[1])
		}
		if combine != nil {
			p, q = combine(p, x.SP[2]), combine(q, x.SP[2])
		}
		x.DP[0], x.DP[1] = p, q
	}
	return op, nil
}

// compileSet is for set: all ones, or one as a float, where the comparison holds.
func compileSet(c *compiler) (Op, error) {
	dt, st := c.typ(0), c.typ(1)
	low, high, combine, err := c.comparison(st)
	if err != nil {
		return Op{}, err
	}
	one := map[ptx.Type]uint64{ptx.U16: 0xffff, ptx.S16: 0xffff, ptx.U32: 0xffffffff, ptx.S32: 0xffffffff,
		ptx.F16: 0x3c00, ptx.F16x2: 0x3c00, ptx.BF16: 0x3f80, ptx.BF16x2: 0x3f80, ptx.F32: 0x3f800000}[dt]
	if one == 0 || isPair(dt) != isPair(st) && !(isPair(st) && one == ones(32)) {
		return c.badType()
	}
	if high != nil {
		one &= 0xffff // of each half
	}
	op := Op{Dst: []ptx.Type{dt}, Src: []ptx.Type{st, st}}
	if combine != nil {
		op.Src = append(op.Src, ptx.Pred)
	}
	op.Any = func(x *Args) {
		p, q := low(x.S[0], x.S[1]), Mask(0)
		if high != nil {
			q = high(x.S[0], x.S[1])
		}
		if combine != nil {
			p = combine(p, x.SP[2])
			if high != nil {
				q = combine(q, x.SP[2])
			}
		}
		for i := range x.D[0] {
			x.D[0][i] = -uint64(p>>i&1)&one | -uint64(q>>i&1)&one<<16
		}
	}
	return op, nil
}

func selectLanes(d, a, b *Lanes, p Mask) {
	_, _, _ = *d, *a, *b
	for i := range d {
		m := -uint64(p & 1)
		p >>= 1
		d[i] = a[i]&m | b[i]&^m
	}
}

func compileSelp(c *compiler) (Op, error) {
	if err := c.allow(); err != nil {
		return Op{}, err
	}
	t := c.typ(0)
	return Op{Dst: []ptx.Type{t}, Src: []ptx.Type{t, t, ptx.Pred}, Sel: selectLanes}, nil
}

// compileSlct chooses by the sign of the third operand; NaN chooses the second.
func compileSlct(c *compiler) (Op, error) {
	if err := c.allow("ftz"); err != nil {
		return Op{}, err
	}
	t, by, ftz := c.typ(0), c.typ(1), c.has("ftz")
	if by != ptx.S32 && by != ptx.F32 {
		return c.badType()
	}
	return c.ternary(map3(func(a, b, v uint64) uint64 {
		if by == ptx.F32 {
			if ftz {
				v = flush32(v)
			}
			if f32(v) >= 0 {
				return a
			}
			return b
		}
		if int32(v) >= 0 {
			return a
		}
		return b
	}), t, t, t, by)
}

// compileTestp asks what kind of number a float is.
func compileTestp(c *compiler) (Op, error) {
	t := c.typ(0)
	if (t != ptx.F32 && t != ptx.F64) || len(c.Mods) != 1 {
		return c.badType()
	}
	exp, man := 8, 23
	if t == ptx.F64 {
		exp, man = 11, 52
	}
	infinite, normal := ones(exp)<<man, uint64(1)<<man
	test := map[string]func(magnitude uint64) bool{
		"finite":     func(m uint64) bool { return m < infinite },
		"infinite":   func(m uint64) bool { return m == infinite },
		"number":     func(m uint64) bool { return m <= infinite },
		"notanumber": func(m uint64) bool { return m > infinite },
		"normal":     func(m uint64) bool { return m == 0 || m >= normal && m < infinite }, // zero too, on an H200
		"subnormal":  func(m uint64) bool { return m < normal && m != 0 },
	}[c.Mods[0]]
	if test == nil {
		return Op{}, c.allow()
	}
	return Op{Dst: []ptx.Type{ptx.Pred}, Src: []ptx.Type{t}, Any: func(x *Args) {
		var p Mask
		for i, v := range x.S[0] {
			if test(v & ones(exp+man)) {
				p |= 1 << i
			}
		}
		x.DP[0] = p
	}}, nil
}

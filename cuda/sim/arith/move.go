package arith

import "github.com/warpbook/warpbook/cuda/ptx"

func copyLanes(d, a *Lanes) { *d = *a }

// compileMov is for copies, and for the vectors whose elements are the parts of
// one register.
func compileMov(c *compiler) (Op, error) {
	if err := c.allow(); err != nil {
		return Op{}, err
	}
	t := c.typ(0)
	if t == ptx.Pred {
		return Op{Dst: []ptx.Type{t}, Src: []ptx.Type{t}, Logic: func(a, _ Mask) Mask { return a }}, nil
	}
	if t == ptx.B128 {
		return c.badType()
	}
	into, from := 0, 0
	if len(c.Operands) == 2 {
		into, from = len(c.Operands[0].Elems), len(c.Operands[1].Elems)
	}
	switch {
	case into == 0 && from == 0:
		return Op{Dst: []ptx.Type{t}, Src: []ptx.Type{t}, Fn1: copyLanes}, nil
	case into > 0 && from > 0:
		return c.badType()
	}
	n := into + from
	part := map[int]ptx.Type{8: ptx.B8, 16: ptx.B16, 32: ptx.B32}[Width(t)/n]
	if part == ptx.Untyped || Width(t)%n != 0 {
		return c.badType()
	}
	parts := make([]ptx.Type, n)
	for i := range parts {
		parts[i] = part
	}
	w := Width(part)
	if into == 2 && w == 16 {
		return Op{Dst: parts, Src: []ptx.Type{t}, Any: func(x *Args) { part16(x.D[0], x.D[1], x.S[0]) }}, nil
	}
	if into > 0 {
		return Op{Dst: parts, Src: []ptx.Type{t}, Any: func(x *Args) {
			a := *x.S[0]
			for k := range n {
				if d := x.D[k]; d != nil {
					for i := range d {
						d[i] = a[i] >> (k * w) & ones(w)
					}
				}
			}
		}}, nil
	}
	if n == 2 && w == 32 {
		return Op{Dst: []ptx.Type{t}, Src: parts, Fn2: join32}, nil
	}
	if n == 2 && w == 16 {
		return Op{Dst: []ptx.Type{t}, Src: parts, Fn2: join16}, nil
	}
	return Op{Dst: []ptx.Type{t}, Src: parts, Any: func(x *Args) {
		for i := range x.D[0] {
			v := uint64(0)
			for k := range n {
				v |= x.S[k][i] & ones(w) << (k * w)
			}
			x.D[0][i] = v
		}
	}}, nil
}

func join32(d, a, b *Lanes) {
	_, _, _ = *d, *a, *b
	for i := range d {
		d[i] = a[i] | b[i]<<32
	}
}

func join16(d, a, b *Lanes) {
	_, _, _ = *d, *a, *b
	for i := range d {
		d[i] = a[i]&0xffff | b[i]&0xffff<<16
	}
}

func part16(low, high, a *Lanes) {
	if low != nil {
		for i := range low {
			low[i] = a[i] & 0xffff
		}
	}
	if high != nil {
		for i := range high {
			high[i] = a[i] >> 16 & 0xffff
		}
	}
}

package sim

import (
	"fmt"

	"github.com/warpbook/warpbook/cuda/ptx"
	"github.com/warpbook/warpbook/cuda/sim/arith"
)

// wmma decodes wmma.load, wmma.store and wmma.mma: multiply-adds of matrices whose
// places in the registers the program does not know.
func (d *decoder) wmma(in *Inst) error {
	p := in.PTX
	var m, n, k int
	part, sat := "", false
	var orders []string
	for _, mod := range p.Mods {
		switch mod {
		case "sync", "aligned", "rn", "load", "store", "mma", "global", "shared", "shared::cta":
		case "a", "b", "c", "d":
			part = mod
		case "row", "col":
			orders = append(orders, mod)
		case "satfinite":
			sat = true
		default:
			if _, err := fmt.Sscanf(mod, "m%dn%dk%d", &m, &n, &k); err != nil {
				return fmt.Errorf("wmma with the modifier .%s", mod)
			}
		}
	}
	if p.Has("mma") {
		return d.wmmaMultiply(in, m, n, k, sat)
	}
	rows, cols := m, n
	switch part {
	case "a":
		cols = k
	case "b":
		rows = k
	}
	if rows*cols == 0 || len(orders) != 1 || len(p.Types) != 1 || part == "" {
		return fmt.Errorf("wmma of %v", p.Types)
	}
	return d.wmmaMemory(in, rows, cols, orders[0] == "row")
}

func (d *decoder) wmmaMultiply(in *Inst, m, n, k int, sat bool) error {
	p := in.PTX
	if err := operands(in, 4, 4); err != nil {
		return err
	}
	types := p.Types
	if len(types) == 2 { // D and C; the factors are halves
		types = []ptx.Type{types[0], ptx.F16, ptx.F16, types[1]}
	}
	if len(types) != 4 {
		return fmt.Errorf("wmma.mma of %v", p.Types)
	}
	f, err := arith.NewFragments(m, n, k, types[0], types[1], types[2], types[3], d.m.dev.cfg.Capability)
	if err != nil {
		return err
	}
	f.Sat = sat
	elems := []int{m * n, m * k, k * n, m * n}
	var count [4]int
	for i, o := range p.Operands {
		list := elements(o)
		count[i] = len(list)
		if n := len(list) * WarpSize * max(32/arith.Width(types[i]), 1); n < elems[i] || len(list) > 8 {
			return fmt.Errorf("%d registers for a matrix of %d elements", len(list), elems[i])
		}
		if i == 0 {
			if err := d.places(in, list); err != nil {
				return err
			}
		} else if err := d.sources(in, ptx.B32, list...); err != nil {
			return err
		}
	}
	work := int64(m*n*k - WarpSize)
	d.collective(in, -1, func(w *Warp, s *split, m Mask) {
		var regs [24]*Lanes
		for i := range in.src {
			regs[i] = s.get(w, &in.src[i])
		}
		var out [8]*Lanes
		for i := range in.dst {
			out[i] = &w.scratch[i]
		}
		na, nb := count[1], count[2]
		f.Multiply(out[:count[0]], regs[:na], regs[na:na+nb], regs[na+nb:len(in.src)])
		for i, dst := range in.dst {
			s.set(dst, m, out[i])
		}
		w.block.launch.extra.Add(work)
	})
	return nil
}

// places decodes destinations.
func (d *decoder) places(in *Inst, list []ptx.Operand) error {
	for _, o := range list {
		dst, err := d.place(o)
		if err != nil {
			return err
		}
		in.dst = append(in.dst, dst)
	}
	return nil
}

// wmmaMemory decodes wmma.load and wmma.store: registers and address, or the other
// way round, and the distance of rows or columns.
func (d *decoder) wmmaMemory(in *Inst, rows, cols int, byRow bool) error {
	p := in.PTX
	if err := operands(in, 2, 3); err != nil {
		return err
	}
	load := p.Has("load")
	regs, addr := elements(p.Operands[0]), p.Operands[1]
	if !load {
		regs, addr = elements(p.Operands[1]), p.Operands[0]
	}
	if len(regs) > 8 {
		return fmt.Errorf("%d registers", len(regs))
	}
	in.space = p.Space
	if err := d.address(in, addr); err != nil {
		return err
	}
	stride := constant(uint64(rows))
	if byRow {
		stride = constant(uint64(cols))
	}
	if len(p.Operands) == 3 {
		var err error
		if stride, err = d.source(p.Operands[2], ptx.U32); err != nil {
			return err
		}
	}
	t := p.Types[0]
	bytes := arith.Width(t) / 8
	if bytes == 0 {
		return fmt.Errorf("wmma of %v", t)
	}
	if in.space != ptx.Global {
		d.k.granule = min(d.k.granule, bytes)
	}
	if load {
		if err := d.places(in, regs); err != nil {
			return err
		}
	} else if err := d.sources(in, ptx.B32, regs...); err != nil {
		return err
	}
	per := max(32/arith.Width(t), 1)
	d.collective(in, -1, func(w *Warp, s *split, m Mask) {
		base, ld := *w.addresses(s, &in.addr, in.offset), *s.get(w, &stride)
		space := in.space
		if space == ptx.Generic {
			same := m
			if space, same = w.resolve(&base, m); same != m {
				w.block.fatal(w, in, m&^same, OutOfBounds, "the threads' addresses are in different spaces")
				return
			}
		}
		for r := range regs {
			v := &w.scratch[r]
			if load {
				*v = Lanes{}
			} else {
				*v = *s.get(w, &in.src[r])
			}
			for e := range per {
				var addr Lanes
				for l := range addr {
					element := ((r*WarpSize+l)*per + e) % (rows * cols)
					row, col := uint64(element/cols), uint64(element%cols)
					at := col*ld[l] + row
					if byRow {
						at = row*ld[l] + col
					}
					addr[l] = base[l] + at*uint64(bytes)
				}
				w.wmmaElements(s, in, space, &addr, m, v, bytes, e*8*bytes, load)
			}
		}
		for i, dst := range in.dst {
			s.set(dst, m, &w.scratch[i])
		}
	})
	return nil
}

// wmmaElements loads or stores an element of each lane's register.
func (w *Warp) wmmaElements(s *split, in *Inst, space ptx.Space, addr *Lanes, m Mask, v *Lanes, bytes, shift int, load bool) {
	kind := Store
	if load {
		kind = Load
	}
	good := w.touch(s, in, space, addr, m, kind, bytes)
	for l := range v {
		switch {
		case good>>l&1 == 0:
		case load:
			v[l] |= peek(w.ptrs[l], bytes) << shift
		default:
			poke(w.ptrs[l], bytes, v[l]>>shift)
		}
	}
}

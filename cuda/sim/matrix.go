package sim

import (
	"fmt"
	"unsafe"

	"github.com/warpbook/warpbook/cuda/ptx"
)

// matrices reads what ldmatrix and stmatrix have in common: how many 8 by 8
// matrices of 16-bit numbers, and whether rows become columns.
func (d *decoder) matrices(in *Inst, addr ptx.Operand, regs []ptx.Operand) (n int, trans bool, err error) {
	p := in.PTX
	for _, mod := range p.Mods {
		switch mod {
		case "sync", "aligned", "m8n8", "shared", "shared::cta":
		case "x1":
			n = 1
		case "x2":
			n = 2
		case "x4":
			n = 4
		case "trans":
			trans = true
		default:
			return 0, false, fmt.Errorf("%s with the modifier .%s", p.Op, mod)
		}
	}
	if p.Type() != ptx.B16 || n == 0 {
		return 0, false, fmt.Errorf("%s of %v", p.Op, p.Types)
	}
	if len(regs) != n {
		return 0, false, fmt.Errorf("%d registers for %d matrices", len(regs), n)
	}
	in.space = p.Space
	return n, trans, d.address(in, addr)
}

// rows checks the addresses of the matrices' rows, which the first lanes give:
// lane 8*i+r that of row r of matrix i. Pointers are in w.ptrs.
func (w *Warp) rows(s *split, in *Inst, n int, kind AccessKind) (good Mask) {
	m := Full >> (WarpSize - 8*n)
	addr, space := w.addresses(s, &in.addr, in.offset), in.space
	if space == ptx.Generic {
		same := m
		if space, same = w.resolve(addr, m); same != m || space != ptx.Shared {
			w.block.fatal(w, in, m&^same, OutOfBounds, opText(in)+" with an address that is not in shared memory")
			return 0
		}
	}
	return w.touch(s, in, space, addr, m, kind, 16)
}

// ldmatrix loads matrices so that they lie as mma wants them: lane l has elements
// 2*(l%4) and the next one of row l/4, or of that column.
func (d *decoder) ldmatrix(in *Inst) error {
	if err := operands(in, 2, 2); err != nil {
		return err
	}
	regs := elements(in.PTX.Operands[0])
	n, trans, err := d.matrices(in, in.PTX.Operands[1], regs)
	if err != nil {
		return err
	}
	for _, o := range regs {
		dst, err := d.place(o)
		if err != nil {
			return err
		}
		in.dst = append(in.dst, dst)
	}
	d.collective(in, -1, func(w *Warp, s *split, m Mask) {
		good := w.rows(s, in, n, Load)
		for i := range in.dst {
			v := &w.scratch[i]
			var tile [8][8]uint16
			for r := range tile {
				if good>>(8*i+r)&1 != 0 {
					tile[r] = *(*[8]uint16)(w.ptrs[8*i+r])
				}
			}
			for l := range v {
				if trans {
					v[l] = uint64(tile[l%4*2][l/4]) | uint64(tile[l%4*2+1][l/4])<<16
				} else {
					v[l] = uint64(tile[l/4][l%4*2]) | uint64(tile[l/4][l%4*2+1])<<16
				}
			}
		}
		for i, dst := range in.dst {
			s.set(dst, m, &w.scratch[i])
		}
	})
	return nil
}

// stmatrix is ldmatrix the other way round.
func (d *decoder) stmatrix(in *Inst) error {
	if err := operands(in, 2, 2); err != nil {
		return err
	}
	regs := elements(in.PTX.Operands[1])
	n, trans, err := d.matrices(in, in.PTX.Operands[0], regs)
	if err != nil {
		return err
	}
	if err := d.sources(in, ptx.B32, regs...); err != nil {
		return err
	}
	d.collective(in, -1, func(w *Warp, s *split, m Mask) {
		good := w.rows(s, in, n, Store)
		for i := range in.src {
			v := s.get(w, &in.src[i])
			var tile [8][8]uint16
			for l, x := range v {
				if trans {
					tile[l%4*2][l/4], tile[l%4*2+1][l/4] = uint16(x), uint16(x>>16)
				} else {
					tile[l/4][l%4*2], tile[l/4][l%4*2+1] = uint16(x), uint16(x>>16)
				}
			}
			for r := range tile {
				if good>>(8*i+r)&1 != 0 {
					*(*[8]uint16)(unsafe.Pointer(w.ptrs[8*i+r])) = tile[r]
				}
			}
		}
	})
	return nil
}

// movmatrix transposes a matrix that lies in the lanes' registers.
func (d *decoder) movmatrix(in *Inst) error {
	if err := d.result(in, 2, 2); err != nil {
		return err
	}
	if in.PTX.Type() != ptx.B16 || !in.PTX.Has("trans") {
		return fmt.Errorf("movmatrix of %v", in.PTX.Types)
	}
	if err := d.sources(in, ptx.B32, in.PTX.Operands[1]); err != nil {
		return err
	}
	d.collective(in, -1, func(w *Warp, s *split, m Mask) {
		a, v := s.get(w, &in.src[0]), &w.scratch[0]
		element := func(row, col int) uint64 { return a[4*row+col/2] >> (col % 2 * 16) & 0xffff }
		for l := range v {
			v[l] = element(l%4*2, l/4) | element(l%4*2+1, l/4)<<16
		}
		s.set(in.dst[0], m, v)
	})
	return nil
}

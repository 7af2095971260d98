package sim

import (
	"fmt"

	"github.com/warpbook/warpbook/cuda/ptx"
	"github.com/warpbook/warpbook/cuda/sim/arith"
)

// mma decodes mma.sync: a warp's multiply-add of matrices that lie in its registers.
func (d *decoder) mma(in *Inst) error {
	p := in.PTX
	if err := operands(in, 4, 4); err != nil {
		return err
	}
	if len(p.Types) != 4 {
		return fmt.Errorf("mma with the types %v", p.Types)
	}
	var m, n, k int
	sat, xor := false, false
	var orders []string // of A and B; only m8n8k4 has others than row and col
	for _, mod := range p.Mods {
		switch mod {
		case "sync", "aligned", "and", "popc":
		case "row", "col":
			orders = append(orders, mod)
		case "satfinite":
			sat = true
		case "xor":
			xor = true
		default:
			if _, err := fmt.Sscanf(mod, "m%dn%dk%d", &m, &n, &k); err != nil {
				return fmt.Errorf("mma with the modifier .%s", mod)
			}
		}
	}
	t, err := arith.NewTensor(m, n, k, p.Types[0], p.Types[1], p.Types[2], p.Types[3], d.m.dev.cfg.Capability)
	if err != nil {
		return err
	}
	if len(orders) != 2 {
		return fmt.Errorf("mma without the order of its matrices")
	}
	t.Sat, t.Xor, t.ByCols, t.ByRows = sat, xor, orders[0] == "col", orders[1] == "row"
	nd, na, nb, nc := t.Registers()
	for i, want := range []int{nd, na, nb, nc} {
		list := elements(p.Operands[i])
		if len(list) != want {
			return fmt.Errorf("%d registers for a matrix that takes %d", len(list), want)
		}
		typ := ptx.B32
		if p.Types[i] == ptx.F64 {
			typ = ptx.F64
		}
		if i > 0 {
			if err := d.sources(in, typ, list...); err != nil {
				return err
			}
			continue
		}
		for _, o := range list {
			dst, err := d.place(o)
			if err != nil {
				return err
			}
			in.dst = append(in.dst, dst)
		}
	}
	work := int64(m*n*k - WarpSize) // beside the lanes that every instruction counts
	if nd*WarpSize > m*n {          // Volta's shape is four at once
		work += int64(3 * m * n * k)
	}
	d.collective(in, -1, func(w *Warp, s *split, m Mask) {
		var regs [24]*Lanes
		for i := range in.src {
			regs[i] = s.get(w, &in.src[i])
		}
		var out [8]*Lanes
		for i := range in.dst {
			out[i] = &w.scratch[i]
		}
		t.Multiply(out[:nd], regs[:na], regs[na:na+nb], regs[na+nb:na+nb+nc])
		for i, dst := range in.dst {
			s.set(dst, m, out[i])
		}
		w.block.launch.extra.Add(work)
	})
	return nil
}

// elements are the parts of a vector operand, or the operand.
func elements(o ptx.Operand) []ptx.Operand {
	if o.Kind == ptx.Vector {
		return o.Elems
	}
	return []ptx.Operand{o}
}

package sim

import (
	"fmt"
	"math/bits"

	"github.com/warpbook/warpbook/cuda/ptx"
)

// mapa turns an address in shared memory into that of the same place in another
// block of the cluster.
func (d *decoder) mapa(in *Inst) error {
	if err := d.result(in, 3, 3); err != nil {
		return err
	}
	p := in.PTX
	window := uint64(0)
	if !p.HasSpace {
		window = sharedWindow // generic addresses
	}
	addr := p.Operands[1]
	if addr.Kind == ptx.Symbol && !p.HasSpace {
		return fmt.Errorf("mapa of a variable without .shared::cluster")
	}
	in.op.Fn2 = func(d, a, b *Lanes) {
		for i := range d {
			d[i] = window + (a[i]-window)%sharedStride + (b[i]&0xffff+1)*sharedStride
		}
	}
	in.run = execFn2
	if err := d.sources(in, ptx.U64, addr); err != nil {
		return err
	}
	return d.sources(in, ptx.U32, p.Operands[2])
}

// getctarank is the rank of the block in whose shared memory an address lies.
func (d *decoder) getctarank(in *Inst) error {
	if err := d.result(in, 2, 2); err != nil {
		return err
	}
	window := uint64(0)
	if !in.PTX.HasSpace {
		window = sharedWindow
	}
	in.run = func(w *Warp, s *split, in *Inst, m Mask) {
		a, v := s.get(w, &in.src[0]), &w.scratch[0]
		for i := range v {
			v[i] = uint64(w.block.rank)
			if o := (a[i] - window) / sharedStride; o > 0 {
				v[i] = o - 1
			}
		}
		s.set(in.dst[0], m, v)
	}
	return d.sources(in, ptx.U64, in.PTX.Operands[1])
}

// clusterBarrier decodes barrier.cluster.arrive and barrier.cluster.wait. A thread
// that arrives may do other things before it waits.
func clusterBarrier(d *decoder, in *Inst) error {
	p := in.PTX
	for _, mod := range p.Mods {
		switch mod {
		case "cluster", "arrive", "wait", "release", "acquire", "relaxed", "aligned":
		default:
			return fmt.Errorf("barrier.cluster with the modifier .%s", mod)
		}
	}
	if err := operands(in, 0, 0); err != nil {
		return err
	}
	if p.Has("arrive") {
		in.run = func(w *Warp, s *split, in *Inst, m Mask) {
			c, u := w.block.cluster, w.underWay()
			for i := range u.phase {
				if m>>i&1 != 0 {
					u.phase[i] = int32(c.phase)
				}
			}
			c.arrived += bits.OnesCount32(m)
			c.last = in
			c.complete()
		}
		return nil
	}
	in.control = true
	in.run = func(w *Warp, s *split, in *Inst, m Mask) {
		c, u := w.block.cluster, w.underWay()
		over := func() bool {
			for i, phase := range u.phase {
				if m>>i&1 != 0 && int(phase) >= c.phase {
					return false
				}
			}
			return true
		}
		if over() {
			s.inst = nil
			return
		}
		t := w.fork(s, m)
		t.pc--
		t.state, t.inst, t.ready = polling, in, over
	}
	return nil
}

// exited is told that threads have ended: the barrier does not wait for them.
func (c *cluster) exited() { c.complete() }

// complete opens the cluster's barrier when all threads that live have arrived.
func (c *cluster) complete() {
	if c.arrived == 0 {
		return
	}
	live := 0
	for _, b := range c.blocks {
		live += b.live
	}
	if c.arrived < live {
		return
	}
	c.arrived = 0
	c.phase++
	for _, b := range c.blocks {
		if len(b.checkers) > 0 {
			b.sync(Sync{Kind: ClusterBarrier, Warps: b.warps, Mask: Full, Inst: c.last})
		}
	}
}

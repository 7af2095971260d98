package sim

import (
	"fmt"
	"time"
)

// specials is room for the values of special registers that are computed: one
// instruction may have as many of them as operands.
type specials struct {
	lanes [4]Lanes
	turn  int
}

func (s *specials) next() *Lanes {
	s.turn = (s.turn + 1) % len(s.lanes)
	return &s.lanes[s.turn]
}

// special finds the function that gives a special register's value.
func special(name string) (func(w *Warp) *Lanes, error) {
	uniform := func(f func(w *Warp) uint64) func(w *Warp) *Lanes {
		return func(w *Warp) *Lanes {
			lanes := w.specials.next()
			broadcast(lanes, f(w))
			return lanes
		}
	}
	perLane := func(f func(lane int) uint64) func(w *Warp) *Lanes {
		var l Lanes
		for i := range l {
			l[i] = f(i) & 0xffffffff
		}
		return func(*Warp) *Lanes { return &l }
	}
	dim := func(f func(w *Warp) Dim, part byte) func(w *Warp) *Lanes {
		return uniform(func(w *Warp) uint64 {
			d := f(w)
			switch part {
			case 'x':
				return uint64(d.X)
			case 'y':
				return uint64(d.Y)
			case 'z':
				return uint64(d.Z)
			}
			return 0
		})
	}
	base, part := name, byte('w')
	if n := len(name); n > 2 && name[n-2] == '.' {
		base, part = name[:n-2], name[n-1]
	}
	switch base {
	case "tid":
		if part == 'w' {
			return uniform(func(*Warp) uint64 { return 0 }), nil
		}
		i := part - 'x'
		return func(w *Warp) *Lanes { return &w.tid[i] }, nil
	case "ntid":
		return dim(func(w *Warp) Dim { return w.block.launch.Block }, part), nil
	case "ctaid":
		return dim(func(w *Warp) Dim { return w.block.Index }, part), nil
	case "nctaid":
		return dim(func(w *Warp) Dim { return w.block.launch.Grid }, part), nil
	case "clusterid":
		return dim(func(w *Warp) Dim {
			i, c := w.block.Index, w.block.launch.Cluster
			return Dim{i.X / c.X, i.Y / c.Y, i.Z / c.Z}
		}, part), nil
	case "nclusterid":
		return dim(func(w *Warp) Dim {
			g, c := w.block.launch.Grid, w.block.launch.Cluster
			return Dim{g.X / c.X, g.Y / c.Y, g.Z / c.Z}
		}, part), nil
	case "cluster_ctaid":
		return dim(func(w *Warp) Dim {
			i, c := w.block.Index, w.block.launch.Cluster
			return Dim{i.X % c.X, i.Y % c.Y, i.Z % c.Z}
		}, part), nil
	case "cluster_nctaid":
		return dim(func(w *Warp) Dim { return w.block.launch.Cluster }, part), nil
	}
	switch name {
	case "laneid":
		return perLane(func(lane int) uint64 { return uint64(lane) }), nil
	case "lanemask_eq":
		return perLane(func(lane int) uint64 { return 1 << lane }), nil
	case "lanemask_lt":
		return perLane(func(lane int) uint64 { return 1<<lane - 1 }), nil
	case "lanemask_le":
		return perLane(func(lane int) uint64 { return 2<<lane - 1 }), nil
	case "lanemask_gt":
		return perLane(func(lane int) uint64 { return ^(uint64(2)<<lane - 1) }), nil
	case "lanemask_ge":
		return perLane(func(lane int) uint64 { return ^(uint64(1)<<lane - 1) }), nil
	case "warpid":
		return uniform(func(w *Warp) uint64 { return uint64(w.Index) }), nil
	case "nwarpid":
		return uniform(func(w *Warp) uint64 { return uint64(len(w.block.warps)) }), nil
	case "smid":
		return uniform(func(w *Warp) uint64 { return uint64(w.block.Linear % 132) }), nil
	case "nsmid":
		return uniform(func(*Warp) uint64 { return 132 }), nil
	case "gridid":
		return uniform(func(*Warp) uint64 { return 1 }), nil
	case "cluster_ctarank":
		return uniform(func(w *Warp) uint64 { return uint64(w.block.rank) }), nil
	case "cluster_nctarank":
		return uniform(func(w *Warp) uint64 { return uint64(len(w.block.cluster.blocks)) }), nil
	case "dynamic_smem_size":
		return uniform(func(w *Warp) uint64 { return uint64(w.block.launch.Shared) }), nil
	case "total_smem_size", "aggr_smem_size":
		return uniform(func(w *Warp) uint64 { return uint64(w.block.launch.Shared + w.block.launch.kernel.static) }), nil
	case "clock":
		// A clock that counts executed instructions: it only has to go forward.
		return uniform(func(w *Warp) uint64 { return w.clock() & 0xffffffff }), nil
	case "clock64":
		return uniform(func(w *Warp) uint64 { return w.clock() }), nil
	case "clock_hi":
		return uniform(func(w *Warp) uint64 { return w.clock() >> 32 }), nil
	case "globaltimer":
		return uniform(func(*Warp) uint64 { return uint64(time.Now().UnixNano()) }), nil
	case "globaltimer_lo":
		return uniform(func(*Warp) uint64 { return uint64(time.Now().UnixNano()) & 0xffffffff }), nil
	case "globaltimer_hi":
		return uniform(func(*Warp) uint64 { return uint64(time.Now().UnixNano()) >> 32 }), nil
	}
	return nil, fmt.Errorf("the special register %%%s is not known", name)
}

func (w *Warp) clock() uint64 {
	w.ticks += 4
	return uint64(w.block.steps)*4 + w.ticks
}

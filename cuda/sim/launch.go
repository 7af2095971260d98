package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
)

// Error is a launch that a device refuses.
type Error struct {
	Kernel string
	Msg    string
}

func (e *Error) Error() string {
	return fmt.Sprintf("the launch of %s is refused: %s", e.Kernel, e.Msg)
}

// Limits of a device, the same for all that the simulator stands for.
const (
	MaxThreads       = 1024
	MaxStaticShared  = 48 << 10
	maxGridX         = 1<<31 - 1
	maxGridYZ        = 65535
	maxParams        = 32764
	portableCluster  = 8
	maxFindings      = 200
	quantum          = 4 << 20 // instructions before a block makes room for others
	residentClusters = 64
)

// MaxShared is the most shared memory of a block, static and dynamic together,
// that a device of a compute capability has.
func MaxShared(capability [2]int) int {
	switch {
	case capability[0] >= 9:
		return 227 << 10
	case capability == [2]int{8, 0} || capability == [2]int{8, 7}:
		return 163 << 10
	}
	return 99 << 10
}

// Report is what a launch did.
type Report struct {
	Kernel       *Kernel
	Launch       Launch
	Findings     []Finding
	Instructions int64 // of warps
	LaneOps      int64 // instructions times active lanes; a tensor-core instruction counts its multiply-adds
	Counts       []siteCount
}

// Site is how often an instruction of the report's kernel was executed.
func (r *Report) Site(in *Inst) (warps, lanes int64) {
	c := r.Counts[in.Index]
	return c.Warps, c.Lanes
}

// Insts lists the kernel's instructions.
func (k *Kernel) Insts() []*Inst { return k.all }

type launch struct {
	Launch
	dev      *Device
	kernel   *Kernel
	params   []byte
	seed     uint64
	budget   int64
	shared   int // bytes of a block's shared memory, gaps included
	checkers []Checker
	stop     atomic.Bool
	extra    atomic.Int64 // lane operations beyond the instructions

	mu       sync.Mutex
	findings map[findingKey]*Finding
	order    []findingKey
}

// findingKey is what makes two findings the same: one place in the source becomes
// several instructions when a loop is unrolled.
type findingKey struct {
	kind  Kind
	inst  int // where the compiler names no place
	line  int
	label string
	verb  string
}

// check refuses what a device refuses.
func (d *Device) check(k *Kernel, l *Launch) error {
	refuse := func(format string, args ...any) error {
		return &Error{k.Name(), fmt.Sprintf(format, args...)}
	}
	f := k.fn.ptx
	if l.Cluster == (Dim{}) {
		l.Cluster = Dim{1, 1, 1}
		if c := f.Cluster; c[0] > 0 {
			l.Cluster = Dim{c[0], c[1], c[2]}
		}
	}
	g, b, c := l.Grid, l.Block, l.Cluster
	n := b.Count()
	limit := MaxShared(d.cfg.Capability)
	switch {
	case g.X <= 0 || g.Y <= 0 || g.Z <= 0:
		return refuse("the grid %v has no blocks; each dimension is at least 1", g)
	case b.X <= 0 || b.Y <= 0 || b.Z <= 0:
		return refuse("the block %v has no threads; each dimension is at least 1", b)
	case b.X > 1024 || b.Y > 1024 || b.Z > 64 || n > MaxThreads:
		return refuse("a block of %v threads; a block has at most %d, and at most 64 in z", b, MaxThreads)
	case g.X > maxGridX || g.Y > maxGridYZ || g.Z > maxGridYZ:
		return refuse("a grid of %v blocks; at most (2147483647,65535,65535) are possible", g)
	case f.ReqThreads[0] > 0 && b != Dim{f.ReqThreads[0], f.ReqThreads[1], f.ReqThreads[2]}:
		return refuse("the kernel requires blocks of (%d,%d,%d) threads and got %v", f.ReqThreads[0], f.ReqThreads[1], f.ReqThreads[2], b)
	case f.MaxThreads[0] > 0 && n > f.MaxThreads[0]*f.MaxThreads[1]*f.MaxThreads[2]:
		return refuse("a block of %d threads; __launch_bounds__ allows %d", n, f.MaxThreads[0]*f.MaxThreads[1]*f.MaxThreads[2])
	case k.static > MaxStaticShared:
		return refuse("%d bytes of static shared memory; at most %d are possible, more only as dynamic shared memory", k.static, MaxStaticShared)
	case l.Shared < 0 || k.static+l.Shared > limit:
		return refuse("%d bytes of shared memory (%d of them dynamic); a block has at most %d", k.static+l.Shared, l.Shared, limit)
	case len(l.Params) != k.Bytes:
		return refuse("%d bytes of parameters instead of %d", len(l.Params), k.Bytes)
	case c.X < 1 || c.Y < 1 || c.Z < 1 || c.Count() > portableCluster:
		return refuse("a cluster of %v blocks; at most %d are portable", c, portableCluster)
	case g.X%c.X != 0 || g.Y%c.Y != 0 || g.Z%c.Z != 0:
		return refuse("a grid of %v is no multiple of the cluster %v", g, c)
	case c.Count() > 1 && d.cfg.Capability[0] < 9:
		return refuse("clusters need compute capability 9.0; the device has %d.%d", d.cfg.Capability[0], d.cfg.Capability[1])
	}
	return nil
}

// Launch runs a kernel to its end. The error is an *Error when a device would
// refuse the launch, and the context's when that ended; what the kernel did wrong
// is in the report.
func (d *Device) Launch(ctx context.Context, k *Kernel, spec Launch, watch ...Checker) (*Report, error) {
	if err := d.check(k, &spec); err != nil {
		return nil, err
	}
	l := &launch{
		Launch: spec, dev: d, kernel: k, params: append(slices.Clone(spec.Params), make([]byte, 16)...), seed: d.cfg.Seed, budget: d.cfg.Budget,
		shared: k.dynamic + spec.Shared, findings: map[findingKey]*Finding{}, checkers: watch,
	}
	if spec.Shared == 0 {
		l.shared = k.shared.size
	}
	if !d.cfg.NoChecks {
		l.checkers = append(standardCheckers(l), watch...)
	}
	defer context.AfterFunc(ctx, func() { l.stop.Store(true) })()
	clusters := spec.Grid.Count() / spec.Cluster.Count()
	workers := min(d.cfg.Workers, clusters)
	var next atomic.Int64
	counts := make([][]siteCount, workers)
	order := permutation(l.seed, clusters)
	work := func(i int) {
		counts[i] = make([]siteCount, k.insts)
		l.work(&next, int64(clusters), order, counts[i])
	}
	var wg sync.WaitGroup
	for i := 1; i < workers; i++ {
		wg.Go(func() { work(i) })
	}
	work(0)
	wg.Wait()
	for _, c := range l.checkers {
		for _, f := range c.Done() {
			l.add(findingKey{kind: f.Kind, inst: -1 - len(l.order)}, f)
		}
	}
	r := l.report(counts)
	if err := ctx.Err(); err != nil {
		return r, err
	}
	return r, nil
}

// permutation is the order of the blocks: their own without a seed.
func permutation(seed uint64, n int) func(int64) int {
	if seed == 0 {
		return func(i int64) int { return int(i) }
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	if n > 1<<20 { // no table of that size: start somewhere
		start := rng.Int64N(int64(n))
		return func(i int64) int { return int((i + start) % int64(n)) }
	}
	table := rng.Perm(n)
	return func(i int64) int { return table[i] }
}

// work runs clusters until there are none left. A cluster that takes long makes
// room for others, which it may be waiting for.
func (l *launch) work(next *atomic.Int64, total int64, order func(int64) int, counts []siteCount) {
	var active, idle []*cluster
	for {
		slow := len(active) > 0
		if !slow || len(active) < residentClusters {
			if i := next.Add(1) - 1; i < total && !l.stop.Load() {
				var c *cluster
				if n := len(idle); n > 0 {
					c, idle = idle[n-1], idle[:n-1]
				} else {
					c = l.newCluster(counts)
				}
				c.reset(l, order(i))
				active = append(active, c)
			}
		}
		if len(active) == 0 {
			return
		}
		for i := 0; i < len(active); i++ {
			c := active[i]
			ended := c.run(quantum)
			if l.stop.Load() {
				return
			}
			if ended {
				c.done()
				active = slices.Delete(active, i, i+1)
				idle = append(idle, c)
				i--
			}
		}
	}
}

func (l *launch) newCluster(counts []siteCount) *cluster {
	c := &cluster{}
	for rank := range l.Cluster.Count() {
		b := &Block{launch: l, cluster: c, rank: rank, counts: counts, threads: l.Block.Count()}
		b.shared = make([]byte, l.shared+16)[:l.shared]
		b.init = make([]uint64, (l.shared+127)/64)
		b.cache = make([]*Allocation, l.kernel.insts)
		for i := range (b.threads + WarpSize - 1) / WarpSize {
			b.warps = append(b.warps, newWarp(b, i))
		}
		c.blocks = append(c.blocks, b)
	}
	return c
}

func newWarp(b *Block, index int) *Warp {
	w := &Warp{block: b, Index: index}
	dim := b.launch.Block
	for lane := range WarpSize {
		t := index*WarpSize + lane
		if t < b.threads {
			w.lanes |= 1 << lane
		}
		w.tid[0][lane] = uint64(t % dim.X)
		w.tid[1][lane] = uint64(t / dim.X % dim.Y)
		w.tid[2][lane] = uint64(t / (dim.X * dim.Y))
	}
	return w
}

// reset makes the cluster the n-th of the grid.
func (c *cluster) reset(l *launch, n int) {
	g, s := l.Grid, l.Cluster
	across, down := g.X/s.X, g.Y/s.Y
	x, y, z := n%across*s.X, n/across%down*s.Y, n/(across*down)*s.Z
	c.arrived, c.waiting, c.phase = 0, c.waiting[:0], 0
	for rank, b := range c.blocks {
		b.Index = Dim{x + rank%s.X, y + rank/s.X%s.Y, z + rank/(s.X*s.Y)}
		b.Linear = b.Index.X + g.X*(b.Index.Y+g.Y*b.Index.Z)
		b.live, b.steps, b.stopped, b.Async = b.threads, 0, false, nil
		clear(b.init)
		for i := range b.shared {
			b.shared[i] = 0xfd
		}
		for i := range b.bars {
			b.bars[i] = barrier{}
		}
		b.rng = rand.New(rand.NewPCG(l.seed, uint64(b.Linear)))
		for _, w := range b.warps {
			w.reset(l.kernel.fn)
		}
		b.checkers = b.checkers[:0]
		for _, ch := range l.checkers {
			if bc := ch.Block(b); bc != nil {
				b.checkers = append(b.checkers, bc)
			}
		}
	}
}

func (w *Warp) reset(fn *Func) {
	w.alive, w.since, w.Epoch, w.Async = w.lanes, 0, 0, nil
	w.free = append(w.free, w.splits...)
	if w.frames == nil {
		w.frames = []*frame{{fn: fn, regs: make([]Lanes, fn.regs), preds: make([]Mask, fn.preds)}}
	}
	f := w.frames[0]
	f.passed = [WarpSize][]byte{}
	for i := range w.lane {
		w.lane[i].init = w.lane[i].init[:0]
	}
	w.splits = append(w.splits[:0], w.newSplit(f, 0, w.lanes))
	w.local(fn.local.size)
}

// local makes room for n bytes of local memory for each thread.
func (w *Warp) local(n int) {
	if n == 0 {
		return
	}
	for i := range w.lane {
		m := &w.lane[i]
		for len(m.data) < n+16 {
			m.data = append(m.data, make([]byte, n+16-len(m.data))...)
		}
		for len(m.init) < (n+63)/64+1 {
			m.init = append(m.init, 0)
		}
	}
}

// done collects what the blocks' checkers found.
func (c *cluster) done() {
	for _, b := range c.blocks {
		for _, ch := range b.checkers {
			for _, f := range ch.Done() {
				b.launch.merge(f)
			}
		}
	}
}

func (l *launch) report(counts [][]siteCount) *Report {
	r := &Report{Kernel: l.kernel, Launch: l.Launch, Counts: make([]siteCount, l.kernel.insts), LaneOps: l.extra.Load()}
	for _, list := range counts {
		for i, c := range list {
			r.Counts[i].Warps += c.Warps
			r.Counts[i].Lanes += c.Lanes
			r.Instructions += c.Warps
			r.LaneOps += c.Lanes
		}
	}
	for _, key := range l.order {
		r.Findings = append(r.Findings, *l.findings[key])
	}
	return r
}

var errNoTarget = errors.New("a jump without a target")

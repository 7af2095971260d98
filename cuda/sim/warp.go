package sim

import (
	"math/bits"
	"unsafe"

	"github.com/warpbook/warpbook/cuda/ptx"
	"github.com/warpbook/warpbook/cuda/sim/arith"
)

// Warp is 32 threads of a block that execute together while they can.
type Warp struct {
	block  *Block
	Index  int  // in the block
	lanes  Mask // threads that exist
	alive  Mask // and have not exited
	splits []*split
	free   []*split
	frames []*frame // to use again

	tid      [3]Lanes
	lane     [WarpSize]laneMemory
	scratch  [8]Lanes
	addr     Lanes
	ptrs     [WarpSize]unsafe.Pointer
	args     arith.Args
	access   Access
	storing  *Lanes // what the store that is checked writes
	specials specials
	ticks    uint64
	since    int    // instructions of the running split since another one ran
	Epoch    uint32 // barriers that the warp has passed, for checkers
	Async    any    // of the asynchronous copies, by who executes them
}

// laneMemory is a thread's local memory.
type laneMemory struct {
	data []byte
	init []uint64
}

// frame is a call of a function by some lanes.
type frame struct {
	fn     *Func
	regs   []Lanes
	preds  []Mask
	caller *frame
	back   int // where to go on in the caller
	call   *Inst
	rets   []passing // of the results, when it returns
	depth  int
	local  int              // where the call's local memory begins
	passed [WarpSize][]byte // .param variables by lane; nil until used
}

// State is what a split waits for.
type state uint8

const (
	running  state = iota
	atBlock        // has come to a block barrier and is counted
	diverged       // has come to a block barrier alone
	atMask         // waits at a warp-wide instruction for lanes that are named
	polling        // waits for memory: an mbarrier
	atCluster
)

// split is lanes of a warp that are at the same instruction.
type split struct {
	frame  *frame
	pc     int
	mask   Mask
	carry  Mask
	state  state
	needs  Mask        // atMask: the lanes that have to come
	inst   *Inst       // that it waits at
	forced bool        // goes on although lanes are missing
	ready  func() bool // polling: whether it has come
}

const maxDepth = 512

// Block returns the block that the warp belongs to.
func (w *Warp) Block() *Block { return w.block }

// Lanes returns the threads that exist.
func (w *Warp) Lanes() Mask { return w.lanes }

// Thread is the index in the block of the thread in a lane.
func (w *Warp) Thread(lane int) Dim {
	return Dim{int(w.tid[0][lane]), int(w.tid[1][lane]), int(w.tid[2][lane])}
}

// Linear is the number of the thread in a lane within its block.
func (w *Warp) Linear(lane int) int { return w.Index*WarpSize + lane }

func (w *Warp) newSplit(f *frame, pc int, m Mask) *split {
	var s *split
	if n := len(w.free); n > 0 {
		s, w.free = w.free[n-1], w.free[:n-1]
		*s = split{}
	} else {
		s = new(split)
	}
	s.frame, s.pc, s.mask = f, pc, m
	return s
}

func (w *Warp) newFrame(fn *Func, caller *frame) *frame {
	for i, f := range w.frames {
		if f.fn == fn {
			last := len(w.frames) - 1
			w.frames[i] = w.frames[last]
			w.frames = w.frames[:last]
			f.caller, f.passed = caller, [WarpSize][]byte{}
			return f
		}
	}
	return &frame{fn: fn, regs: make([]Lanes, fn.regs), preds: make([]Mask, fn.preds), caller: caller}
}

// before says whether s goes before t: the deeper call, then the lower instruction.
func (s *split) before(t *split) bool {
	if s.frame.depth != t.frame.depth {
		return s.frame.depth > t.frame.depth
	}
	return s.pc < t.pc
}

// patience is how many instructions a split may execute while another one of its
// warp could: lanes that wait for others in a loop must let these go on.
const patience = 4096

// step executes up to n instructions and returns how many it did. A warp that
// waits or has ended does none.
func (w *Warp) step(n int) (done int) {
	for done < n {
		s := w.pick()
		if s == nil {
			return done
		}
		k := w.runSplit(s, n-done)
		done += k
		if w.block.stopped {
			return done
		}
		if k == 0 && s.state == running {
			return done
		}
	}
	return done
}

// pick returns the split to run, or nil.
func (w *Warp) pick() *split {
	if len(w.splits) == 1 {
		if s := w.splits[0]; s.state == running || w.wake(s) {
			return s
		}
		return w.unlock()
	}
	var best *split
	for _, s := range w.splits {
		if s.state != running && !w.wake(s) {
			continue
		}
		if best == nil || s.before(best) {
			best = s
		}
	}
	if best == nil {
		return w.unlock()
	}
	if w.since > patience { // another one's turn
		w.since = 0
		for i, s := range w.splits {
			if s != best && s.state == running {
				w.splits = append(append(w.splits[:i], w.splits[i+1:]...), s)
				return s
			}
		}
	}
	return best
}

// wake looks whether what a split waits for has come.
func (w *Warp) wake(s *split) bool {
	switch s.state {
	case atMask:
		if s.needs&w.alive&^s.mask != 0 {
			return false
		}
	case polling:
		if !s.ready() {
			return false
		}
	default:
		return false
	}
	s.state = running
	return true
}

// runSplit executes instructions of s until it waits, ends, parts or meets another
// split, at most n.
func (w *Warp) runSplit(s *split, n int) (done int) {
	b := w.block
	limit, alone := 0, len(w.splits) == 1
	if !alone {
		limit = w.limit(s)
	}
	code := s.frame.fn.code
	counts := b.counts
	for done < n {
		in := &code[s.pc]
		s.pc++
		done++
		m := s.mask
		if in.guard >= 0 {
			p := s.frame.preds[in.guard]
			if in.guardNot {
				p = ^p
			}
			m &= p
		}
		c := &counts[in.Index]
		c.Warps++
		c.Lanes += int64(bits.OnesCount32(m))
		if m != 0 {
			in.run(w, s, in, m)
		}
		if in.control {
			if b.stopped {
				return done
			}
			if alone && len(w.splits) == 1 && s.state == running && s.mask != 0 {
				code = s.frame.fn.code
				continue
			}
			w.since += done
			if s.state == running && w.has(s) { // a branch not taken may lead to others
				w.merge(s)
			}
			return done
		}
		if !alone && s.pc >= limit {
			if w.merge(s) {
				w.since = 0
			}
			w.since += done
			return done
		}
	}
	if !alone {
		w.since += done
	}
	return done
}

// limit is the instruction at which s meets the next split of its frame.
func (w *Warp) limit(s *split) int {
	limit := 1 << 30
	for _, t := range w.splits {
		if t != s && t.frame == s.frame && t.pc > s.pc && t.pc < limit {
			limit = t.pc
		}
	}
	return limit
}

// merge joins s with a split that is at the same place.
func (w *Warp) merge(s *split) bool {
	for i := 0; i < len(w.splits); i++ {
		t := w.splits[i]
		if t == s || t.frame != s.frame || t.pc != s.pc || !t.joins() || !s.joins() {
			continue
		}
		s.carry = s.carry&s.mask | t.carry&t.mask
		s.mask |= t.mask
		if t.state == atMask {
			s.state, s.needs, s.inst = t.state, t.needs|s.needs, t.inst
		}
		w.drop(t)
		return true
	}
	return false
}

// has reports whether s is one of the warp's splits.
func (w *Warp) has(s *split) bool {
	for _, t := range w.splits {
		if t == s {
			return true
		}
	}
	return false
}

func (s *split) joins() bool { return s.state == running || s.state == atMask || s.state == diverged }

// drop takes a split out of the warp.
func (w *Warp) drop(s *split) {
	for i, t := range w.splits {
		if t == s {
			last := len(w.splits) - 1
			w.splits[i] = w.splits[last]
			w.splits = w.splits[:last]
			w.free = append(w.free, s)
			return
		}
	}
}

// leave ends the lanes m of s.
func (w *Warp) leave(s *split, m Mask) {
	w.alive &^= m
	w.block.exited(w, m)
	if s.mask &^= m; s.mask == 0 {
		w.drop(s)
	}
}

// part makes the lanes m of s go to pc on their own.
func (w *Warp) part(s *split, m Mask, pc int) {
	if pc == s.pc {
		return
	}
	s.mask &^= m
	w.splits = append(w.splits, w.newSplit(s.frame, pc, m))
	t := w.splits[len(w.splits)-1]
	t.carry = s.carry
	w.merge(t)
	w.merge(s)
}

// fork takes the lanes m out of s, at the same place.
func (w *Warp) fork(s *split, m Mask) *split {
	if m == s.mask {
		return s
	}
	s.mask &^= m
	t := w.newSplit(s.frame, s.pc, m)
	t.carry = s.carry
	w.splits = append(w.splits, t)
	return t
}

// unlock is for a warp none of whose splits can run: those that came to a barrier
// alone are let through as a device does, with a finding.
func (w *Warp) unlock() *split {
	for _, s := range w.splits {
		if s.state == diverged {
			return w.arriveAlone(s)
		}
	}
	for _, s := range w.splits {
		if s.state == atMask && len(w.splits) > 0 && !w.canCome(s) {
			missing := s.needs & w.alive &^ s.mask
			w.block.find(w, s.inst, s.mask, Divergent, "the lanes "+maskText(missing)+" that "+opText(s.inst)+" names do not come to it: "+w.whereabouts(missing))
			s.state, s.forced = running, true
			return s
		}
	}
	return nil
}

// canCome reports whether lanes that s waits for may still move: they wait for
// other warps.
func (w *Warp) canCome(s *split) bool {
	for _, t := range w.splits {
		if t != s && t.mask&s.needs != 0 && (t.state == atBlock || t.state == polling || t.state == atCluster) {
			return true
		}
	}
	return false
}

// whereabouts tells where lanes are.
func (w *Warp) whereabouts(m Mask) string {
	for _, s := range w.splits {
		if s.mask&m != 0 {
			in := s.inst
			if in == nil && s.pc < len(s.frame.fn.code) {
				in = &s.frame.fn.code[s.pc]
			}
			if in != nil && in.PTX.Pos.Line > 0 {
				return "they are at line " + itoa(in.PTX.Pos.Line)
			}
			return "they are elsewhere"
		}
	}
	return "they have left the kernel"
}

func (d *decoder) bra(in *Inst) error {
	if in.PTX.Target < 0 {
		return errNoTarget
	}
	in.target, in.control, in.run = in.PTX.Target, true, execBra
	return nil
}

func execBra(w *Warp, s *split, in *Inst, m Mask) {
	if m == s.mask {
		s.pc = in.target
		if len(w.splits) > 1 {
			w.merge(s)
		}
		return
	}
	w.part(s, m, in.target)
}

// brx jumps to an entry of a table.
func (d *decoder) brx(in *Inst) error {
	if err := operands(in, 2, 2); err != nil {
		return err
	}
	in.table = d.fn.ptx.Tables[in.PTX.Operands[1].Symbol]
	if in.table == nil {
		return errNoTarget
	}
	in.control = true
	in.run = func(w *Warp, s *split, in *Inst, m Mask) {
		index := *s.get(w, &in.src[0])
		for m != 0 {
			i := index[bits.TrailingZeros32(m)]
			var same Mask
			for l := range index {
				if index[l] == i {
					same |= 1 << l
				}
			}
			same &= m
			m &^= same
			if i >= uint64(len(in.table)) {
				w.block.fatal(w, in, same, Trap, "a jump behind the end of its table")
				return
			}
			if same == s.mask {
				s.pc = in.table[i]
				return
			}
			w.part(s, same, in.table[i])
		}
	}
	return d.sources(in, ptx.U32, in.PTX.Operands[0])
}

func (d *decoder) ret(in *Inst) error {
	in.control, in.run = true, execReturn
	return nil
}

// execReturn goes back to the caller; a kernel ends.
func execReturn(w *Warp, s *split, in *Inst, m Mask) {
	f := s.frame
	if f.caller == nil {
		w.leave(s, m)
		return
	}
	s = w.fork(s, m)
	for _, r := range f.rets {
		for l := range WarpSize {
			if m>>l&1 != 0 {
				copy(f.caller.bytes(l)[r.to:r.to+r.bytes], f.bytes(l)[r.from:])
			}
		}
	}
	s.frame, s.pc = f.caller, f.back
	w.merge(s)
}

func (d *decoder) exit(in *Inst) error {
	in.control = true
	in.run = func(w *Warp, s *split, _ *Inst, m Mask) { w.leave(s, m) }
	return nil
}

func (d *decoder) trap(in *Inst) error {
	in.control = true
	in.run = func(w *Warp, s *split, in *Inst, m Mask) {
		w.block.fatal(w, in, m, Trap, "the kernel executed "+in.PTX.Op)
	}
	return nil
}

// bytes is the .param memory of a lane in the frame.
func (f *frame) bytes(lane int) []byte {
	if f.passed[lane] == nil {
		f.passed[lane] = make([]byte, f.fn.passed.size+16)
	}
	return f.passed[lane]
}

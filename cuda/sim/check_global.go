package sim

import (
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/warpbook/warpbook/cuda/ptx"
)

// globalChecker finds accesses of different blocks to the same global memory that
// nothing orders.
//
// Each block notes, by instruction, which granules it touches: a bitmap a page. The
// bitmaps are kept until the launch has ended and compared then. A fence ends a
// stretch of a block's accesses and an atomic operation begins one: what a block did
// before a fence comes before what another did behind a later atomic operation, as in
// reductions that the last block finishes.
type globalChecker struct {
	shift int // of a granule

	mu       sync.Mutex
	moment   uint64 // counts fences and atomic operations
	stretch  map[uint64][]*touchedPage
	bytes    int64
	givenUp  atomic.Bool
	launched *launch
}

// pageGranules is the number of granules that one bitmap covers.
const pageGranules = 4096

// touchedPage is what one instruction of one block touched of a page in a stretch.
type touchedPage struct {
	block    int
	from, to uint64 // moments; to is the end of time while there was no fence
	role     role
	inst     *Inst
	who      Place // of the first access
	bits     [pageGranules / 64]uint64
}

const never = ^uint64(0)

func newGlobalChecker(l *launch) *globalChecker {
	n := 4
	for _, in := range l.kernel.all {
		if p := in.PTX; (in.space == ptx.Global || in.space == ptx.Generic) && in.bytes > 0 && (p.Op == "st" || p.Op == "ld" || p.Op == "atom" || p.Op == "red") {
			n = min(n, in.bytes)
		}
	}
	return &globalChecker{launched: l, shift: bits.TrailingZeros(uint(n)), stretch: map[uint64][]*touchedPage{}}
}

func (g *globalChecker) Block(b *Block) BlockChecker {
	return &globalBlock{g: g, b: b, last: make([]opened, len(b.launch.kernel.all)), pages: map[pageKey]*touchedPage{}}
}

type pageKey struct {
	inst *Inst
	page uint64
}

// globalBlock is one block's notes.
type globalBlock struct {
	g     *globalChecker
	b     *Block
	from  uint64   // the moment at which the stretch began
	fresh *Inst    // an atomic operation came, and no other access since
	last  []opened // by instruction: the page that it touched last
	pages map[pageKey]*touchedPage
	open  []opened
}

type opened struct {
	page uint64
	t    *touchedPage
}

func (c *globalBlock) tick() uint64 {
	c.g.mu.Lock()
	defer c.g.mu.Unlock()
	c.g.moment++
	return c.g.moment
}

func (c *globalBlock) Access(a *Access) {
	if a.Space != ptx.Global || c.g.givenUp.Load() {
		return
	}
	role := roleOf(a)
	// What follows an atomic operation came after every fence so far. A loop that
	// polls is one access.
	if c.fresh != nil && c.fresh != a.Inst {
		c.from = c.tick()
		clear(c.pages)
		clear(c.last)
		c.fresh = nil
	}
	if role&strong != 0 {
		c.fresh = a.Inst
	}
	n := max(a.Bytes>>c.g.shift, 1)
	t, page := c.last[a.Inst.Index].t, c.last[a.Inst.Index].page
	for m := a.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		at := a.Addr[l] >> c.g.shift
		for i := at; i < at+uint64(n); i++ {
			if p := i / pageGranules; t == nil || p != page {
				t, page = c.page(a, l, p, role), p
			}
			k := i % pageGranules
			t.bits[k/64] |= 1 << (k % 64)
		}
	}
	c.last[a.Inst.Index] = opened{page, t}
}

// page finds or makes the bitmap of an instruction and a page.
func (c *globalBlock) page(a *Access, lane int, page uint64, role role) *touchedPage {
	key := pageKey{a.Inst, page}
	if t := c.pages[key]; t != nil {
		return t
	}
	t := &touchedPage{block: c.b.Linear, from: c.from, to: never, role: role, inst: a.Inst, who: a.Warp.Place(a.Inst, lane)}
	c.pages[key] = t
	c.open = append(c.open, opened{page, t})
	return t
}

func (c *globalBlock) Sync(s Sync) {
	if s.Kind != FenceDevice || len(c.open) == 0 {
		return
	}
	now := c.tick()
	c.close(now)
	clear(c.pages)
	clear(c.last)
}

// close hands the bitmaps on; their stretch ends at a moment.
func (c *globalBlock) close(to uint64) {
	c.g.mu.Lock()
	defer c.g.mu.Unlock()
	for _, o := range c.open {
		o.t.to = to
		c.g.stretch[o.page] = append(c.g.stretch[o.page], o.t)
		c.g.bytes += pageGranules/8 + 200
	}
	c.open = c.open[:0]
	if c.g.bytes > c.b.launch.dev.cfg.RaceMemory {
		c.g.givenUp.Store(true) // rather than the machine; what was noted is compared
	}
}

func (c *globalBlock) Done() []Finding {
	c.close(never)
	return nil
}

// ordered reports whether one stretch comes before the other.
func ordered(a, b *touchedPage) bool { return a.to <= b.from || b.to <= a.from }

// Done compares the blocks, page by page.
func (g *globalChecker) Done() (found []Finding) {
	if g.givenUp.Load() {
		g.launched.dev.out.print(fmt.Sprintf("simulator: %s is too large to be searched for races between all of its blocks; a smaller grid is searched whole\n", g.launched.kernel.Name()))
	}
	pages := make([]uint64, 0, len(g.stretch))
	for p := range g.stretch {
		pages = append(pages, p)
	}
	slices.Sort(pages)
	seen := map[[2]*Inst]bool{}
	for _, p := range pages {
		found = append(found, g.compare(p, g.stretch[p], seen)...)
		if len(found) > maxFindings {
			break
		}
	}
	return found
}

// compare looks for granules of a page that two blocks touch. Unions of what was
// seen so far say quickly that there are none.
func (g *globalChecker) compare(page uint64, list []*touchedPage, seen map[[2]*Inst]bool) (found []Finding) {
	anyWrite := false
	for _, t := range list {
		anyWrite = anyWrite || t.role&writes != 0
	}
	if !anyWrite || len(list) < 2 {
		return nil
	}
	slices.SortStableFunc(list, func(a, b *touchedPage) int { return a.block - b.block })
	var written, read [pageGranules / 64]uint64
	for i := 0; i < len(list); {
		j := i
		for j < len(list) && list[j].block == list[i].block {
			j++
		}
		for _, t := range list[i:j] {
			for k, v := range t.bits {
				both := v & written[k]
				if t.role&writes != 0 {
					both |= v & read[k]
				}
				if both != 0 {
					found = append(found, g.search(page, list[:i], t, k, both, seen)...)
					break
				}
			}
		}
		for _, t := range list[i:j] {
			for k, v := range t.bits {
				if t.role&writes != 0 {
					written[k] |= v
				} else {
					read[k] |= v
				}
			}
		}
		i = j
	}
	return found
}

// search finds who else touched the granules of t that are in conflict.
func (g *globalChecker) search(page uint64, before []*touchedPage, t *touchedPage, k int, both uint64, seen map[[2]*Inst]bool) (found []Finding) {
	for _, o := range before {
		for k := k; k < len(t.bits); k++ {
			common := o.bits[k] & t.bits[k]
			if common == 0 {
				continue
			}
			if !o.role.races(t.role) || ordered(o, t) || seen[[2]*Inst{o.inst, t.inst}] {
				break
			}
			seen[[2]*Inst{o.inst, t.inst}] = true
			addr := (page*pageGranules + uint64(k*64+bits.TrailingZeros64(common))) << g.shift
			found = append(found, g.finding(addr, o, t))
			break
		}
	}
	return found
}

func (g *globalChecker) finding(addr uint64, o, t *touchedPage) Finding {
	what := fmt.Sprintf("%#x", addr)
	f := Finding{Kind: GlobalRace, Space: ptx.Global, Address: addr, Bytes: 1 << g.shift, At: t.who, Count: 1}
	if a := g.launched.dev.find(addr); a != nil {
		what = a.describe(addr)
		f.Label, f.Offset = a.Label.Name, int64(addr-a.Addr)
	}
	if t.role&writes == 0 { // the write is what is wrong
		o, t = t, o
		f.At = t.who
	}
	f.Message = fmt.Sprintf("%s %s that block %v %s at line %d; nothing orders them", t.role.verb(), what, o.who.Block, o.role.verb(), o.who.Line)
	other := o.who
	f.Other = &other
	return f
}

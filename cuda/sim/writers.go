package sim

import (
	"fmt"
	"math/bits"
	"sync"

	"github.com/warpbook/warpbook/cuda/ptx"
)

// Writers is a checker that finds nothing: it remembers who last wrote one place, Offset
// bytes from the start, of each allocation.
type Writers struct {
	Offset int64

	mu   sync.Mutex
	last map[*Allocation]Place
}

// Block implements Checker.
func (w *Writers) Block(*Block) BlockChecker { return w }

// Done implements Checker and BlockChecker.
func (w *Writers) Done() []Finding { return nil }

// Sync implements BlockChecker.
func (w *Writers) Sync(Sync) {}

// Access implements BlockChecker.
func (w *Writers) Access(a *Access) {
	if a.Space != ptx.Global || a.Kind == Load || a.Kind == AsyncRead {
		return
	}
	for m := a.Mask; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		alloc := a.Alloc
		if alloc == nil {
			alloc = a.Warp.block.launch.dev.find(a.Addr[lane])
		}
		if alloc == nil {
			continue
		}
		if from := int64(a.Addr[lane] - alloc.Addr); from <= w.Offset && w.Offset < from+int64(a.Bytes) {
			w.note(alloc, a.Warp.Place(a.Inst, lane))
		}
	}
}

func (w *Writers) note(a *Allocation, p Place) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil {
		w.last = map[*Allocation]Place{}
	}
	w.last[a] = p
}

// Last tells who wrote the place of the allocation at addr, and false when nobody did.
func (w *Writers) Last(addr uint64) (Place, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for a, p := range w.last {
		if a.Addr == addr {
			return p, true
		}
	}
	return Place{}, false
}

// Writer says in words who wrote: the line, the thread and the block.
func (p *Place) Writer() string {
	text := fmt.Sprintf("thread %v of block %v in %s", p.Thread, p.Block, p.Kernel)
	if p.Line > 0 {
		text += fmt.Sprintf(", %s, line %d", orElse(p.File, "the source"), p.Line)
	}
	return text + p.excerpt()
}

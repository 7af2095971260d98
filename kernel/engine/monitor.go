package engine

import (
	"runtime/metrics"
	"time"

	"github.com/warpbook/warpbook/kernel/rt"
)

// While a program runs, its monitor looks every few milliseconds whether a
// goroutine's stack grows without end, and whether a read of standard input waits.
const (
	monitorEvery = 4 * time.Millisecond
	stdinEvery   = 3         // ticks
	stackAlarm   = 256 << 20 // bytes of all stacks together
	falseAlarm   = 50        // ticks after which it was not one goroutine
)

func (r *run) monitor(ended <-chan struct{}) {
	ticker := time.NewTicker(monitorEvery)
	defer ticker.Stop()
	defer rt.Suspect(false)
	stacks := stackWatch{limit: stackAlarm}
	for tick := 1; ; tick++ {
		select {
		case <-ended:
			return
		case <-ticker.C:
		}
		stacks.look()
		if tick%stdinEvery == 0 {
			r.lookForInput()
		}
	}
}

// lookForInput tells the parent once about a read that waits. A read that is
// seen twice is not about to end.
func (r *run) lookForInput() {
	in := &r.server.stdin
	if r.asked.Load() || !in.wanted() {
		return
	}
	time.Sleep(monitorEvery / 2)
	if in.wanted() && r.asked.CompareAndSwap(false, true) {
		// An error means that the parent is gone.
		_ = r.server.link.send(message{Op: opStdin, Cell: r.cell.ID})
	}
}

// stackWatch raises rt's suspicion while the stacks are large.
type stackWatch struct {
	limit  uint64
	alarms int
	sample [1]metrics.Sample
}

func (w *stackWatch) look() {
	w.sample[0].Name = "/memory/classes/heap/stacks:bytes"
	metrics.Read(w.sample[:])
	if w.sample[0].Value.Kind() != metrics.KindUint64 {
		return
	}
	size := w.sample[0].Value.Uint64()
	if size < w.limit {
		if w.alarms > 0 {
			rt.Suspect(false)
			w.alarms = 0
		}
		return
	}
	rt.Suspect(true)
	if w.alarms++; w.alarms > falseAlarm { // many goroutines, none too deep
		w.limit = size + stackAlarm
		w.alarms = 0
		rt.Suspect(false)
	}
}

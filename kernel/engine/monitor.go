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
	falseAlarm   = 5 * time.Second
)

func (r *run) monitor(ended <-chan struct{}) {
	ticker := time.NewTicker(monitorEvery)
	defer ticker.Stop()
	defer rt.Suspect(false)
	stacks := stackWatch{recursions: rt.Recursions()}
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

// stackWatch raises rt's suspicion when the stacks have grown by stackAlarm.
type stackWatch struct {
	limit      uint64
	since      time.Time // of the suspicion
	recursions int64
	sample     [1]metrics.Sample
}

func (w *stackWatch) look() {
	w.sample[0].Name = "/memory/classes/heap/stacks:bytes"
	metrics.Read(w.sample[:])
	if w.sample[0].Value.Kind() != metrics.KindUint64 {
		return
	}
	size := w.sample[0].Value.Uint64()
	if w.limit == 0 || w.limit > size+stackAlarm {
		w.limit = size + stackAlarm
	}
	found := rt.Recursions() != w.recursions
	w.recursions = rt.Recursions()
	switch {
	case w.since.IsZero():
		if size >= w.limit {
			w.since = time.Now()
			rt.Suspect(true)
		}
	case found, size < w.limit, time.Since(w.since) > falseAlarm:
		// The deferred calls of a goroutine that unwinds must not be taken for
		// another recursion, nor many small stacks for one.
		w.limit, w.since = size+stackAlarm, time.Time{}
		rt.Suspect(false)
	}
}

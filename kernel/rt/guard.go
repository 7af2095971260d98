package rt

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// StopWord is what compiled cells look at: not zero while something in the
// process is to be stopped. Reasons are its bits, and the program that the
// parent process wants to be interrupted.
type StopWord struct {
	bits atomic.Uint32
	id   atomic.Uint32
}

const (
	stopCells   = 1 << iota // cells are being stopped
	stopSuspect             // some goroutine's stack may be far too deep
	stopRequest             // the parent asks, see id
)

// stop is reached by every loop of every compiled cell, so it is a package
// variable. Share puts it into memory that the parent process can write to.
var stop = new(StopWord)

// Share moves the stop word, before the first cell runs, for the engine. A word
// that another process shares is seen by a busy goroutine at once, while a
// message waits until the scheduler has time to read it.
func Share(w *StopWord) { stop = w }

// Request asks for the interruption of a program, from another process.
func (w *StopWord) Request(id int) {
	w.id.Store(uint32(id))
	w.bits.Or(stopRequest)
}

// Clear takes a request back.
func (w *StopWord) Clear() { w.bits.And(^uint32(stopRequest)) }

// Answer clears a request that a message has carried out, for the engine.
func Answer() { stop.Clear() }

// stops counts the cells that are being stopped, and recursions found.
var stops struct {
	sync.Mutex
	cells      int
	recursions atomic.Int64
}

// StackLimit is how much stack a goroutine may use before Enter calls it
// endless recursion, once the engine suspects one.
const StackLimit = 96 << 20

// lingering is how long goroutines of a stopped cell have to notice it after
// the cell's main goroutine has ended.
const lingering = 250 * time.Millisecond

// Check ends the calling goroutine when its cell is interrupted. Compiled cells
// call it in every loop.
func Check() {
	if stop.bits.Load() != 0 {
		halt()
	}
}

// Enter is Check for the start of a function.
func Enter() {
	if stop.bits.Load() != 0 {
		halt()
	}
}

// halt is what Check does when something is to be stopped: perhaps this
// goroutine. It ends by Goexit, which a cell cannot recover from by accident,
// runs deferred calls, and harms nobody in goroutines that a library started.
//
//go:noinline
func halt() {
	bits := stop.bits.Load()
	if bits&stopRequest != 0 {
		if c := running.Load(); c != nil && uint32(c.ID) == stop.id.Load() {
			c.Stop(Interrupted)
		}
		stop.Clear()
	}
	if c := current(); c != nil && c.Stopped() {
		runtime.Goexit()
	}
	if bits&stopSuspect != 0 && stackUsed() > StackLimit {
		Suspect(false)
		stops.recursions.Add(1)
		panic(newRecursion())
	}
}

// Interrupted is the cause of an interrupt, for Stop.
const Interrupted = "interrupt"

// Halt ends the calling goroutine; a select calls it when Done fires.
func Halt() { runtime.Goexit() }

// Done is closed when the cell of the calling goroutine is interrupted.
func Done() <-chan struct{} {
	if c := current(); c != nil {
		return c.done
	}
	return nil
}

// Suspect makes function entries look for a stack that is too deep, for the engine.
func Suspect(on bool) {
	if on {
		stop.bits.Or(stopSuspect)
	} else {
		stop.bits.And(^uint32(stopSuspect))
	}
}

// Recursions counts the goroutines that were too deep, for the engine.
func Recursions() int64 { return stops.recursions.Load() }

// stopping adds n to the number of cells that are being stopped.
func stopping(n int) {
	stops.Lock()
	defer stops.Unlock()
	if stops.cells += n; stops.cells > 0 {
		stop.bits.Or(stopCells)
	} else {
		stop.bits.And(^uint32(stopCells))
	}
}

// Recursion is the error that a cell panics with when it recurses without end.
type Recursion struct{ text string }

func (r *Recursion) Error() string { return r.text }

// RuntimeError makes it a runtime.Error.
func (r *Recursion) RuntimeError() {}

func newRecursion() *Recursion {
	text := "stack overflow: recursion too deep"
	if f := frames(3, 1); len(f) > 0 {
		text += fmt.Sprintf(" (%s, %s)", spaced(f[0].File), f[0].Func)
	}
	return &Recursion{text}
}

// Guard is deferred by every goroutine that a cell starts. A panic is reported
// on the cell's standard error and the process lives.
func Guard() {
	v := recover()
	if v == nil {
		return
	}
	text := PanicText(v)
	if c := current(); c != nil {
		text = fmt.Sprintf("panic in a goroutine started by cell [%d]: %s\n", c.Count, text)
	} else {
		text = fmt.Sprintf("panic in a goroutine: %s\n", text)
	}
	for _, f := range frames(2, maxFrames) {
		text += fmt.Sprintf("    %s, line %d, in %s\n", spaced(f.File), f.Line, f.Func)
	}
	// Nobody is left to tell when standard error cannot be written.
	_, _ = Stderr().WriteString(text)
}

// WaitGroupGo is wg.Go with a Guard.
func WaitGroupGo(wg *sync.WaitGroup, f func()) {
	wg.Go(func() {
		defer Guard()
		f()
	})
}

// stackUsed returns the bytes of stack in use by the calling goroutine.
func stackUsed() uintptr {
	var here byte
	hi := stackTop()
	if hi == 0 { // unknown on this processor: estimate from the depth
		var pc [1]uintptr
		if runtime.Callers(100_000, pc[:]) > 0 {
			return StackLimit + 1
		}
		return 0
	}
	return hi - uintptr(unsafe.Pointer(&here))
}

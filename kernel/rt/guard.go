package rt

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// stop is not zero while something in the process is to be stopped. Compiled
// cells look at it, so it is a package variable.
var stop atomic.Uint32

// stops counts the reasons behind stop.
var stops struct {
	sync.Mutex
	cells   int  // cells that are being stopped
	suspect bool // some goroutine's stack may be far too deep
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
	if stop.Load() != 0 {
		halt()
	}
}

// Enter is Check for the start of a function.
func Enter() {
	if stop.Load() != 0 {
		halt()
	}
}

// halt is what Check does when something is to be stopped: perhaps this
// goroutine. It ends by Goexit, which a cell cannot recover from by accident,
// runs deferred calls, and harms nobody in goroutines that a library started.
//
//go:noinline
func halt() {
	if c := current(); c != nil && c.Stopped() {
		runtime.Goexit()
	}
	if stackUsed() > StackLimit && suspected() {
		Suspect(false)
		panic(newRecursion())
	}
}

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
	stops.Lock()
	defer stops.Unlock()
	stops.suspect = on
	setStop()
}

func suspected() bool {
	stops.Lock()
	defer stops.Unlock()
	return stops.suspect
}

// stopping adds n to the number of cells that are being stopped.
func stopping(n int) {
	stops.Lock()
	defer stops.Unlock()
	stops.cells += n
	setStop()
}

// setStop is called with stops locked.
func setStop() {
	if stops.cells > 0 || stops.suspect {
		stop.Store(1)
	} else {
		stop.Store(0)
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
		text += fmt.Sprintf("    %s, in %s:%d\n", f.Func, f.File, f.Line)
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

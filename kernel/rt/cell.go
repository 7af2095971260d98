package rt

import (
	"os"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// A Host does for cells what needs the engine.
type Host interface {
	Show(c *Cell, v []any)              // render and publish, or capture
	Late(c *Cell, name string) *os.File // a file for the output of a cell that is not running any more; name as in Stream
}

// host is set once, before the first cell runs; running and last are the cell
// that runs now and the newest one.
var (
	host    Host
	running atomic.Pointer[Cell]
	last    atomic.Pointer[Cell]
)

// Serve sets the host, for the engine.
func Serve(h Host) { host = h }

// Cell is one run of a cell. NewCell makes one, for the engine.
type Cell struct {
	labels []label // first: see label
	ID     int
	Count  int
	Tag    any // the engine's own

	done    chan struct{} // closed by Stop
	exit    chan int
	gid     atomic.Int64 // of the main goroutine
	mu      sync.Mutex
	cause   string
	defined []int
	late    map[string]*os.File
}

// NewCell returns a cell that is ready to run.
func NewCell(id, count int) *Cell {
	return &Cell{
		labels: []label{{cellKey, strconv.Itoa(count)}},
		ID:     id, Count: count,
		done: make(chan struct{}), exit: make(chan int, 1),
		late: map[string]*os.File{},
	}
}

// Running returns the cell that runs now, or nil, for the engine.
func Running() *Cell { return running.Load() }

// Current returns the cell of the calling goroutine, for the engine.
func Current() *Cell { return current() }

// current returns the calling goroutine's cell. A goroutine without one, such
// as a timer's, counts as the running cell's, or the last one's.
func current() *Cell {
	if c := labelled(); c != nil {
		return c
	}
	if c := running.Load(); c != nil {
		return c
	}
	return last.Load()
}

// End is how a cell's main goroutine ended. All fields are zero when the cell
// came to its end.
type End struct {
	Panicked bool
	Value    any     // what it panicked with
	Frames   []Frame // where it panicked or was stopped
	Stopped  string  // the cause given to Stop
	Left     bool    // it was stopped, did not end, and was left behind
	Exit     *int    // it called Exit
}

// Run runs f as the cell's main goroutine. A stopped cell that does not end
// within grace is left behind, and at once when it waits for what may never come.
func (c *Cell) Run(f func(), grace time.Duration) End {
	last.Store(c)
	running.Store(c)
	defer running.Store(nil)
	ended := make(chan End, 1)
	go c.main(f, ended)
	var end End
	select {
	case end = <-ended:
	case code := <-c.exit:
		return c.exited(code)
	case <-c.done:
		enough := c.stuck(grace)
		defer enough.stop()
		select {
		case end = <-ended:
		case code := <-c.exit:
			return c.exited(code)
		case <-enough.time:
			end.Left = true
			go func() { <-ended; c.forget() }()
		}
	}
	c.mu.Lock()
	end.Stopped = c.cause
	c.mu.Unlock()
	if end.Stopped != "" && !end.Left {
		c.forget()
	}
	return end
}

// exited ends the cell's other goroutines too; the one that called Exit waits
// for ever, because os.Exit runs no deferred calls.
func (c *Cell) exited(code int) End {
	c.Stop("exit")
	c.forget()
	return End{Exit: &code}
}

// forget lets the process run at full speed again once the cell's goroutines
// had time to notice that they are stopped.
func (c *Cell) forget() { time.AfterFunc(lingering, func() { stopping(-1) }) }

func (c *Cell) main(f func(), ended chan<- End) {
	c.gid.Store(goroutineID())
	setProfLabel(unsafe.Pointer(c))
	debug.SetPanicOnFault(true)
	var end End
	normal := false
	defer func() {
		if v := recover(); v != nil {
			end.Panicked, end.Value = true, v
		}
		if !normal {
			end.Frames = frames(2, maxFrames)
		}
		ended <- end
	}()
	f()
	normal = true
}

// Stop interrupts the cell for a cause, which End then tells. It returns at once.
func (c *Cell) Stop(cause string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause != "" {
		return
	}
	c.cause = cause
	stopping(+1)
	close(c.done)
}

// Stopped reports whether Stop was called.
func (c *Cell) Stopped() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// Define notes that the cell has put a variable into the slot id, for the engine.
func (c *Cell) Define(id int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.defined = append(c.defined, id)
}

// Defined returns the slots that the cell has defined.
func (c *Cell) Defined() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]int(nil), c.defined...)
}

// Show shows the values of the cell's last expression.
func Show(v ...any) {
	if c := current(); c != nil && host != nil && len(v) > 0 {
		host.Show(c, v)
	}
}

package rt

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"
	"time"
)

// glance is how long a stopped cell has between two looks at what it does. Two
// looks that find it in the same wait are enough: the loops and waits of cells
// notice a stop by themselves, so it waits inside a package, in a read from the
// network for example, for what may never come.
const glance = 20 * time.Millisecond

// manyGoroutines is more than can be looked at in passing: all of them stand
// still for it.
const manyGoroutines = 2000

// enough fires when a stopped cell has had its time.
type enough struct {
	time <-chan struct{}
	quit chan struct{}
}

func (e enough) stop() { close(e.quit) }

// stuck starts to look at a stopped cell.
func (c *Cell) stuck(grace time.Duration) enough {
	fired, quit := make(chan struct{}), make(chan struct{})
	go func() {
		var before []byte
		for end := time.Now().Add(grace); time.Now().Before(end); {
			select {
			case <-quit:
				return
			case <-time.After(min(glance, grace)):
			}
			now := waits(c.gid.Load())
			if now != nil && bytes.Equal(now, before) {
				break
			}
			before = now
		}
		close(fired)
	}()
	return enough{fired, quit}
}

// waits returns the calls of a goroutine when it waits, and nil when it runs,
// or waits for output to be taken: that comes to an end.
func waits(id int64) []byte {
	if runtime.NumGoroutine() > manyGoroutines {
		return nil
	}
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	header := fmt.Appendf(nil, "goroutine %d [", id)
	at := bytes.Index(buf, header)
	if at < 0 || at > 0 && buf[at-1] != '\n' {
		return nil
	}
	stack, _, _ := bytes.Cut(buf[at+len(header):], []byte("\n\n"))
	state, calls, _ := bytes.Cut(stack, []byte("\n"))
	state = state[:max(bytes.IndexAny(state, ",]"), 0)]
	switch string(state) {
	case "running", "runnable", "preempted", "copystack", "":
		return nil
	}
	if bytes.Contains(calls, []byte("\nos.(*File).Write(")) || bytes.HasPrefix(calls, []byte("os.(*File).Write(")) {
		return nil
	}
	return calls
}

// goroutineID is the number of the calling goroutine.
func goroutineID() int64 {
	var buf [64]byte
	text := bytes.TrimPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine "))
	number, _, _ := bytes.Cut(text, []byte(" "))
	id, err := strconv.ParseInt(string(number), 10, 64)
	if err != nil { // no goroutine has this number
		return -1
	}
	return id
}

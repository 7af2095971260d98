package rt

import (
	"runtime"
	"sync"
	"time"
	"unsafe"
)

// Sleep is time.Sleep that an interrupt ends.
func Sleep(d time.Duration) {
	if d <= 0 {
		runtime.Gosched()
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-Done():
		Halt()
	}
}

// AfterWait runs f, a wait that only something else ends, in a goroutine of its
// own, so that an interrupt can leave it behind. A panic of f is the caller's.
func AfterWait(f func()) {
	ended := make(chan any, 1)
	go func() {
		normal := false
		defer func() {
			if v := recover(); v != nil {
				ended <- v
			} else if !normal {
				ended <- halted{}
			}
			close(ended)
		}()
		f()
		normal = true
	}()
	select {
	case v := <-ended:
		switch v.(type) {
		case nil:
		case halted:
			Halt()
		default:
			panic(v)
		}
	case <-Done():
		Halt()
	}
}

// halted says that the function ended its goroutine.
type halted struct{}

// WaitGroupWait is wg.Wait that an interrupt ends.
func WaitGroupWait(wg *sync.WaitGroup) { AfterWait(wg.Wait) }

// MutexLock is m.Lock that an interrupt ends.
func MutexLock(m *sync.Mutex) { lock(m.TryLock, m.Lock, m.Unlock) }

// RWMutexLock is m.Lock that an interrupt ends.
func RWMutexLock(m *sync.RWMutex) { lock(m.TryLock, m.Lock, m.Unlock) }

// RWMutexRLock is m.RLock that an interrupt ends.
func RWMutexRLock(m *sync.RWMutex) { lock(m.TryRLock, m.RLock, m.RUnlock) }

// spins is how often lock tries before it starts a goroutine to wait.
const spins = 4

func lock(try func() bool, lock, unlock func()) {
	for range spins {
		if try() {
			return
		}
		runtime.Gosched()
	}
	got, done := make(chan struct{}), Done()
	go func() {
		lock()
		select {
		case got <- struct{}{}:
		case <-done: // the waiter is gone
			unlock()
		}
	}()
	select {
	case <-got:
	case <-done:
		Halt()
	}
}

// CondWait is c.Wait that an interrupt ends. It returns with c.L locked, and an
// interrupted goroutine ends with it locked, because its deferred calls unlock it.
func CondWait(c *sync.Cond) {
	got, done := make(chan struct{}), Done()
	go func() {
		c.Wait()
		select {
		case got <- struct{}{}:
		case <-done: // the waiter is gone
			c.L.Unlock()
		}
	}()
	select {
	case <-got:
	case <-done:
		c.L.Lock()
		Halt()
	}
}

// AfterFunc is time.AfterFunc: f belongs to the calling cell and has a Guard.
func AfterFunc(d time.Duration, f func()) *time.Timer {
	c := current()
	return time.AfterFunc(d, func() {
		defer Guard()
		setProfLabel(unsafe.Pointer(c))
		f()
	})
}

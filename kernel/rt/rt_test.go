package rt

import (
	"bytes"
	"errors"
	"fmt"
	stdlog "log"
	"os"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

type count int
type word string
type angle complex128
type point struct{ x, y int }
type named struct{}

func (named) String() string { return "a\nname" }

func TestPanicText(t *testing.T) {
	var m map[string]int
	runtimeError := func() (v any) {
		defer func() { v = recover() }()
		m["a"] = 1
		return nil
	}()
	for _, test := range []struct {
		value any
		want  string
	}{
		{errors.New("boom"), "boom"},
		{fmt.Errorf("wrapped: %w", os.ErrNotExist), "wrapped: file does not exist"},
		{"two\nlines", "two\n\tlines"},
		{named{}, "a\n\tname"},
		{42, "42"},
		{count(42), "rt.count(42)"},
		{word("w"), `rt.word("w")`},
		{1.5, "1.5"},
		{float32(0.1), "0.1"},
		{angle(1 + 2i), "rt.angle(1+2i)"},
		{true, "true"},
		{runtimeError, "assignment to entry in nil map"},
		{&runtime.PanicNilError{}, "panic called with nil argument"},
	} {
		if got := PanicText(test.value); got != test.want {
			t.Errorf("PanicText(%#v) = %q, want %q", test.value, got, test.want)
		}
	}
	p := &point{}
	if got, want := PanicText(p), fmt.Sprintf("(*rt.point) %p", p); got != want {
		t.Errorf("PanicText(&point{}) = %q, want %q", got, want)
	}
}

func TestFuncName(t *testing.T) {
	for name, want := range map[string]string{
		"wb/s1/c12.fib":                         "fib",
		"wb/s1/c12.(*Point).Move":               "(*Point).Move",
		"wb/s1/c12.wb_entry":                    "cell",
		"wb/s1/c12.wb_entry.func1":              "cell.func1",
		"wb/s1/c12.Map[...]":                    "Map[...]",
		"wb/s1/c12.Map[go.shape.struct{a/b.T}]": "Map[go.shape.struct{a/b.T}]",
	} {
		if got := FuncName(name); got != want {
			t.Errorf("FuncName(%q) = %q, want %q", name, got, want)
		}
	}
}

// run runs f as a cell and stops it after a while when it is still running.
func run(t *testing.T, f func()) (End, time.Duration) {
	t.Helper()
	c := NewCell(1, 1)
	var stopped time.Time
	timer := time.AfterFunc(50*time.Millisecond, func() { stopped = time.Now(); c.Stop("interrupt") })
	defer timer.Stop()
	end := c.Run(f, 2*time.Second)
	return end, time.Since(stopped)
}

func TestInterrupt(t *testing.T) {
	var nilChan chan int
	var locked sync.Mutex
	var rw sync.RWMutex
	var group sync.WaitGroup
	locked.Lock()
	rw.Lock()
	group.Add(1)
	for name, f := range map[string]func(){
		"loop": func() {
			for {
				Check()
			}
		},
		"recovering": func() {
			for {
				func() { defer func() { _ = recover() }(); Check() }()
			}
		},
		"sleep":       func() { Sleep(time.Hour) },
		"send":        func() { Send(make(chan int), 1) },
		"nil channel": func() { Recv(nilChan) },
		"range": func() {
			for range Range(nilChan) {
			}
		},
		"select": func() {
			select {
			case <-nilChan:
			case <-Done():
				Halt()
			}
		},
		"WaitGroup": func() { WaitGroupWait(&group) },
		"Mutex":     func() { MutexLock(&locked) },
		"RWMutex":   func() { RWMutexLock(&rw) },
		"RLock":     func() { RWMutexRLock(&rw) },
		"Cond": func() {
			c := sync.NewCond(new(sync.Mutex))
			c.L.Lock()
			defer c.L.Unlock() // fatal when it is not locked
			CondWait(c)
		},
	} {
		end, d := run(t, f)
		if want := (End{Stopped: "interrupt", Frames: end.Frames}); !reflect.DeepEqual(end, want) {
			t.Errorf("%s: %+v, want %+v", name, end, want)
		}
		if d > 2*time.Second {
			t.Errorf("%s took %v to stop", name, d)
		}
	}
	locked.Unlock()
	locked.Lock() // nobody who was left behind keeps it
}

func TestChannels(t *testing.T) {
	ch := make(chan int, 3)
	var got []int
	end, _ := run(t, func() {
		for i := range 3 {
			Send(ch, i)
		}
		close(ch)
		for v := range Range(ch) {
			got = append(got, v)
		}
		if v, ok := Recv2(ch); v != 0 || ok {
			panic("closed channel")
		}
		Send(ch, 1)
	})
	if !reflect.DeepEqual(got, []int{0, 1, 2}) {
		t.Error(got)
	}
	if PanicText(end.Value) != "send on closed channel" {
		t.Errorf("%+v", end)
	}
}

func TestEnds(t *testing.T) {
	deferred := false
	end, _ := run(t, func() { defer func() { deferred = true }(); Exit(3) })
	if end.Exit == nil || *end.Exit != 3 || deferred {
		t.Errorf("Exit: %+v, deferred calls ran: %v", end, deferred)
	}
	if end, _ := run(t, Goexit); !reflect.DeepEqual(end, End{Frames: end.Frames}) {
		t.Errorf("Goexit: %+v", end)
	}
	if end, _ := run(t, func() { AfterWait(func() { panic("in the wait") }) }); end.Value != "in the wait" {
		t.Errorf("AfterWait: %+v", end)
	}
	if end, _ := run(t, func() { Define(Slot0); Define(2) }); end.Panicked {
		t.Errorf("%+v", end)
	}
}

const Slot0 = 1

// A goroutine belongs to the cell that started it, also when another runs.
func TestCurrent(t *testing.T) {
	next, answer := make(chan bool), make(chan *Cell)
	first, second := NewCell(1, 1), NewCell(2, 2)
	first.Run(func() { go func() { <-next; answer <- Current() }() }, time.Second)
	second.Run(func() {
		close(next)
		if c := <-answer; c != first {
			t.Errorf("the goroutine belongs to %+v", c)
		}
		if c := Current(); c != second {
			t.Errorf("the cell's own goroutine belongs to %+v", c)
		}
	}, time.Second)
}

// Waits that end by themselves do what the originals do.
func TestWaits(t *testing.T) {
	var log bytes.Buffer
	end, _ := run(t, func() {
		c, ready := sync.NewCond(new(sync.Mutex)), false
		go func() { c.L.Lock(); ready = true; c.L.Unlock(); c.Signal() }()
		c.L.Lock()
		for !ready {
			CondWait(c)
		}
		c.L.Unlock()

		var group sync.WaitGroup
		var m sync.Mutex
		sum := 0
		for i := range 100 {
			WaitGroupGo(&group, func() { MutexLock(&m); defer m.Unlock(); sum += i })
		}
		WaitGroupWait(&group)
		if sum != 4950 {
			panic(sum)
		}

		whose := make(chan *Cell)
		AfterFunc(time.Millisecond, func() { whose <- labelled() })
		if <-whose != Current() {
			panic("the timer's function belongs to nobody")
		}
		LoggerFatalf(stdlog.New(&log, "prefix: ", stdlog.Lshortfile), "%d", 7)
	})
	if end.Exit == nil || *end.Exit != 1 || !strings.HasPrefix(log.String(), "prefix: rt_test.go:") || !strings.HasSuffix(log.String(), ": 7\n") {
		t.Errorf("%+v, log %q", end, log.String())
	}
}

func BenchmarkCheck(b *testing.B) {
	for b.Loop() {
		Check()
	}
}

func BenchmarkRecv(b *testing.B) {
	ch := make(chan int, 1)
	for b.Loop() {
		Send(ch, 1)
		Recv(ch)
	}
}

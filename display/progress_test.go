package display

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// clock is a time that the test moves.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

func TestProgress(t *testing.T) {
	host := connect(t, Renderers{})
	c := &clock{t: time.Unix(0, 0)}
	b := newBar(200, "load <x>", c.now)
	for range 100 { // 50 ms a step: every other one may be shown
		c.move(50 * time.Millisecond)
		b.Add(1)
	}
	b.Set(150)
	c.move(time.Second)
	b.Done()
	b.Add(1)
	b.Done()
	messages := host.all()
	if n := len(messages); n < 40 || n > 60 {
		t.Errorf("%d messages for 5 s of work", n)
	}
	for i, m := range messages {
		if want := map[bool]Kind{true: Data, false: Update}[i == 0]; m.Kind != want || m.ID != messages[0].ID {
			t.Errorf("message %d is %s with id %s", i, m.Kind, m.ID)
		}
	}
	last := messages[len(messages)-1].Bundle
	golden(t, "progress.golden", fmt.Sprintf("%s\n%s\n%s\n%s\n",
		text(t, messages[0].Bundle), text(t, messages[20].Bundle), text(t, last), last.Data["text/html"]))
}

// The last state before a pause is shown without another call.
func TestProgressShowsPause(t *testing.T) {
	host := connect(t, Renderers{})
	b := Progress(10, "")
	b.Add(1)
	b.Add(2)
	deadline := time.Now().Add(10 * time.Second)
	for time.Now().Before(deadline) {
		messages := host.all()
		if strings.Contains(text(t, messages[len(messages)-1].Bundle), " 3/10") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("3/10 was never shown")
}

func TestTrack(t *testing.T) {
	host := connect(t, Renderers{})
	sum := 0
	for i := range Track(5, "all") {
		sum += i
	}
	for i := range Track(5, "some") {
		if i == 2 {
			break
		}
	}
	func() {
		defer func() { _ = recover() }()
		for range Track(5, "panic") {
			panic("in the loop")
		}
	}()
	for range Track(0, "none") {
		t.Error("a loop of nothing ran")
	}
	last := map[string]string{}
	for _, m := range host.all() {
		label, _, _ := strings.Cut(text(t, m.Bundle), " ")
		last[label] = text(t, m.Bundle)
	}
	for label, want := range map[string]string{"all": "5/5", "some": "2/5", "panic": "0/5", "none": "none 0"} {
		if !strings.Contains(last[label], want) {
			t.Errorf("%s ends as %q, want %s in it", label, last[label], want)
		}
	}
	if sum != 10 {
		t.Errorf("sum is %d", sum)
	}
}

func TestProgressNumbers(t *testing.T) {
	for _, tt := range []struct {
		done, total int
		spent       time.Duration
		want        string
	}{
		{0, 10, time.Second, "0/10"},
		{5, 10, 10 * time.Second, "5/10  2.0 s each  10 s left"},
		{1, 3601, time.Second, "1/3601  1/s  1:00 h left"},
		{500, 1000, time.Second, "500/1000  500/s  1.0 s left"},
		{10, 10, 150 * time.Second, "10/10  15 s each  in 2:30 min"},
		{7, 0, time.Second, "7  7/s"},
	} {
		b := &Bar{done: tt.done, total: tt.total, shown: time.Unix(0, 0).Add(tt.spent), began: time.Unix(0, 0)}
		if got := b.numbers(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

package display

import (
	"fmt"
	"html"
	"iter"
	"os"
	"strings"
	"sync"
	"time"
)

// redraw is the shortest time between two updates of a bar.
const redraw = 100 * time.Millisecond

// A Bar shows how far work has come, in one output that is updated in place, at
// most about ten times a second. Its last state is always shown.
type Bar struct {
	label string
	total int
	now   func() time.Time

	mu      sync.Mutex
	done    int
	ended   bool
	pending bool // a goroutine waits to show the latest state
	began   time.Time
	shown   time.Time
	handle  *Handle
	tty     bool // no host, and standard error is a terminal
}

// Progress shows a bar for total steps; with total 0 or less, it counts only.
//
//	p := display.Progress(len(files), "reading")
//	defer p.Done()
func Progress(total int, label string) *Bar {
	return newBar(total, label, time.Now)
}

func newBar(total int, label string, now func() time.Time) *Bar {
	b := &Bar{label: label, total: total, now: now, began: now(), tty: isTerminal(os.Stderr)}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.draw()
	return b
}

// Track counts from 0 to n-1 and shows a bar meanwhile:
//
//	for i := range display.Track(n, "training") { ... }
func Track(n int, label string) iter.Seq[int] {
	return func(yield func(int) bool) {
		b := Progress(n, label)
		defer b.Done()
		for i := range n {
			if !yield(i) {
				return
			}
			b.Add(1)
		}
	}
}

// Add counts n more steps as done.
func (b *Bar) Add(n int) { b.step(func() { b.done += n }) }

// Set says how many steps are done.
func (b *Bar) Set(done int) { b.step(func() { b.done = done }) }

// Done ends the bar and shows its last state. Later calls change nothing.
func (b *Bar) Done() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.ended {
		b.ended = true
		b.draw()
	}
}

// Count is how many steps are done.
func (b *Bar) Count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.done
}

// String is the bar as text.
func (b *Bar) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text()
}

func (b *Bar) step(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return
	}
	change()
	wait := redraw - b.now().Sub(b.shown)
	switch {
	case wait <= 0 || b.total > 0 && b.done == b.total:
		b.draw()
	case !b.pending:
		// A goroutine of the caller's, not a timer's: the kernel knows by the
		// goroutine which cell the output belongs to.
		b.pending = true
		go b.later(wait)
	}
}

// later shows what has been counted since, if the counting pauses.
func (b *Bar) later(wait time.Duration) {
	time.Sleep(wait)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pending = false
	if !b.ended && b.now().Sub(b.shown) >= redraw {
		b.draw()
	}
}

// draw shows the state. The caller holds b.mu, so states arrive in order.
func (b *Bar) draw() {
	b.shown = b.now()
	if current().host == nil {
		b.drawTerminal()
		return
	}
	state := Bundle{Data: map[string]any{"text/html": b.html(), "text/plain": b.text()}}
	if b.handle == nil {
		b.handle = showBundle(state)
		return
	}
	b.handle.send(Update, state)
}

// drawTerminal writes over the line on a terminal; a file gets the end only.
func (b *Bar) drawTerminal() {
	switch {
	case b.tty:
		end := ""
		if b.ended {
			end = "\n"
		}
		fmt.Fprintf(os.Stderr, "\r\x1b[K%s%s", b.text(), end)
	case b.ended:
		fmt.Fprintln(os.Stderr, b.text())
	}
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

func (b *Bar) fraction() float64 {
	if b.total <= 0 {
		return 0
	}
	return min(max(float64(b.done)/float64(b.total), 0), 1)
}

// numbers is the count with rate and remaining time.
func (b *Bar) numbers() string {
	spent := b.shown.Sub(b.began).Seconds()
	s := fmt.Sprint(b.done)
	if b.total > 0 {
		s += fmt.Sprintf("/%d", b.total)
	}
	if spent <= 0 || b.done <= 0 {
		return s
	}
	rate := float64(b.done) / spent
	s += "  " + perSecond(rate)
	switch {
	case b.ended || b.total > 0 && b.done >= b.total:
		s += "  in " + seconds(spent)
	case b.total > 0:
		s += "  " + seconds(float64(b.total-b.done)/rate) + " left"
	}
	return s
}

func perSecond(rate float64) string {
	if rate < 1 {
		return seconds(1/rate) + " each"
	}
	if rate >= 100 {
		return fmt.Sprintf("%.0f/s", rate)
	}
	return fmt.Sprintf("%.3g/s", rate)
}

func seconds(s float64) string {
	switch {
	case s < 10:
		return fmt.Sprintf("%.1f s", s)
	case s < 120:
		return fmt.Sprintf("%.0f s", s)
	}
	m := int(s / 60)
	if m < 60 {
		return fmt.Sprintf("%d:%02d min", m, int(s)%60)
	}
	return fmt.Sprintf("%d:%02d h", m/60, m%60)
}

func (b *Bar) text() string {
	var parts []string
	if b.label != "" {
		parts = append(parts, b.label)
	}
	if b.total > 0 {
		const cells = 24
		full := int(b.fraction() * cells)
		parts = append(parts, fmt.Sprintf("%3.0f%% [%s%s]", 100*b.fraction(), strings.Repeat("#", full), strings.Repeat(".", cells-full)))
	}
	return strings.Join(append(parts, b.numbers()), " ")
}

func (b *Bar) html() string {
	bar := ""
	if b.total > 0 {
		bar = fmt.Sprintf(`<progress value="%d" max="%d" style="width: 240px; vertical-align: middle"></progress> <span>%.0f%%</span> `,
			min(max(b.done, 0), b.total), b.total, 100*b.fraction())
	}
	return fmt.Sprintf(`<div><span>%s</span> %s<span style="opacity: 0.7">%s</span></div>`,
		html.EscapeString(b.label), bar, html.EscapeString(b.numbers()))
}

package engine

import (
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/warpbook/warpbook/kernel/rt"
)

// lastWords filters standard error. What looks like the report of a dying Go
// program is held back for a moment: when the child dies it is summed up,
// otherwise it was ordinary output.
type lastWords struct {
	emit func(text string)

	mu    sync.Mutex
	held  strings.Builder
	line  bool // the text before ended within a line
	timer *time.Timer
}

// holding is longer than a process needs to write its report and die.
const holding = 500 * time.Millisecond

// maxHeld bounds what is held back: the report of many goroutines is long.
const maxHeld = 4 << 20

var report = regexp.MustCompile(`(?m)^(fatal error: |panic: |runtime: goroutine stack exceeds|SIG[A-Z]+: |unexpected fault address|fatal: )`)

// add takes text from standard error; calls follow one another.
func (w *lastWords) add(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := w.split(text); now != "" {
		w.emit(now)
	}
}

// split keeps what is to be held back and returns the rest. It is called with mu held.
func (w *lastWords) split(text string) (now string) {
	if w.held.Len() > 0 {
		if w.held.Len()+len(text) <= maxHeld {
			w.held.WriteString(text)
		}
		return ""
	}
	at := -1
	for _, m := range report.FindAllStringIndex(text, -1) {
		if m[0] > 0 || !w.line {
			at = m[0]
			break
		}
	}
	w.line = !strings.HasSuffix(text, "\n")
	if at < 0 {
		return text
	}
	w.held.WriteString(text[at:])
	w.timer = time.AfterFunc(holding, w.release)
	return text[:at]
}

// release emits what is held back.
func (w *lastWords) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := w.held.String()
	w.held.Reset()
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
	if text != "" {
		w.emit(text)
	}
}

// reset begins a new program.
func (w *lastWords) reset() {
	w.release()
	w.mu.Lock()
	w.line = false
	w.mu.Unlock()
}

var frameLine = regexp.MustCompile(`^\t(?:.*/)?cell\[(\d+)\]:(\d+)`)

// summary is the report of a dead child: the reason and the notebook's frames
// of the goroutine that failed.
func (w *lastWords) summary() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
	}
	reason, trace, _ := strings.Cut(w.held.String(), "\n\n")
	text := strings.TrimSpace(reason)
	_, first, _ := strings.Cut(trace, "goroutine ")
	first, _, _ = strings.Cut(first, "\n\n")
	lines := strings.Split(first, "\n")
	for i, line := range lines {
		if m := frameLine.FindStringSubmatch(line); m != nil && i > 0 && !strings.HasPrefix(lines[i-1], "created by ") {
			text += "\n    cell [" + m[1] + "], line " + m[2] + ", in " + calledFunc(lines[i-1])
		}
	}
	return text
}

// calledFunc is the function's name in a line such as "wb/s1/c2.fib(0x1, ...)".
func calledFunc(line string) string {
	if i := strings.LastIndexByte(line, '('); i > 0 {
		line = line[:i]
	}
	return rt.FuncName(line)
}

package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/warpbook/warpbook/install"
)

// progress shows what goes on: bars on a terminal, a line for each new step
// elsewhere.
type progress struct {
	w        io.Writer
	terminal bool

	mu   sync.Mutex
	text string
	bar  *progressbar.ProgressBar
}

func newProgress(f *os.File) *progress {
	return &progress{w: f, terminal: term.IsTerminal(int(f.Fd()))}
}

func (p *progress) step(s install.Step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.Text != p.text {
		p.finish()
		p.text = s.Text
		if !p.terminal {
			fmt.Fprintln(p.w, s.Text)
			return
		}
		total := s.Total
		if total <= 1 {
			total = -1 // not known: a spinner
		}
		p.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(p.w), progressbar.OptionSetDescription(s.Text),
			progressbar.OptionSetWidth(24), progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(false),
			progressbar.OptionSetElapsedTime(true), progressbar.OptionThrottle(65*time.Millisecond),
			progressbar.OptionSpinnerType(14), progressbar.OptionUseANSICodes(true))
	}
	if p.bar != nil && s.Total > 1 {
		_ = p.bar.Set(s.Done) // a bar that cannot be drawn does not matter
	}
}

func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Finish()
		fmt.Fprintln(p.w)
		p.bar = nil
	}
}

// end leaves the last bar as it stands.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finish()
	p.text = ""
}

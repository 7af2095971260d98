package server

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/warpbook/warpbook/display"
	"github.com/warpbook/warpbook/kernel/session"
	"github.com/warpbook/warpbook/kernel/wire"
)

// Printed text is sent when this much has gathered or this much time has passed,
// and before whatever must come after it.
const (
	streamBytes = 64 << 10
	streamDelay = 50 * time.Millisecond
)

// output takes what one request's code produces to the front ends: it is the
// session.Events of a cell or a comm message. It lives as long as anything may
// print into it, with the request as its parent.
type output struct {
	k      *kernel
	parent *wire.Message
	silent bool // nothing is shown
	stdin  bool // the front end takes input requests
	store  bool // results go to the history
	count  int
	ctx    context.Context // ends when the cell is interrupted or has ended
	cancel context.CancelCauseFunc

	mu      sync.Mutex // held while publishing, so that the order is that of the calls
	stream  string     // name of the stream that text belongs to
	text    []byte     // printed and not yet sent
	timer   *time.Timer
	ticking bool
}

var _ session.Events = (*output)(nil)

var (
	errInterrupted = errors.New("interrupted while it waited")
	errEnded       = errors.New("the cell has ended, so it cannot ask for input; ask before it ends")
)

func (k *kernel) newOutput(r *request) *output {
	o := &output{k: k, parent: r.parent(), count: k.count}
	o.ctx, o.cancel = context.WithCancelCause(k.ctx)
	return o
}

func (o *output) interrupt() { o.cancel(errInterrupted) }

// end marks that the cell has ended and sends all that it has printed. Goroutines
// that it left behind may still print.
func (o *output) end() {
	o.cancel(errEnded)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flush(true)
}

// Stream implements session.Events.
func (o *output) Stream(name, text string) {
	if o.silent || text == "" {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if name != o.stream {
		o.flush(true)
		o.stream = name
	}
	o.text = append(o.text, text...)
	if len(o.text) >= streamBytes {
		o.send(streamBytes)
	}
	if len(o.text) > 0 && !o.ticking {
		o.ticking = true
		if o.timer == nil {
			o.timer = time.AfterFunc(streamDelay, o.tick)
		} else {
			o.timer.Reset(streamDelay)
		}
	}
}

func (o *output) tick() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ticking = false
	o.flush(false)
}

// flush sends all text. Unless all is to go, the beginning of a rune at its end
// waits for the rest.
func (o *output) flush(all bool) {
	o.send(1)
	if all && len(o.text) > 0 { // part of a rune, and nothing will complete it
		o.sendPiece(o.text)
		o.text = o.text[:0]
	}
}

// send sends text in pieces that end between runes, as long as there are least
// bytes of it.
func (o *output) send(least int) {
	text := o.text
	for len(text) >= least {
		n := whole(text, streamBytes)
		if n == 0 {
			break
		}
		o.sendPiece(text[:n])
		text = text[n:]
	}
	if cap(o.text) > 16*streamBytes {
		o.text = nil // one huge print should not stay in memory
	}
	o.text = append(o.text[:0], text...)
}

func (o *output) sendPiece(text []byte) {
	o.k.publishValue(o.parent, "stream", struct {
		Name string `json:"name"`
		Text string `json:"text"`
	}{o.stream, string(text)})
}

// whole returns the length of the longest beginning of text, at most limit bytes,
// that does not end inside a rune.
func whole(text []byte, limit int) int {
	n := min(len(text), limit)
	for i := n - 1; i >= 0 && i >= n-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:n]) {
				return i
			}
			break
		}
	}
	return n
}

// Publish implements session.Events.
func (o *output) Publish(m display.Message) {
	if o.silent {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flush(true)
	if m.Kind == display.Clear {
		o.k.publishValue(o.parent, string(m.Kind), map[string]bool{"wait": m.Wait})
		return
	}
	data, bad := encodeBundle(m.Bundle)
	for _, err := range bad {
		o.k.log.Warn("a part of an output cannot be shown", "err", err)
		o.text = append(append(o.text, err.Error()...), '\n')
	}
	if len(bad) > 0 {
		o.stream = "stderr"
		o.flush(true)
	}
	content := struct {
		Data      map[string]any  `json:"data"`
		Metadata  map[string]any  `json:"metadata"`
		Transient *map[string]any `json:"transient,omitempty"`
		Count     *int            `json:"execution_count,omitempty"`
	}{Data: data, Metadata: m.Bundle.Metadata}
	if content.Metadata == nil {
		content.Metadata = map[string]any{}
	}
	switch m.Kind {
	case display.Data, display.Update:
		content.Transient = &map[string]any{}
	case display.Result:
		content.Count = &o.count
	default:
		o.k.log.Error("a message of unknown kind was not shown", "kind", m.Kind)
		return
	}
	if m.ID != "" {
		content.Transient = &map[string]any{"display_id": m.ID}
	}
	o.k.publishValue(o.parent, string(m.Kind), content)
	if text, ok := m.Bundle.Data["text/plain"].(string); ok && o.store && m.Kind == display.Result {
		o.k.opts.History.AddOutput(o.count, text)
	}
}

// publishError shows that the cell failed.
func (o *output) publishError(f *failure) {
	if o.silent {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flush(true)
	o.k.publishValue(o.parent, "error", failure{Name: f.Name, Value: f.Value, Traceback: f.Traceback})
}

// Comm implements session.Events. Comms are not output: silent requests send
// theirs too.
func (o *output) Comm(c session.Comm) {
	msgType := "comm_" + c.Kind
	content := map[string]any{"comm_id": c.ID, "data": c.Data}
	switch c.Kind {
	case "open":
		content["target_name"] = c.Target
	case "msg", "close":
	default:
		o.k.log.Error("a comm message of unknown kind was not sent", "kind", c.Kind)
		return
	}
	if c.Data == nil {
		content["data"] = map[string]any{}
	}
	raw, err := wire.Marshal(content)
	var metadata json.RawMessage
	if err == nil && len(c.Metadata) > 0 {
		metadata, err = wire.Marshal(c.Metadata)
	}
	if err != nil {
		o.k.log.Error("a comm message cannot be encoded and was not sent", "type", msgType, "err", err)
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flush(true)
	o.k.publish(o.parent, msgType, raw, metadata, c.Buffers)
}

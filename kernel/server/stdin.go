package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/warpbook/warpbook/kernel/session"
	"github.com/warpbook/warpbook/kernel/transport"
	"github.com/warpbook/warpbook/kernel/wire"
)

// stdin is the one question to the user that may be open at a time. All that
// arrives on the socket is read at once, so a reply that comes when nothing was
// asked, or after an interrupt, cannot answer a later question.
type stdin struct {
	turn chan struct{} // holds a token while a question is open

	mu   sync.Mutex
	open *question
}

type question struct {
	to     [][]byte // identities of the front end that was asked
	ids    []string // a reply's parent, if it names one, is one of these
	answer chan string
}

// Input implements session.Events.
func (o *output) Input(ctx context.Context, prompt string, password bool) (string, error) {
	if !o.stdin {
		return "", session.ErrNoStdin
	}
	k := o.k
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(o.ctx, func() { cancel(context.Cause(o.ctx)) })()
	select {
	case k.stdin.turn <- struct{}{}:
		defer func() { <-k.stdin.turn }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return "", fmt.Errorf("no input: %w", context.Cause(ctx))
	}
	m, err := k.wire.Reply(o.parent, "input_request", map[string]any{"prompt": prompt, "password": password})
	if err != nil {
		return "", fmt.Errorf("cannot ask for input: %w", err)
	}
	q := &question{to: o.parent.Identities, ids: []string{m.Header.MsgID, o.parent.Header.MsgID}, answer: make(chan string, 1)}
	k.stdin.set(q)
	defer k.stdin.set(nil)
	o.mu.Lock()
	o.flush(true) // what was printed may explain the question
	o.mu.Unlock()
	if err := k.sendInput(ctx, m); err != nil {
		return "", fmt.Errorf("cannot ask for input; is the front end still there? %w", err)
	}
	select {
	case text := <-q.answer:
		return text, nil
	case <-ctx.Done():
		return "", fmt.Errorf("no input: %w", context.Cause(ctx))
	}
}

// connecting is how long a front end may take to connect its stdin socket after it
// has sent a request: it opens its sockets one by one.
const connecting = 5 * time.Second

// sendInput sends a question to a front end that may still be connecting.
func (k *kernel) sendInput(ctx context.Context, m *wire.Message) error {
	const pause = 20 * time.Millisecond
	for waited := time.Duration(0); ; waited += pause {
		err := k.send(stdinChannel, m)
		if !errors.Is(err, transport.ErrUnknownPeer) || waited >= connecting {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}

func (s *stdin) set(q *question) {
	s.mu.Lock()
	s.open = q
	s.mu.Unlock()
}

// reply gives the text to the open question if it is the one that m answers.
func (s *stdin) reply(m *wire.Message, text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.open
	if q == nil || !slices.EqualFunc(q.to, m.Identities, slices.Equal[[]byte]) {
		return false
	}
	// Many clients send no parent; one that does must mean this question.
	if parent, ok := m.Parent(); ok && parent.MsgID != "" && !slices.Contains(q.ids, parent.MsgID) {
		return false
	}
	s.open = nil
	q.answer <- text
	return true
}

func (k *kernel) serveStdin() {
	incoming := k.sockets.Recv(stdinChannel)
	for {
		select {
		case frames, ok := <-incoming:
			if !ok {
				return
			}
			if r := k.receive(stdinChannel, frames); r != nil {
				k.inputReply(r.msg)
			}
		case <-k.ctx.Done():
			return
		}
	}
}

func (k *kernel) inputReply(m *wire.Message) {
	if m.Header.MsgType != "input_reply" {
		k.log.Warn("a message on stdin that is no input_reply was ignored", "type", m.Header.MsgType)
		return
	}
	var content struct {
		Value *string `json:"value"`
	}
	if err := json.Unmarshal(m.Content, &content); err != nil || content.Value == nil {
		k.log.Warn("an input_reply without a value was ignored", "err", err)
		return
	}
	if !k.stdin.reply(m, *content.Value) {
		k.log.Info("an input_reply was ignored; nothing was asked, or somebody else")
	}
}

package transport

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"unicode/utf8"
)

const (
	maxTopics  = 1024      // subscriptions of one peer
	maxControl = 128 << 10 // bytes of a message that a subscriber may send
)

// publisher is a PUB socket on guarded peers.
type publisher struct {
	guard   *guard
	welcome func(topic string) [][]byte

	order sync.Mutex // held by publish: all peers see messages in one order
	mu    sync.Mutex // guards topics, and that a welcome comes before what follows it
	peers map[*peer]*topics
}

// topics counts a peer's subscriptions; the same one may come twice.
type topics struct {
	count map[string]int
}

func (t *topics) match(topic string) bool {
	if t.count[""] > 0 {
		return true
	}
	for prefix := range t.count {
		if strings.HasPrefix(topic, prefix) {
			return true
		}
	}
	return false
}

func newPublisher(g *guard, welcome func(topic string) [][]byte) *publisher {
	p := &publisher{guard: g, welcome: welcome, peers: map[*peer]*topics{}}
	g.admit = p.admit
	g.start()
	return p
}

// admit serves a subscriber in a goroutine of the guard's.
func (s *publisher) admit(p *peer) {
	p.in.command = func(name string, body []byte) error {
		switch name {
		case "SUBSCRIBE":
			return s.subscribe(p, string(body))
		case "CANCEL":
			s.cancel(p, string(body))
			return nil
		}
		return p.command(name, body)
	}
	s.mu.Lock()
	s.peers[p] = &topics{count: map[string]int{}}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.peers, p)
	}()
	for {
		if err := s.read(p); err != nil {
			p.close(err)
			return
		}
	}
}

// read takes a subscription in ZMTP 3.0's form, a message; others are ignored.
func (s *publisher) read(p *peer) error {
	frames, held, err := p.in.message()
	if err != nil {
		return err
	}
	p.in.release(held)
	if len(frames) != 1 || len(frames[0]) == 0 {
		return nil
	}
	switch topic := string(frames[0][1:]); frames[0][0] {
	case 1:
		return s.subscribe(p, topic)
	case 0:
		s.cancel(p, topic)
	}
	return nil
}

// subscribe adds a topic and welcomes the peer before anything else it gets.
// A welcome is for topics that are UTF-8: it has to name them in JSON.
func (s *publisher) subscribe(p *peer, topic string) error {
	var hello *packet
	if s.welcome != nil && utf8.ValidString(topic) {
		if frames := s.welcome(topic); len(frames) > 0 {
			hello = encode(frames)
		}
	}
	p.heard.Store(true)
	if !p.out.room() {
		return net.ErrClosed
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.peers[p]
	if len(t.count) >= maxTopics {
		return fmt.Errorf("%w: more than %d subscriptions", errMalformed, maxTopics)
	}
	t.count[topic]++
	if hello != nil {
		p.out.push(hello)
	}
	return nil
}

func (s *publisher) cancel(p *peer, topic string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.peers[p]
	if t.count[topic]--; t.count[topic] <= 0 {
		delete(t.count, topic)
	}
}

// publish sends a message to all who subscribe to its first frame. It waits for
// those whose queues are full: until they have read, or are disconnected.
func (s *publisher) publish(frames [][]byte) error {
	if len(frames) == 0 {
		return fmt.Errorf("a message on iopub needs a topic frame")
	}
	topic, message := string(frames[0]), encode(frames)
	s.order.Lock()
	defer s.order.Unlock()
	for _, p := range s.subscribers(topic) {
		p.out.room()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for p, t := range s.peers {
		if t.match(topic) {
			p.out.push(message)
		}
	}
	return nil
}

func (s *publisher) subscribers(topic string) []*peer {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*peer, 0, len(s.peers))
	for p, t := range s.peers {
		if t.match(topic) {
			out = append(out, p)
		}
	}
	return out
}

func (s *publisher) close(ctx context.Context) error {
	s.guard.shut()
	return s.guard.finish(ctx)
}

package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/transport"
	"github.com/google/uuid"
)

// ErrUnknownPeer is returned for a reply to someone who is not connected.
var ErrUnknownPeer = errors.New("no such peer is connected")

// routerSocket is a go-zeromq ROUTER whose connections are guarded peers.
//
// The peer's goroutine path is: go-zeromq reads from a zmqConn, which hands it
// one whole message of the peer's reader at a time; go-zeromq writes to the
// zmqConn, which puts whole messages on the peer's queue and never waits.
type routerSocket struct {
	guard *guard
	sock  zmq4.Socket
	stop  context.CancelFunc
	fresh chan *zmqConn // admitted, for go-zeromq to accept
	shut  chan struct{} // closed first when closing: received messages are dropped
	out   chan [][]byte
	live  sync.WaitGroup // connections that go-zeromq holds, and the pump

	mu    sync.Mutex
	peers map[string]*peer
}

// newRouter serves the guard's peers.
func newRouter(g *guard) (*routerSocket, error) {
	if err := registered(); err != nil {
		return nil, err
	}
	s := &routerSocket{
		guard: g,
		fresh: make(chan *zmqConn),
		shut:  make(chan struct{}),
		out:   make(chan [][]byte),
		peers: map[string]*peer{},
	}
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), listenerKey{}, s))
	s.stop = cancel
	s.sock = zmq4.NewRouter(ctx, zmq4.WithLogger(log.New(io.Discard, "", 0)))
	if err := s.sock.Listen(scheme + "://" + g.ln.Addr().String()); err != nil {
		cancel()
		return nil, err
	}
	g.admit = s.admit
	go s.pump(ctx)
	g.start()
	return s, nil
}

// admit gives a peer to go-zeromq. A peer without an identity gets one; a peer
// with another's takes its place, as a client does that connects again before
// its old connection is known to be dead.
func (s *routerSocket) admit(p *peer) {
	if p.identity == "" {
		id := uuid.New()
		p.identity = "\x00" + string(id[:]) // a peer cannot choose ids that begin with zero
	}
	s.mu.Lock()
	old := s.peers[p.identity]
	s.peers[p.identity] = p
	s.mu.Unlock()
	if old != nil {
		old.close(nil)
	}
	c := newZmqConn(p, s)
	s.live.Add(1)
	select {
	case s.fresh <- c:
	case <-s.shut:
		c.Close()
	}
}

func (s *routerSocket) forget(p *peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.peers[p.identity] == p {
		delete(s.peers, p.identity)
	}
}

// pump moves messages from go-zeromq to out.
func (s *routerSocket) pump(ctx context.Context) {
	defer close(s.out)
	for {
		msg, err := s.sock.Recv()
		if ctx.Err() != nil {
			return
		}
		if err != nil || len(msg.Frames) < 2 {
			s.guard.log.Warn("message dropped", "reason", fmt.Sprint(err))
			continue
		}
		select {
		case s.out <- msg.Frames:
		case <-s.shut:
		}
		s.release(msg.Frames[1:])
	}
}

// release gives back the share of the budget that a received message held.
func (s *routerSocket) release(frames [][]byte) {
	size := int64(0)
	for _, frame := range frames {
		size += int64(len(frame)) + overhead
	}
	if budget := s.guard.limits.budget; budget != nil && size > smallMessage {
		budget.Release(size)
	}
}

// send routes frames[1:] to the peer that frames[0] names. It never waits.
func (s *routerSocket) send(frames [][]byte) error {
	if len(frames) < 2 {
		return errors.New("a reply needs the peer's identity and at least one frame")
	}
	s.mu.Lock()
	p := s.peers[string(frames[0])]
	s.mu.Unlock()
	if p == nil {
		return fmt.Errorf("%w: %q", ErrUnknownPeer, frames[0])
	}
	if p.out.flooded() {
		p.close(errFlooded)
		return fmt.Errorf("%w: %q: %w", ErrUnknownPeer, frames[0], errFlooded)
	}
	return s.sock.Send(zmq4.NewMsgFrom(frames...))
}

// close flushes the queues until ctx is done and ends everything.
func (s *routerSocket) close(ctx context.Context) error {
	close(s.shut)
	s.guard.shut()
	err := s.guard.finish(ctx)
	s.live.Wait() // the pump empties go-zeromq's queue meanwhile
	s.stop()
	return errors.Join(err, s.sock.Close())
}

// scheme names our transport to go-zeromq.
const scheme = "guarded"

// registered adds the transport to go-zeromq's list, which is global, once.
var registered = sync.OnceValue(func() error { return zmq4.RegisterTransport(scheme, guardedTransport{}) })

// guardedTransport is go-zeromq's way to a routerSocket, which travels in the
// socket's context because the list of transports knows names only.
type guardedTransport struct{}

type listenerKey struct{}

func (guardedTransport) Dial(context.Context, transport.Dialer, string) (net.Conn, error) {
	return nil, errors.New("the guarded transport only listens")
}

func (guardedTransport) Addr(endpoint string) (string, error) { return endpoint, nil }

func (guardedTransport) Listen(ctx context.Context, _ string) (net.Listener, error) {
	s, ok := ctx.Value(listenerKey{}).(*routerSocket)
	if !ok {
		return nil, errors.New("the guarded transport is for package transport only")
	}
	return zmqListener{s}, nil
}

// zmqListener hands admitted peers to go-zeromq.
type zmqListener struct{ s *routerSocket }

func (l zmqListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.s.fresh:
		return c, nil
	case <-l.s.shut:
		// go-zeromq calls again until its context ends; do not let it spin.
		time.Sleep(10 * time.Millisecond)
		return nil, net.ErrClosed
	}
}

func (l zmqListener) Close() error   { return nil }
func (l zmqListener) Addr() net.Addr { return l.s.guard.ln.Addr() }

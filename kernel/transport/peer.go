package transport

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/semaphore"
)

// limits are what a peer may cost.
type limits struct {
	frame     int64 // bytes of one incoming message
	queue     int64 // bytes waiting to be sent
	stall     time.Duration
	handshake time.Duration
	budget    *semaphore.Weighted
}

// peer is a connection past its handshake.
type peer struct {
	ready
	conn  net.Conn
	in    *reader
	out   *queue
	log   *slog.Logger
	heard atomic.Bool // it has sent a message or a subscription
	once  sync.Once
	done  chan struct{} // closed when the peer is gone
	gone  func(*peer)
}

// newPeer shakes hands over conn; start must follow. On an error conn is closed.
func newPeer(conn net.Conn, kind, identity string, l limits, log *slog.Logger) (*peer, error) {
	in := newReader(conn, l.frame, l.budget)
	theirs, err := in.handshake(kind, identity, time.Now().Add(l.handshake))
	if err != nil {
		conn.Close()
		return nil, err
	}
	p := &peer{ready: theirs, conn: conn, in: in, log: log, done: make(chan struct{})}
	p.out = newQueue(conn, l.queue, l.stall, p.close)
	in.command = p.command
	return p, nil
}

// start begins to send; gone is told of the end.
func (p *peer) start(gone func(*peer)) {
	p.gone = gone
	go p.out.run()
}

// command answers PING; the rest is for the socket types that know more.
func (p *peer) command(name string, body []byte) error {
	if name != "PING" {
		return nil
	}
	if len(body) < 2 || len(body) > 2+16 { // time to live, context
		return errMalformed
	}
	if !p.out.room() || !p.out.push(encodeCommand("PONG", body[2:])) {
		return net.ErrClosed
	}
	return nil
}

// close ends the peer, once; err says why, nil when we chose to.
func (p *peer) close(err error) {
	p.once.Do(func() {
		if err != nil {
			p.log.Log(context.Background(), level(err), "connection closed", "peer", p.conn.RemoteAddr().String(), "reason", err.Error())
		}
		p.conn.Close()
		p.out.close()
		close(p.done)
		if p.gone != nil {
			p.gone(p)
		}
	})
}

// level tells the ends that every front end comes to from those that someone
// should know of.
func level(err error) slog.Level {
	for _, usual := range []error{io.EOF, net.ErrClosed, syscall.EPIPE, syscall.ECONNRESET} {
		if errors.Is(err, usual) {
			return slog.LevelDebug
		}
	}
	return slog.LevelWarn
}

// lingering is how long a peer may take to notice our end of the stream.
// Closing at once could make its system throw away what it has not read yet.
const lingering = 250 * time.Millisecond

// finish sends what is queued, until ctx is done, and ends the peer.
func (p *peer) finish(ctx context.Context) error {
	err := p.out.drain(ctx)
	if half, ok := p.conn.(interface{ CloseWrite() error }); ok && err == nil && half.CloseWrite() == nil {
		select {
		case <-p.done:
		case <-ctx.Done():
		case <-time.After(lingering):
		}
	}
	p.close(nil)
	return err
}

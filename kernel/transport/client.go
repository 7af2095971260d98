package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/warpbook/warpbook/kernel/wire"
)

// clientFrame is what a client takes as one message: outputs can be large, and
// the kernel is one that the client chose.
const clientFrame = 1 << 30

// Client is a front end's end of the five sockets: DEALER for shell, control and
// stdin under one identity, SUB for iopub, REQ for the heartbeat. It is safe for
// concurrent use. It does not connect again: when the kernel ends a connection,
// that channel's Recv is closed.
type Client struct {
	peers map[Channel]*peer
	recv  map[Channel]chan [][]byte
	done  chan struct{}
	once  sync.Once
	work  sync.WaitGroup
	pings sync.Mutex // one heartbeat at a time
}

// Dial connects all five sockets, trying again until ctx is done: a kernel that
// is still starting does not listen yet. iopub is subscribed to everything; wait
// for its iopub_welcome, or for any message, before you rely on it.
func Dial(ctx context.Context, info wire.ConnectionInfo) (*Client, error) {
	c := &Client{peers: map[Channel]*peer{}, recv: map[Channel]chan [][]byte{}, done: make(chan struct{})}
	identity := uuid.NewString()
	for ch, kind := range map[Channel]string{Shell: dealer, Control: dealer, Stdin: dealer, IOPub: sub, Heartbeat: req} {
		p, err := dial(ctx, info, ch, kind, identity)
		if err != nil {
			c.Close()
			return nil, fmt.Errorf("connect to the kernel's %s socket: %w", ch, err)
		}
		recv := make(chan [][]byte, 64)
		c.peers[ch], c.recv[ch] = p, recv
		p.start(nil)
		c.work.Go(func() { c.read(p, recv) })
	}
	c.peers[IOPub].out.push(encode([][]byte{{1}})) // everything; this form suits ZMTP 3.0 and 3.1
	return c, nil
}

// dial connects one socket.
func dial(ctx context.Context, info wire.ConnectionInfo, ch Channel, kind, identity string) (*peer, error) {
	network, address := info.Endpoint(*ch.port(&info))
	l := limits{frame: clientFrame, queue: clientFrame, stall: time.Minute, handshake: 5 * time.Second}
	var dialer net.Dialer
	for {
		conn, err := dialer.DialContext(ctx, network, address)
		if err == nil {
			var p *peer
			if p, err = newPeer(conn, kind, identity, l, slog.New(slog.DiscardHandler)); err == nil {
				return p, nil
			}
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// read moves a connection's messages to recv.
func (c *Client) read(p *peer, recv chan<- [][]byte) {
	defer close(recv)
	for {
		frames, _, err := p.in.message()
		if err != nil {
			p.close(err)
			return
		}
		select {
		case recv <- frames:
		case <-c.done:
			return
		}
	}
}

// Recv returns the messages of Shell, Control, Stdin or IOPub. It is closed when
// the connection ends.
func (c *Client) Recv(ch Channel) <-chan [][]byte {
	if ch == Heartbeat {
		return nil
	}
	return c.recv[ch]
}

// Send sends a message, without identities, on Shell, Control or Stdin. The
// frames belong to the client afterwards.
func (c *Client) Send(ch Channel, frames [][]byte) error {
	p := c.peers[ch]
	if p == nil || p.kind != router || ch == Heartbeat || len(frames) == 0 {
		return fmt.Errorf("a client sends frames on shell, control or stdin, not %d on %s", len(frames), ch)
	}
	if !p.out.push(encode(frames)) {
		return fmt.Errorf("send on %s: the kernel has closed the connection", ch)
	}
	return nil
}

// Ping asks the heartbeat for an echo.
func (c *Client) Ping(ctx context.Context) error {
	c.pings.Lock()
	defer c.pings.Unlock()
	token := []byte(uuid.NewString())
	if !c.peers[Heartbeat].out.push(encode([][]byte{{}, token})) {
		return errors.New("the kernel has closed the heartbeat")
	}
	for {
		select {
		case frames, ok := <-c.recv[Heartbeat]:
			if !ok {
				return errors.New("the kernel has closed the heartbeat")
			}
			if len(frames) == 2 && bytes.Equal(frames[1], token) {
				return nil
			} // else the late answer to a ping that was given up
		case <-ctx.Done():
			return fmt.Errorf("no heartbeat: %w", ctx.Err())
		}
	}
}

// Close sends what is queued, waiting at most a second, and disconnects.
func (c *Client) Close() error {
	c.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		for _, p := range c.peers {
			_ = p.out.drain(ctx) // what a dying kernel does not take is lost either way
		}
		close(c.done)
		for _, p := range c.peers {
			p.close(nil)
		}
		c.work.Wait()
	})
	return nil
}

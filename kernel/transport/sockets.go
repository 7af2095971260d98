package transport

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/warpbook/warpbook/kernel/wire"
)

// Channel names one of the sockets.
type Channel int

// The sockets. Heartbeat echoes on its own; iopub is for Publish and, at a
// client, for Recv.
const (
	Shell Channel = iota
	Control
	Stdin
	IOPub
	Heartbeat
)

func (c Channel) String() string {
	if c < 0 || int(c) >= len(channelNames) {
		return fmt.Sprintf("Channel(%d)", int(c))
	}
	return channelNames[c]
}

var channelNames = [...]string{"shell", "control", "stdin", "iopub", "heartbeat"}

// port returns where info keeps the channel's port.
func (c Channel) port(info *wire.ConnectionInfo) *int {
	return [...]*int{&info.ShellPort, &info.ControlPort, &info.StdinPort, &info.IOPubPort, &info.HBPort}[c]
}

// ErrClosed is returned after Close.
var ErrClosed = errors.New("the sockets are closed")

// Config says where to listen and what peers may cost. Zero values have the
// defaults named.
type Config struct {
	Info    wire.ConnectionInfo         // port 0 means a free one
	Log     *slog.Logger                // nil: slog.Default
	Welcome func(topic string) [][]byte // the iopub_welcome for a new subscription, nil for none; its first frame must begin with topic

	MaxFrame         int64         // bytes of one incoming message; 64 MiB
	QueueLimit       int64         // bytes waiting for one peer before it is waited for; 64 MiB
	StallTimeout     time.Duration // how long a peer over QueueLimit may read nothing; 2 s
	HandshakeTimeout time.Duration // 5 s
}

func (c Config) withDefaults() Config {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.MaxFrame <= 0 {
		c.MaxFrame = 64 << 20
	}
	if c.QueueLimit <= 0 {
		c.QueueLimit = 64 << 20
	}
	if c.StallTimeout <= 0 {
		c.StallTimeout = 2 * time.Second
	}
	if c.HandshakeTimeout <= 0 {
		c.HandshakeTimeout = 5 * time.Second
	}
	return c
}

// Sockets is the kernel's end of the five sockets. It is safe for concurrent use.
type Sockets struct {
	info    wire.ConnectionInfo
	routers map[Channel]*routerSocket
	iopub   *publisher
	closed  atomic.Bool
	once    sync.Once
	err     error
}

// Listen opens the five sockets; ctx bounds only the opening. An error names the
// socket and leaves none open.
func Listen(ctx context.Context, cfg Config) (*Sockets, error) {
	cfg = cfg.withDefaults()
	s := &Sockets{info: cfg.Info, routers: map[Channel]*routerSocket{}}
	budget := semaphore.NewWeighted(4 * cfg.MaxFrame)
	for _, ch := range []Channel{Shell, Control, Stdin, IOPub, Heartbeat} {
		err := ctx.Err()
		if err == nil {
			err = s.open(ch, cfg, budget)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open the %s socket: %w", ch, err), s.Close(ctx))
		}
	}
	go s.echo()
	return s, nil
}

// open opens one socket and notes its port.
func (s *Sockets) open(ch Channel, cfg Config, budget *semaphore.Weighted) error {
	l := limits{frame: cfg.MaxFrame, queue: cfg.QueueLimit, stall: cfg.StallTimeout, handshake: cfg.HandshakeTimeout, budget: budget}
	kind := router
	switch ch {
	case IOPub:
		kind, l.frame = pub, min(l.frame, maxControl)
	case Heartbeat:
		l.frame = min(l.frame, smallMessage)
	}
	port := ch.port(&s.info)
	choosePort(&s.info, port)
	network, address := s.info.Endpoint(*port)
	g, err := newGuard(network, address, kind, l, cfg.Log.With("socket", ch.String()))
	if err != nil {
		return err
	}
	if addr, ok := g.ln.Addr().(*net.TCPAddr); ok {
		*port = addr.Port
	}
	if ch == IOPub {
		s.iopub = newPublisher(g, cfg.Welcome)
		return nil
	}
	if s.routers[ch], err = newRouter(g); err != nil {
		delete(s.routers, ch)
		g.ln.Close()
	}
	return err
}

// choosePort finds a file name that is free when an ipc port is 0.
func choosePort(info *wire.ConnectionInfo, port *int) {
	if info.Transport != "ipc" || *port != 0 {
		return
	}
	for *port = 1; ; *port++ {
		_, path := info.Endpoint(*port)
		if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
			return
		}
	}
}

// echo answers heartbeats: every message goes back as it came.
func (s *Sockets) echo() {
	r := s.routers[Heartbeat]
	for frames := range r.out {
		if err := r.send(frames); err != nil {
			r.guard.log.Debug("heartbeat not answered", "reason", err.Error())
		}
	}
}

// Recv returns the messages of Shell, Control or Stdin, the sender's identity
// first. Who does not receive slows the senders of that channel down. The
// channel is closed by Close.
func (s *Sockets) Recv(ch Channel) <-chan [][]byte {
	if r := s.routers[ch]; r != nil && ch != Heartbeat {
		return r.out
	}
	return nil
}

// Send sends a reply on Shell, Control or Stdin to the peer that the first frame
// names; ErrUnknownPeer when it is gone. It does not wait for the peer. The
// frames belong to the socket afterwards: do not change their bytes.
func (s *Sockets) Send(ch Channel, frames [][]byte) error {
	if s.closed.Load() {
		return ErrClosed
	}
	r := s.routers[ch]
	if r == nil || ch == Heartbeat {
		return fmt.Errorf("replies go to shell, control or stdin, not to %s", ch)
	}
	return r.send(frames)
}

// Publish sends a message to the subscribers of its first frame, in order. It
// waits for subscribers that are over their queue limit as long as they read;
// see the package comment. The frames belong to the socket afterwards.
func (s *Sockets) Publish(frames [][]byte) error {
	if s.closed.Load() {
		return ErrClosed
	}
	return s.iopub.publish(frames)
}

// Info returns where the sockets are, with the real ports.
func (s *Sockets) Info() wire.ConnectionInfo { return s.info }

// Close stops listening, sends what is queued until ctx is done, and closes
// everything. It returns an error when something could not be sent.
func (s *Sockets) Close(ctx context.Context) error {
	s.once.Do(func() {
		s.closed.Store(true)
		var (
			work sync.WaitGroup
			mu   sync.Mutex
			errs []error
		)
		for ch, r := range s.routers {
			work.Go(func() {
				if err := r.close(ctx); err != nil {
					mu.Lock()
					defer mu.Unlock()
					errs = append(errs, fmt.Errorf("close the %s socket: %w", ch, err))
				}
			})
		}
		if s.iopub != nil {
			if err := s.iopub.close(ctx); err != nil {
				mu.Lock()
				errs = append(errs, fmt.Errorf("close the iopub socket: %w", err))
				mu.Unlock()
			}
		}
		work.Wait()
		s.err = errors.Join(errs...)
	})
	return s.err
}

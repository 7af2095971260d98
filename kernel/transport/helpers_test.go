package transport

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/warpbook/warpbook/kernel/wire"
)

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

func background(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// where says where a test listens; nets are the transports that tests run over.
func where(t testing.TB, network string) wire.ConnectionInfo {
	switch network {
	case "tcp6":
		if ln, err := net.Listen("tcp", "[::1]:0"); err != nil {
			t.Skip("this machine has no IPv6 loopback: ", err)
		} else {
			ln.Close()
		}
		return wire.ConnectionInfo{Transport: "tcp", IP: "::1"}
	case "ipc":
		return wire.ConnectionInfo{Transport: "ipc", IP: filepath.Join(t.TempDir(), "k")}
	}
	return wire.ConnectionInfo{Transport: "tcp", IP: "127.0.0.1"}
}

var nets = []string{"tcp", "tcp6", "ipc"}

// kernel listens and answers every message on shell and control with itself.
func kernel(t testing.TB, cfg Config) *Sockets {
	t.Helper()
	if cfg.Info.Transport == "" {
		cfg.Info = where(t, "tcp")
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	s, err := Listen(background(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		s.Close(ctx)
	})
	for _, ch := range []Channel{Shell, Control, Stdin} {
		go func() {
			for frames := range s.Recv(ch) {
				s.Send(ch, frames) // an attacker may be gone already
			}
		}()
	}
	return s
}

func connect(t testing.TB, s *Sockets) *Client {
	t.Helper()
	c, err := Dial(background(t), s.Info())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// receive returns the next message of c.
func receive(t testing.TB, c <-chan [][]byte) [][]byte {
	t.Helper()
	select {
	case frames, ok := <-c:
		if !ok {
			t.Fatal("the connection has ended")
		}
		return frames
	case <-time.After(patience):
		t.Fatal("no message came")
	}
	return nil
}

// works fails the test unless a fresh client gets answers on every channel.
func works(t testing.TB, s *Sockets) {
	t.Helper()
	c := connect(t, s)
	defer c.Close()
	for _, ch := range []Channel{Shell, Control, Stdin} {
		if err := c.Send(ch, [][]byte{[]byte("hello"), nil, []byte(ch.String())}); err != nil {
			t.Fatal(err)
		}
		if got := join(receive(t, c.Recv(ch))); got != "hello||"+ch.String() {
			t.Fatalf("%s answered %q", ch, got)
		}
	}
	if err := c.Ping(background(t)); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool {
		if err := s.Publish([][]byte{[]byte("topic"), []byte("news")}); err != nil {
			t.Fatal(err)
		}
		select {
		case frames := <-c.Recv(IOPub):
			return join(frames) == "topic|news"
		case <-time.After(20 * time.Millisecond):
			return false // not subscribed yet
		}
	})
}

func join(frames [][]byte) string {
	var parts []string
	for _, f := range frames {
		parts = append(parts, string(f))
	}
	return strings.Join(parts, "|")
}

// until waits for what must become true.
func until(t testing.TB, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it never became true")
		}
	}
}

// raw is a TCP or ipc connection to a channel, with nothing sent.
func raw(t testing.TB, s *Sockets, ch Channel) net.Conn {
	t.Helper()
	info := s.Info()
	network, address := info.Endpoint(*ch.port(&info))
	conn, err := net.Dial(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// subscriber is a SUB peer that a test reads from by hand, subscribed to topic.
func subscriber(t testing.TB, s *Sockets, topic string) *peer {
	t.Helper()
	l := limits{frame: clientFrame, queue: clientFrame, stall: time.Minute, handshake: patience}
	p, err := newPeer(raw(t, s, IOPub), sub, "", l, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	p.start(nil)
	t.Cleanup(func() { p.close(nil) })
	p.out.push(encode([][]byte{append([]byte{1}, topic...)}))
	return p
}

// subscribed waits until n subscribers are known.
func subscribed(t testing.TB, s *Sockets, n int) {
	t.Helper()
	until(t, func() bool { return len(s.iopub.subscribers("")) == n })
}

func line(n int) string { return fmt.Sprintf("line %d", n) }

// named is a DEALER that a test drives by hand.
func named(t testing.TB, s *Sockets, ch Channel, identity string) *peer {
	t.Helper()
	l := limits{frame: clientFrame, queue: clientFrame, stall: time.Minute, handshake: patience}
	p, err := newPeer(raw(t, s, ch), dealer, identity, l, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	p.start(nil)
	t.Cleanup(func() { p.close(nil) })
	return p
}

// closing reads a peer until its connection ends.
func closing(p *peer) <-chan error {
	end := make(chan error, 1)
	go func() {
		for {
			if _, _, err := p.in.message(); err != nil {
				end <- err
				return
			}
		}
	}()
	return end
}

func (l *logged) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

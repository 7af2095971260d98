package transport

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/warpbook/warpbook/kernel/wire"
)

func TestEveryTransport(t *testing.T) {
	for _, network := range nets {
		t.Run(network, func(t *testing.T) {
			s := kernel(t, Config{Info: where(t, network)})
			works(t, s)
			works(t, s) // and again, after the first client has gone
		})
	}
}

// Only the given interface is listened on: the port is free on another one.
func TestOnlyTheGivenInterface(t *testing.T) {
	s := kernel(t, Config{})
	_, address := wire.ConnectionInfo{Transport: "tcp", IP: "127.0.0.2"}.Endpoint(s.Info().ShellPort)
	if conn, err := net.DialTimeout("tcp", address, time.Second); err == nil {
		conn.Close()
		t.Errorf("%s answers, though only 127.0.0.1 was asked for", address)
	}
}

func TestIPCFiles(t *testing.T) {
	info := where(t, "ipc")
	info.ShellPort, info.ControlPort, info.StdinPort, info.IOPubPort, info.HBPort = 1, 2, 3, 4, 5
	_, shell := info.Endpoint(1)

	// A kernel that was killed leaves its socket files.
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: shell})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	stale.Close()

	s := kernel(t, Config{Info: info})
	works(t, s)
	if fi, err := os.Stat(shell); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("socket file: %v %v, want mode 0600", fi.Mode(), err)
	}
	if _, err := Listen(background(t), Config{Info: info}); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a second kernel on the same files: %v", err)
	}
	works(t, s)
	// The client of works has gone, perhaps before it read all that was published.
	if err := s.Close(background(t)); err != nil && !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if left, _ := os.ReadDir(strings.TrimSuffix(info.IP, "/k")); len(left) > 0 {
		t.Errorf("files left behind: %v", left)
	}

	if err := os.WriteFile(shell, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(background(t), Config{Info: info}); err == nil || !strings.Contains(err.Error(), "not a socket") {
		t.Errorf("a file of the user's in the way: %v", err)
	}
	if data, err := os.ReadFile(shell); err != nil || string(data) != "mine" {
		t.Error("the user's file is gone")
	}
}

func TestPortInUse(t *testing.T) {
	s := kernel(t, Config{})
	if _, err := Listen(background(t), Config{Info: s.Info()}); err == nil || !strings.Contains(err.Error(), "shell") {
		t.Errorf("got %v, want an error that names the socket", err)
	}
}

func TestSendErrors(t *testing.T) {
	s := kernel(t, Config{})
	if err := s.Send(Shell, [][]byte{[]byte("nobody"), []byte("x")}); !errors.Is(err, ErrUnknownPeer) {
		t.Errorf("unknown peer: %v", err)
	}
	if err := s.Send(Shell, [][]byte{[]byte("nobody")}); err == nil {
		t.Error("no body: no error")
	}
	if err := s.Send(IOPub, [][]byte{nil, nil}); err == nil {
		t.Error("send on iopub: no error")
	}
	if err := s.Publish(nil); err == nil {
		t.Error("publish nothing: no error")
	}
	if err := s.Close(background(t)); err != nil {
		t.Error(err)
	}
	if err := s.Send(Shell, [][]byte{nil, nil}); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if err := s.Publish([][]byte{nil}); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if _, open := <-s.Recv(Shell); open {
		t.Error("Recv is open after Close")
	}
}

// A kernel that is a bit late is waited for; none at all ends with the context.
func TestDialWaits(t *testing.T) {
	info := where(t, "ipc")
	info.ShellPort, info.ControlPort, info.StdinPort, info.IOPubPort, info.HBPort = 1, 2, 3, 4, 5
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := Dial(ctx, info); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	dialled := make(chan error)
	go func() {
		c, err := Dial(background(t), info)
		if err == nil {
			err = c.Close()
		}
		dialled <- err
	}()
	time.Sleep(50 * time.Millisecond)
	kernel(t, Config{Info: info})
	if err := <-dialled; err != nil {
		t.Error(err)
	}
}

// A client sees that its kernel has gone.
func TestClientSeesTheEnd(t *testing.T) {
	s := kernel(t, Config{})
	c := connect(t, s)
	s.Close(background(t))
	for _, ch := range []Channel{Shell, Control, Stdin, IOPub} {
		select {
		case _, open := <-c.Recv(ch):
			if open {
				t.Errorf("%s: a message", ch)
			}
		case <-time.After(patience):
			t.Errorf("%s: still open", ch)
		}
	}
	if err := c.Ping(background(t)); err == nil {
		t.Error("a dead kernel's heart beats")
	}
}

// Large frames go both ways unharmed, whatever their number and size.
func TestSizes(t *testing.T) {
	s := kernel(t, Config{})
	c := connect(t, s)
	for _, size := range []int{0, 1, 255, 256, inlineFrame, inlineFrame + 1, firstChunk, firstChunk + 1, 5 << 20, 40 << 20} {
		big := bytes.Repeat([]byte{byte(size)}, size)
		sent := [][]byte{[]byte("head"), big, nil, big[:size/2], []byte("tail")}
		if err := c.Send(Shell, sent); err != nil {
			t.Fatal(err)
		}
		got := receive(t, c.Recv(Shell))
		if len(got) != len(sent) {
			t.Fatalf("size %d: %d frames of %d", size, len(got), len(sent))
		}
		for i := range sent {
			if !bytes.Equal(sent[i], got[i]) {
				t.Fatalf("size %d: frame %d differs", size, i)
			}
		}
	}
}

// Ten clients at once each get their own replies, in order.
func TestTenClients(t *testing.T) {
	s := kernel(t, Config{})
	done := make(chan error)
	for i := range 10 {
		c := connect(t, s)
		go func() {
			for n := range 200 {
				want := line(1000*i + n)
				if err := c.Send(Shell, [][]byte{[]byte(want)}); err != nil {
					done <- err
					return
				}
				select {
				case got := <-c.Recv(Shell):
					if join(got) != want {
						done <- errors.New(join(got) + " instead of " + want)
						return
					}
				case <-time.After(patience):
					done <- errors.New("no reply")
					return
				}
			}
			done <- nil
		}()
	}
	for range 10 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// A client that connects again under its identity takes its old place.
func TestSameIdentityAgain(t *testing.T) {
	s := kernel(t, Config{})
	first := named(t, s, Shell, "me")
	second := named(t, s, Shell, "me")
	select {
	case <-closing(first):
	case <-time.After(patience):
		t.Error("the first connection is still there")
	}
	second.out.push(encode([][]byte{[]byte("hello")}))
	if frames, _, err := second.in.message(); err != nil || join(frames) != "hello" {
		t.Errorf("got %q %v", frames, err)
	}
}

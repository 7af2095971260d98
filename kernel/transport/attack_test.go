package transport

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"
)

// pieces of ZMTP for attackers

func cmd(name string, body ...byte) []byte {
	return slices.Concat(encodeCommand(name, body).bufs...)
}

func readyAs(kind string) []byte { return cmd("READY", appendProperty(nil, "Socket-Type", kind)...) }

func longHeader(flags byte, size uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{flags | flagLong}, size)
}

func changed(p []byte, at int, to byte) []byte {
	p = slices.Clone(p)
	p[at] = to
	return p
}

var opening = slices.Concat(greeting(), readyAs(dealer))

// attacks are what a peer without the key may send to any port.
var attacks = []struct {
	name string
	send []byte
}{
	{"nothing", nil},
	{"one byte", []byte{0xff}},
	{"half a greeting", greeting()[:30]},
	{"a web request", []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")},
	{"zeros", make([]byte, 4096)},
	{"random bytes", noise(4096)},
	{"greeting with a wrong signature", changed(greeting(), 9, 0)},
	{"greeting of ZMTP 2", changed(greeting(), 10, 1)},
	{"greeting with CURVE", slices.Concat(greeting()[:12], []byte("CURVE"), greeting()[17:])},
	{"greeting that says it is a server", changed(greeting(), 32, 1)},
	{"greeting, then silence", greeting()},
	{"greeting, then random bytes", slices.Concat(greeting(), noise(4096))},
	{"a message instead of READY", slices.Concat(greeting(), []byte{0, 2, 'h', 'i'})},
	{"READY of 2^62 bytes", slices.Concat(greeting(), longHeader(flagCommand, 1<<62))},
	{"READY without Socket-Type", slices.Concat(greeting(), cmd("READY", appendProperty(nil, "Identity", "x")...))},
	{"READY with nothing", slices.Concat(greeting(), cmd("READY"))},
	{"READY with a short property", slices.Concat(greeting(), cmd("READY", 11, 'S', 'o'))},
	{"READY with a long value", slices.Concat(greeting(), cmd("READY", slices.Concat([]byte("\x0bSocket-Type"), []byte{0xff, 0xff, 0xff, 0xff}, []byte("DEALER"))...))},
	{"READY with an empty name", slices.Concat(greeting(), cmd("READY", 0, 0, 0, 0, 0))},
	{"READY of an unknown type", slices.Concat(greeting(), readyAs("STREAMING"))},
	{"READY of a type that does not fit", slices.Concat(greeting(), readyAs("PUSH"))},
	{"an ERROR command", slices.Concat(greeting(), cmd("ERROR", 2, 'n', 'o'))},
	{"a command without a name", slices.Concat(greeting(), []byte{flagCommand, 0})},
	{"frame of 2^62 bytes", slices.Concat(opening, longHeader(0, 1<<62))},
	{"frame of 2^63 bytes", slices.Concat(opening, longHeader(0, 1<<63))},
	{"frame of 2^64-1 bytes", slices.Concat(opening, longHeader(0, 1<<64-1))},
	{"frame of 2^40 bytes", slices.Concat(opening, longHeader(0, 1<<40), noise(4096))},
	{"frames that add up to 2^64", slices.Concat(opening, longHeader(flagMore, 1), []byte{1}, longHeader(0, 1<<64-1))},
	{"frame at the cap, then silence", slices.Concat(opening, longHeader(0, 60<<20))},
	{"frame cut short", slices.Concat(opening, longHeader(0, 1000), noise(10))},
	{"wrong flags", slices.Concat(opening, []byte{0xf8, 1, 1})},
	{"a command with more to come", slices.Concat(opening, []byte{flagCommand | flagMore, 5, 4, 'P', 'I', 'N', 'G'})},
	{"PING without its time", slices.Concat(opening, cmd("PING"))},
	{"PING with a long context", slices.Concat(opening, cmd("PING", noise(100)...))},
	{"a command of 2^40 bytes", slices.Concat(opening, longHeader(flagCommand, 1<<40))},
	{"a message without end", slices.Concat(opening, bytes.Repeat([]byte{flagMore, 0}, 100_000))},
	{"frames without delimiter", slices.Concat(opening, bytes.Repeat([]byte{0, 1, 'x'}, 1000))},
	{"random frames", slices.Concat(opening, noise(100_000))},
	{"10,000 subscriptions", slices.Concat(greeting(), readyAs(sub), manyTopics(10_000))},
	{"subscriber that floods", slices.Concat(greeting(), readyAs(sub), longHeader(0, 1<<20), noise(4096))},
	{"empty message of a subscriber", slices.Concat(greeting(), readyAs(sub), []byte{0, 0})},
	{"topics that are not UTF-8", slices.Concat(greeting(), readyAs(sub), []byte{0, 3, 1, 0xff, 0xfe})},
}

func noise(n int) []byte {
	var seed [32]byte
	copy(seed[:], "the same noise in every run")
	p := make([]byte, n)
	rand.NewChaCha8(seed).Read(p)
	return p
}

func manyTopics(n int) []byte {
	var p []byte
	for i := range n {
		p = append(p, 0, 5, 1)
		p = binary.BigEndian.AppendUint32(p, uint32(i))
	}
	return p
}

// After every attack, on every port, held open, closed and reset, good clients
// are served, and nothing is left of the attackers.
func TestAttacks(t *testing.T) {
	s := kernel(t, Config{
		HandshakeTimeout: time.Second,
		Welcome:          func(topic string) [][]byte { return [][]byte{[]byte(topic), []byte("welcome")} },
	})
	works(t, s)
	descriptors, routines, heap := open(t), runtime.NumGoroutine(), heapInUse()
	for _, attack := range attacks {
		t.Run(attack.name, func(t *testing.T) {
			for _, ch := range []Channel{Shell, Control, Stdin, IOPub, Heartbeat} {
				held, closed, reset := raw(t, s, ch), raw(t, s, ch), raw(t, s, ch)
				for _, conn := range []net.Conn{held, closed, reset} {
					conn.SetWriteDeadline(time.Now().Add(patience))
					conn.Write(attack.send) // may fail: the socket hangs up early
				}
				closed.Close()
				if tcp, ok := reset.(*net.TCPConn); ok {
					tcp.SetLinger(0)
				}
				reset.Close()
			}
			works(t, s)
		})
	}
	until(t, func() bool { return open(t) <= descriptors && runtime.NumGoroutine() <= routines })
	if grown := heapInUse() - heap; grown > 8<<20 {
		t.Errorf("%d MB are left in use", grown>>20)
	}
}

func heapInUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// open counts this process's descriptors.
func open(t testing.TB) int {
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("needs /proc: ", err)
	}
	return len(fds)
}

// Many silent connections cost the good ones nothing, and are closed in time.
func TestSilentConnections(t *testing.T) {
	s := kernel(t, Config{HandshakeTimeout: 3 * time.Second})
	var silent []net.Conn
	for range 200 {
		for _, ch := range []Channel{Shell, IOPub} {
			silent = append(silent, raw(t, s, ch))
		}
	}
	works(t, s)
	if n := s.iopub.guard.halfOpen(); n > maxHalfOpen {
		t.Errorf("%d handshakes at once, at most %d are allowed", n, maxHalfOpen)
	}
	for _, conn := range silent {
		conn.SetReadDeadline(time.Now().Add(patience))
		if _, err := io.Copy(io.Discard, conn); os.IsTimeout(err) {
			t.Fatal("a silent connection is still open")
		}
	}
	works(t, s)
}

// Peers that shake hands and then say nothing do not keep others out, nor end
// the connection of one that was there before them.
func TestIdlePeers(t *testing.T) {
	s := kernel(t, Config{})
	old := connect(t, s)
	for range maxPeers + 50 {
		for _, ch := range []Channel{Stdin, IOPub} {
			kind := dealer
			if ch == IOPub {
				kind = sub
			}
			raw(t, s, ch).Write(slices.Concat(greeting(), readyAs(kind)))
		}
	}
	until(t, func() bool { return len(s.iopub.guard.all()) >= maxPeers })
	works(t, s)
	if err := old.Send(Stdin, [][]byte{[]byte("still here")}); err != nil {
		t.Fatal(err)
	}
	if got := join(receive(t, old.Recv(Stdin))); got != "still here" {
		t.Errorf("got %q", got)
	}
}

// A message over the cap ends its connection without having been in memory.
func TestHundredMegabytes(t *testing.T) {
	s := kernel(t, Config{})
	works(t, s)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 5 {
		c := connect(t, s)
		c.Send(Shell, [][]byte{make([]byte, 100<<20)})
		select {
		case _, open := <-c.Recv(Shell):
			if open {
				t.Fatal("it was answered")
			}
		case <-time.After(patience):
			t.Fatal("the connection is still open")
		}
		c.Close()
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 5*100<<20+50<<20 { // the senders' own, and little more
		t.Errorf("%d MB were allocated", grown>>20)
	}
	works(t, s)
}

// Large messages that never end are bounded together, and do not keep small
// ones out.
func TestUnfinishedLargeMessages(t *testing.T) {
	s := kernel(t, Config{MaxFrame: 8 << 20})
	part := slices.Concat(opening, longHeader(0, 7<<20), make([]byte, 6<<20))
	for range 20 {
		conn := raw(t, s, Shell)
		conn.SetWriteDeadline(time.Now().Add(500 * time.Millisecond))
		conn.Write(part) // those without a share of the budget are not read from
	}
	works(t, s)
	budget := s.routers[Shell].guard.limits.budget
	if budget.TryAcquire(4 * 8 << 20) {
		t.Error("no message holds a share of the budget")
	}
}

// PING is answered on every socket, between messages and within one.
func TestPing(t *testing.T) {
	s := kernel(t, Config{})
	for _, ch := range []Channel{Shell, IOPub, Heartbeat} {
		conn := raw(t, s, ch)
		kind := dealer
		if ch == IOPub {
			kind = sub
		}
		ping := cmd("PING", 0, 10, 'c', 't', 'x')
		conn.Write(slices.Concat(greeting(), readyAs(kind), ping, []byte{flagMore, 1, 0}, ping, []byte{0, 0}))
		conn.SetReadDeadline(time.Now().Add(patience))
		in := newReader(conn, clientFrame, nil)
		if err := in.readGreeting(); err != nil {
			t.Fatal(err)
		}
		if _, err := in.readReady(); err != nil {
			t.Fatal(err)
		}
		pong := cmd("PONG", 'c', 't', 'x')
		got := make([]byte, 2*len(pong))
		if _, err := io.ReadFull(in.br, got); err != nil || !bytes.Equal(got, slices.Concat(pong, pong)) {
			t.Errorf("%s: got %q %v", ch, got, err)
		}
	}
}

// The parser of all that a peer can send never panics and never returns more
// than its limit.
func FuzzReader(f *testing.F) {
	for _, attack := range attacks {
		if len(attack.send) < 10_000 {
			f.Add(attack.send)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		ours, theirs := net.Pipe()
		defer ours.Close()
		go func() {
			theirs.Write(data)
			theirs.Close()
		}()
		const limit = 1 << 16
		in := newReader(discardWrites{ours}, limit, nil)
		if _, err := in.handshake(router, "", time.Now().Add(patience)); err != nil {
			return
		}
		for {
			frames, _, err := in.message()
			if err != nil {
				return
			}
			size := 0
			for _, frame := range frames {
				size += len(frame)
			}
			if len(frames) == 0 || size > limit {
				t.Fatalf("%d frames of %d bytes", len(frames), size)
			}
		}
	})
}

// discardWrites is a connection whose peer is not interested in us.
type discardWrites struct{ net.Conn }

func (discardWrites) Write(p []byte) (int, error) { return len(p), nil }

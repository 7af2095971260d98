package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A welcome goes to the new subscriber only, before anything else, for either
// form of subscription; not for topics that JSON could not hold.
func TestWelcome(t *testing.T) {
	s := kernel(t, Config{Welcome: func(topic string) [][]byte {
		return [][]byte{[]byte(topic), []byte("welcome to " + topic)}
	}})
	other := subscriber(t, s, "")
	if got := next(t, other); got != "|welcome to " {
		t.Errorf("got %q", got)
	}
	message := subscriber(t, s, "kernel.")
	if got := next(t, message); got != "kernel.|welcome to kernel." {
		t.Errorf("a subscription by message got %q", got)
	}
	command := subscriber(t, s, "\xff not UTF-8")
	command.out.push(encodeCommand("SUBSCRIBE", []byte("by command")))
	if got := next(t, command); got != "by command|welcome to by command" {
		t.Errorf("a subscription by command got %q", got)
	}
	s.Publish([][]byte{[]byte("last")})
	if got := next(t, other); got != "last" {
		t.Errorf("another subscriber got %q", got)
	}
}

// next is the next message of a peer, joined.
func next(t testing.TB, p *peer) string {
	t.Helper()
	p.conn.SetReadDeadline(time.Now().Add(patience))
	frames, _, err := p.in.message()
	if err != nil {
		t.Fatal(err)
	}
	return join(frames)
}

func TestTopics(t *testing.T) {
	s := kernel(t, Config{})
	p := subscriber(t, s, "a")
	p.out.push(encode([][]byte{[]byte("\x01b")}))
	p.out.push(encode([][]byte{[]byte("\x01b")})) // twice, as two users of one socket do
	p.out.push(encodeCommand("CANCEL", []byte("b")))
	p.out.push(encode([][]byte{[]byte("\x01c")}))
	until(t, func() bool { return len(s.iopub.subscribers("c")) == 1 })
	p.out.push(encode([][]byte{[]byte("\x00c")}))
	until(t, func() bool { return len(s.iopub.subscribers("c")) == 0 })
	for _, topic := range []string{"c", "a1", "x", "b1", "ab", "end of a", "b"} {
		s.Publish([][]byte{[]byte(topic)})
	}
	var got []string
	for range 4 {
		got = append(got, next(t, p))
	}
	if want := []string{"a1", "b1", "ab", "b"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A subscriber that reads slowly gets every line, in order, while the queue, and
// with it the memory, stays within its limit: Publish waits.
func TestSlowSubscriber(t *testing.T) {
	for network, lines := range map[string]int{"tcp": 1_000_000, "ipc": 200_000} {
		t.Run(network, func(t *testing.T) {
			const limit = 1 << 20
			s := kernel(t, Config{Info: where(t, network), QueueLimit: limit})
			p := subscriber(t, s, "")
			subscribed(t, s, 1)
			sent := make(chan error, 1)
			go func() {
				for n := range lines {
					if err := s.Publish([][]byte{[]byte("stream"), []byte(line(n))}); err != nil {
						sent <- err
						return
					}
				}
				sent <- s.Publish([][]byte{[]byte("idle")})
			}()
			queue := s.iopub.subscribers("")[0].out
			queued := func() int64 {
				queue.mu.Lock()
				defer queue.mu.Unlock()
				return queue.bytes
			}
			until(t, func() bool { return queued() >= limit }) // nobody reads yet
			most := queued()
			for n := range lines {
				if got := next(t, p); got != "stream|"+line(n) {
					t.Fatalf("got %q instead of line %d", got, n)
				}
				if n%50_000 == 0 {
					time.Sleep(20 * time.Millisecond)
					most = max(most, queued())
				}
			}
			if got := next(t, p); got != "idle" {
				t.Errorf("got %q at the end", got)
			}
			if err := <-sent; err != nil {
				t.Error(err)
			}
			if most > limit+1<<10 {
				t.Errorf("%d bytes were queued, the limit is %d", most, limit)
			}
		})
	}
}

// One that reads a little all the time is slow, not stalled, even when every
// pause for its sake is longer than one write takes.
func TestTricklingSubscriber(t *testing.T) {
	s := kernel(t, Config{QueueLimit: 1 << 20, StallTimeout: time.Second})
	conn := raw(t, s, IOPub)
	conn.Write(slices.Concat(greeting(), readyAs(sub), []byte{0, 1, 1}))
	subscribed(t, s, 1)
	sent := make(chan error, 1)
	const total = 24 << 20
	go func() {
		var err error
		for range total >> 20 {
			err = errors.Join(err, s.Publish([][]byte{make([]byte, 1<<20)}))
		}
		sent <- err
	}()
	read, buf := 0, make([]byte, 256<<10)
	for end := time.Now().Add(4 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		n, err := io.ReadFull(conn, buf)
		if err != nil {
			t.Fatalf("disconnected after %d bytes: %v", read, err)
		}
		read += n
	}
	for read < total {
		n, err := conn.Read(buf)
		if err != nil {
			t.Fatalf("disconnected after %d bytes: %v", read, err)
		}
		read += n
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
}

// A subscriber that never reads is disconnected and logged; the others get
// everything.
func TestStalledSubscriber(t *testing.T) {
	var log logged
	s := kernel(t, Config{QueueLimit: 1 << 20, StallTimeout: time.Second, Log: log.logger()})
	subscriber(t, s, "")
	good := subscriber(t, s, "")
	subscribed(t, s, 2)
	const lines = 300_000
	pad := strings.Repeat(".", 100)
	go func() {
		for n := range lines {
			s.Publish([][]byte{[]byte(line(n) + pad)})
		}
	}()
	for n := range lines {
		if got := next(t, good); got != line(n)+pad {
			t.Fatalf("got %q instead of line %d", got, n)
		}
	}
	subscribed(t, s, 1)
	if !strings.Contains(log.String(), errStalled.Error()) {
		t.Errorf("the log does not tell: %s", log.String())
	}
}

// Large payloads are shared by all subscribers, not copied for each.
func TestSharedPayload(t *testing.T) {
	s := kernel(t, Config{})
	for range 10 {
		subscriber(t, s, "")
	}
	subscribed(t, s, 10)
	payload := make([]byte, 20<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := s.Publish([][]byte{[]byte("display"), payload}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 5<<20 {
		t.Errorf("%d KB were allocated for 10 subscribers of %d", grown>>10, len(payload)>>10)
	}
}

// A client that does not read its 30 MB reply holds up no other, on iopub or
// shell; when it asks for more than its queue may hold it is not read from, and
// when it still reads nothing it goes.
func TestClientThatDoesNotReadReplies(t *testing.T) {
	var log logged
	s := kernel(t, Config{QueueLimit: 40 << 20, StallTimeout: time.Second, Log: log.logger()})
	lazy := named(t, s, Shell, "lazy")
	for range 10 {
		lazy.out.push(encode([][]byte{make([]byte, 30<<20)}))
	}
	works(t, s)
	until(t, func() bool { works(t, s); return strings.Contains(log.String(), errStalled.Error()) })
}

// Close sends what is queued first, in order, on iopub and on shell.
func TestCloseFlushes(t *testing.T) {
	s := kernel(t, Config{})
	p := subscriber(t, s, "")
	d := named(t, s, Shell, "me")
	subscribed(t, s, 1)
	until(t, func() bool { return s.Send(Shell, [][]byte{[]byte("me"), []byte("hello")}) == nil })
	const lines = 20_000
	pad := strings.Repeat(".", 1000)
	for n := range lines {
		s.Publish([][]byte{[]byte(line(n) + pad)})
		if err := s.Send(Shell, [][]byte{[]byte("me"), []byte(line(n) + pad)}); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error)
	go func() { done <- s.Close(background(t)) }()
	if got := next(t, d); got != "hello" {
		t.Fatalf("got %q", got)
	}
	for n := range lines {
		if got := next(t, p); got != line(n)+pad {
			t.Fatalf("iopub: got %q instead of line %d", got, n)
		}
		if got := next(t, d); got != line(n)+pad {
			t.Fatalf("shell: got %q instead of line %d", got, n)
		}
	}
	lazyEnd := []<-chan error{closing(p), closing(d)}
	for _, end := range lazyEnd {
		if err := <-end; !errors.Is(err, io.EOF) {
			t.Errorf("the connection ended with %v", err)
		}
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// Close does not wait longer than it may for one that does not read, and says
// that something was left.
func TestCloseWithStalledPeer(t *testing.T) {
	for _, limited := range []bool{true, false} {
		s := kernel(t, Config{StallTimeout: time.Second})
		subscriber(t, s, "")
		subscribed(t, s, 1)
		for range 30 {
			s.Publish([][]byte{make([]byte, 1<<20)})
		}
		ctx := background(t)
		if limited {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, 100*time.Millisecond)
			defer cancel()
		}
		err := s.Close(ctx)
		if limited && !errors.Is(err, context.DeadlineExceeded) || !limited && !errors.Is(err, net.ErrClosed) {
			t.Errorf("limited %v: %v", limited, err)
		}
	}
}

// Nothing of us is left running after Close.
func TestCloseLeavesNothing(t *testing.T) {
	routines := runtime.NumGoroutine()
	for range 5 {
		s := kernel(t, Config{})
		works(t, s)
		c := connect(t, s)
		c.Send(Shell, [][]byte{[]byte("hi")})
		raw(t, s, Shell)
		if err := s.Close(background(t)); err != nil {
			t.Error(err)
		}
		c.Close()
	}
	until(t, func() bool { return runtime.NumGoroutine() <= routines })
}

// logged is a log that a test reads.
type logged struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

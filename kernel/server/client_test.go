package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/warpbook/warpbook/kernel/history"
	"github.com/warpbook/warpbook/kernel/server"
	"github.com/warpbook/warpbook/kernel/session"
	"github.com/warpbook/warpbook/kernel/transport"
	"github.com/warpbook/warpbook/kernel/wire"
)

// patience is how long a test waits for what must come.
const patience = 30 * time.Second

// kernel is a server in this process, on real sockets, over a fake session.
type kernel struct {
	t      testing.TB
	info   wire.ConnectionInfo
	fake   *fake
	cancel context.CancelFunc
	done   chan error
	log    *syncBuffer
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// start runs a kernel until the test ends; tweak may change its options.
func start(t testing.TB, tweak func(*server.Options)) *kernel {
	t.Helper()
	info, err := wire.NewConnection("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	k := &kernel{t: t, info: info, fake: newFake(), done: make(chan error, 1), log: &syncBuffer{}}
	opts := server.Options{
		Connection: info,
		Session:    func(context.Context) (session.Session, error) { return k.fake, nil },
		History:    history.Open(filepath.Join(t.TempDir(), "history.sqlite"), nil),
		Log:        slog.New(slog.NewTextHandler(k.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Version:    "0.1",
	}
	if tweak != nil {
		tweak(&opts)
	}
	ctx, cancel := context.WithCancel(context.Background())
	k.cancel = cancel
	go func() { k.done <- server.Run(ctx, opts) }()
	t.Cleanup(func() {
		cancel()
		k.wait()
		if t.Failed() {
			t.Logf("the kernel's log:\n%s", k.log)
		}
	})
	return k
}

// wait waits until the server has returned.
func (k *kernel) wait() {
	k.t.Helper()
	select {
	case err := <-k.done:
		if err != nil {
			k.t.Errorf("Run returned %v", err)
		}
		k.done <- nil // for the next who waits
	case <-time.After(patience):
		k.t.Fatal("the kernel has not ended")
	}
}

// client is a front end.
type client struct {
	t      testing.TB
	c      *transport.Client
	wire   *wire.Session
	signer *wire.Signer
	dec    *wire.Decoder
	other  []*wire.Message // iopub messages read while waiting for others
}

// dial connects a client and waits until its subscription is in force.
func dial(t testing.TB, info wire.ConnectionInfo) *client {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := transport.Dial(ctx, info)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	signer, err := info.Signer()
	if err != nil {
		t.Fatal(err)
	}
	cl := &client{t: t, c: c, wire: wire.NewSession("tester"), signer: signer, dec: wire.NewDecoder(signer, wire.DefaultLimits)}
	if m := cl.recv(transport.IOPub); m.Header.MsgType != "iopub_welcome" {
		t.Fatalf("the first message on iopub is %s, want iopub_welcome", m.Header.MsgType)
	}
	return cl
}

// send sends a request; content is a value or JSON.
func (c *client) send(ch transport.Channel, msgType string, content any, change ...func(*wire.Message)) *wire.Message {
	c.t.Helper()
	m, err := c.wire.Request(msgType, content)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, f := range change {
		f(m)
	}
	frames, err := c.signer.Encode(m)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := c.c.Send(ch, frames); err != nil {
		c.t.Fatal(err)
	}
	return m
}

// execute sends an execute request with what follows the code changed in it.
func (c *client) execute(code string, more ...map[string]any) *wire.Message {
	c.t.Helper()
	content := map[string]any{"code": code, "silent": false, "allow_stdin": true}
	for _, m := range more {
		for k, v := range m {
			content[k] = v
		}
	}
	return c.send(transport.Shell, "execute_request", content)
}

func (c *client) recv(ch transport.Channel) *wire.Message {
	c.t.Helper()
	select {
	case frames, ok := <-c.c.Recv(ch):
		if !ok {
			c.t.Fatalf("the kernel has closed %s", ch)
		}
		m, err := c.dec.Decode(frames)
		if err != nil {
			c.t.Fatal(err)
		}
		return m
	case <-time.After(patience):
		c.t.Fatalf("nothing came on %s", ch)
		return nil
	}
}

// outputs returns the iopub messages of a request up to its idle. What belongs to
// others is kept for them. Parents must be the request's header, byte for byte.
func (c *client) outputs(req *wire.Message) []*wire.Message {
	c.t.Helper()
	var out []*wire.Message
	take := func(m *wire.Message) bool {
		if !bytes.Equal(m.ParentHeader, req.Header.Raw) {
			return false
		}
		out = append(out, m)
		return true
	}
	rest := c.other[:0:0]
	for i, m := range c.other {
		if !take(m) {
			rest = append(rest, m)
		} else if isIdle(m) {
			c.other = append(rest, c.other[i+1:]...)
			return out
		}
	}
	c.other = rest
	for {
		m := c.recv(transport.IOPub)
		if !take(m) {
			c.other = append(c.other, m)
		} else if isIdle(m) {
			return out
		}
	}
}

// begun waits until a request's first message has come. It stays for outputs.
func (c *client) begun(req *wire.Message) {
	c.t.Helper()
	for {
		m := c.recv(transport.IOPub)
		c.other = append(c.other, m)
		if bytes.Equal(m.ParentHeader, req.Header.Raw) {
			return
		}
	}
}

func isIdle(m *wire.Message) bool {
	return m.Header.MsgType == "status" && strings.Contains(string(m.Content), `"idle"`)
}

// reply returns the next message on ch, which must be the answer to req.
func (c *client) reply(ch transport.Channel, req *wire.Message) *wire.Message {
	c.t.Helper()
	m := c.recv(ch)
	if !bytes.Equal(m.ParentHeader, req.Header.Raw) {
		c.t.Fatalf("got %s %s for %s on %s, want the reply to %s", m.Header.MsgType, m.Content, m.ParentHeader, ch, req.Header.Raw)
	}
	return m
}

// run executes code and returns what it showed and its reply.
func (c *client) run(code string, more ...map[string]any) (outputs []*wire.Message, reply map[string]any) {
	c.t.Helper()
	req := c.execute(code, more...)
	outputs = c.outputs(req)
	return outputs, content(c.t, c.reply(transport.Shell, req))
}

func content(t testing.TB, m *wire.Message) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(m.Content, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// stream joins the text of a stream's messages.
func stream(t testing.TB, name string, messages []*wire.Message) string {
	t.Helper()
	var b strings.Builder
	for _, m := range messages {
		if m.Header.MsgType == "stream" {
			if c := content(t, m); c["name"] == name {
				text, _ := c["text"].(string)
				b.WriteString(text)
			}
		}
	}
	return b.String()
}

// TestMain is also a kernel over the fake session, for tests that need a process:
// to signal it, to be its parent, or to connect to it with other clients.
func TestMain(m *testing.M) {
	if file := os.Getenv("WARPBOOK_TEST_KERNEL"); file != "" {
		os.Exit(kernelMain(file, os.Stderr))
	}
	os.Exit(m.Run())
}

func kernelMain(file string, stderr io.Writer) int {
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelInfo}))
	info, err := wire.ReadConnectionFile(file)
	if err == nil {
		f := newFake()
		err = server.Run(context.Background(), server.Options{
			Connection: info,
			Session:    func(context.Context) (session.Session, error) { return f, nil },
			History:    history.Open(file+".history", log),
			Log:        log,
			Version:    "test",
		})
		if err == nil && !f.closed && len(f.ran) > 0 {
			log.Error("the session was not closed")
			return 2
		}
	}
	if err != nil {
		log.Error("the kernel could not start", "err", err)
		return 1
	}
	return 0
}

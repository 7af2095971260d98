package server_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/warpbook/warpbook/kernel/server"
	"github.com/warpbook/warpbook/kernel/session"
	"github.com/warpbook/warpbook/kernel/transport"
	"github.com/warpbook/warpbook/kernel/wire"
)

var goOn = map[string]any{"stop_on_error": false}

// failing is a cell that fails when the test lets it, after what was sent behind
// it has had time to arrive.
func failing(k *kernel, cl *client, behind func(), more ...map[string]any) *wire.Message {
	cell := cl.execute("wait", more...)
	<-k.fake.started
	behind()
	time.Sleep(200 * time.Millisecond)
	k.fake.Interrupt()
	return cell
}

// What was sent behind a cell that fails does not run, unless the front end asked
// to go on; what is sent after its reply does.
func TestAbort(t *testing.T) {
	for _, c := range []struct {
		name  string
		first map[string]any // of the failing request
		ran   []string
	}{
		{"stop_on_error", nil, []string{"wait", "print after"}},
		{"stop_on_error false", goOn, []string{"wait", "print 0", "print 1", "print 2", "print after"}},
		{"silent", map[string]any{"silent": true}, []string{"wait", "print 0", "print 1", "print 2", "print after"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := start(t, nil)
			cl := dial(t, k.info)
			var queued []*wire.Message
			var info *wire.Message
			first := failing(k, cl, func() {
				for i := range 3 {
					queued = append(queued, cl.execute(fmt.Sprintf("print %d", i)))
				}
				info = cl.send(transport.Shell, "kernel_info_request", nil)
			}, c.first)
			cl.reply(transport.Shell, first)
			for i, req := range queued {
				reply, outputs := content(t, cl.reply(transport.Shell, req)), cl.outputs(req)
				if len(c.ran) > 2 {
					if reply["status"] != "ok" {
						t.Errorf("cell %d: %v", i, reply)
					}
					continue
				}
				if reply["status"] != "error" || reply["ename"] != "aborted" || reply["execution_count"] != nil || reply["traceback"] == nil {
					t.Errorf("aborted cell %d: %v", i, reply)
				}
				if len(outputs) != 2 {
					t.Errorf("aborted cell %d has %d messages on iopub, want busy and idle", i, len(outputs))
				}
			}
			if reply := content(t, cl.reply(transport.Shell, info)); reply["status"] != "ok" {
				t.Errorf("kernel_info behind the failed cell: %v", reply)
			}
			cl.run("print after")
			if got := k.fake.ran; !slices.Equal(got, c.ran) {
				t.Errorf("ran %q, want %q", got, c.ran)
			}
		})
	}
}

// Large cells that are queued behind a failed one are aborted too, in order.
func TestAbortLargeQueue(t *testing.T) {
	k := start(t, nil)
	cl := dial(t, k.info)
	code := "print " + strings.Repeat("x", 100<<10)
	var queued []*wire.Message
	first := failing(k, cl, func() {
		for range 20 {
			queued = append(queued, cl.execute(code))
		}
	})
	cl.reply(transport.Shell, first)
	for i, req := range queued {
		if r := content(t, cl.reply(transport.Shell, req)); r["ename"] != "aborted" {
			t.Errorf("cell %d: %v", i, r)
		}
	}
}

// While a cell runs, control answers everything that it takes, and shell waits.
func TestControlWhileBusy(t *testing.T) {
	k := start(t, nil)
	cl := dial(t, k.info)
	cell := cl.execute("print begin\nwait")
	<-k.fake.started
	waiting := cl.send(transport.Shell, "complete_request", map[string]any{"code": "fmt.", "cursor_pos": 4})
	for _, msgType := range []string{
		"kernel_info_request", "complete_request", "inspect_request", "is_complete_request",
		"comm_info_request", "connect_request", "history_request", "interrupt_request",
	} {
		req := cl.send(transport.Control, msgType, map[string]any{"code": "fmt", "hist_access_type": "tail"})
		if reply := content(t, cl.reply(transport.Control, req)); reply["ename"] != nil {
			t.Errorf("%s: %v", msgType, reply)
		}
		if out := cl.outputs(req); len(out) != 2 {
			t.Errorf("%s: %d messages on iopub, want busy and idle", msgType, len(out))
		}
	}
	if reply := content(t, cl.reply(transport.Shell, cell)); reply["ename"] != "interrupted" {
		t.Errorf("the interrupted cell: %v", reply)
	}
	cl.reply(transport.Shell, waiting)
	if got := stream(t, "stdout", cl.outputs(cell)); got != "begin\n" {
		t.Errorf("the cell printed %q", got)
	}
}

// An interrupt also stops the cells that wait behind the interrupted one.
func TestInterruptAbortsQueue(t *testing.T) {
	k := start(t, nil)
	cl := dial(t, k.info)
	cell := cl.execute("wait")
	<-k.fake.started
	queued := cl.execute("print never")
	time.Sleep(200 * time.Millisecond) // it arrives
	cl.reply(transport.Control, cl.send(transport.Control, "interrupt_request", nil))
	if r := content(t, cl.reply(transport.Shell, cell)); r["ename"] != "interrupted" {
		t.Errorf("the interrupted cell: %v", r)
	}
	if r := content(t, cl.reply(transport.Shell, queued)); r["ename"] != "aborted" {
		t.Errorf("the queued cell: %v", r)
	}
}

// An interrupt that comes before the session has begun the cell is not lost.
func TestEarlyInterrupt(t *testing.T) {
	k := start(t, nil)
	k.fake.deaf = true
	cl := dial(t, k.info)
	cell := cl.execute("wait")
	<-k.fake.started
	cl.reply(transport.Control, cl.send(transport.Control, "interrupt_request", nil))
	if r := content(t, cl.reply(transport.Shell, cell)); r["ename"] != "interrupted" {
		t.Errorf("the interrupted cell: %v", r)
	}
}

// Output shown before a cell ends comes while it runs, though nothing follows it.
func TestOutputWhileRunning(t *testing.T) {
	k := start(t, nil)
	cl := dial(t, k.info)
	cell := cl.execute("print now\nwait")
	for {
		m := cl.recv(transport.IOPub)
		if m.Header.MsgType == "stream" {
			break
		}
	}
	k.fake.Interrupt()
	cl.reply(transport.Shell, cell)
}

func inputReply(cl *client, value string, parent *wire.Message) {
	cl.send(transport.Stdin, "input_reply", map[string]string{"value": value}, func(m *wire.Message) {
		if parent != nil {
			m.ParentHeader = parent.Header.Raw
		}
	})
}

// A question ends with an interrupt; no reply but its own answers a question.
func TestInput(t *testing.T) {
	k := start(t, nil)
	cl, other := dial(t, k.info), dial(t, k.info)

	cell := cl.execute("print before\ninput first?")
	asked := cl.reply(transport.Stdin, cell)
	cl.reply(transport.Control, cl.send(transport.Control, "interrupt_request", nil))
	if r := content(t, cl.reply(transport.Shell, cell)); r["ename"] != "input error" || !strings.Contains(fmt.Sprint(r["evalue"]), "interrupted") {
		t.Errorf("the interrupted question: %v", r)
	}
	inputReply(cl, "stale", nil)
	for !strings.Contains(k.log.String(), "an input_reply was ignored") {
		time.Sleep(time.Millisecond)
	}

	cell = cl.execute("input second?")
	asked2 := cl.reply(transport.Stdin, cell)
	inputReply(other, "from another client", nil)
	inputReply(cl, "for the first question", asked)
	cl.send(transport.Stdin, "input_reply", map[string]any{"value": 7})
	cl.send(transport.Stdin, "input_reply", map[string]any{})
	cl.send(transport.Stdin, "execute_request", map[string]any{"code": "print no"})
	inputReply(cl, "right", asked2)
	cl.reply(transport.Shell, cell)
	if got := stream(t, "stdout", cl.outputs(cell)); got != "got right\n" {
		t.Errorf("the cell printed %q", got)
	}
}

// What a goroutine prints after its cell has ended goes to that cell, also while
// another one runs; and it cannot ask.
func TestLateOutput(t *testing.T) {
	k := start(t, nil)
	cl := dial(t, k.info)
	first := cl.execute("late hello")
	cl.outputs(first)
	cl.reply(transport.Shell, first)
	second := cl.execute("wait")
	<-k.fake.started
	k.fake.ended.Wait()
	k.fake.Interrupt()
	cl.reply(transport.Shell, second)
	if got := stream(t, "stdout", cl.outputs(second)); got != "" {
		t.Errorf("the second cell printed %q", got)
	}
	var late []*wire.Message
	for stream(t, "stderr", late) == "" {
		if len(cl.other) == 0 {
			cl.other = append(cl.other, cl.recv(transport.IOPub))
		}
		m := cl.other[0]
		cl.other = cl.other[1:]
		if string(m.ParentHeader) != string(first.Header.Raw) {
			t.Fatalf("late output has the parent %s", m.ParentHeader)
		}
		late = append(late, m)
	}
	if out, err := stream(t, "stdout", late), stream(t, "stderr", late); out != "hello\n" || !strings.Contains(err, "the cell has ended") {
		t.Errorf("printed %q and %q", out, err)
	}
}

// Two clients share a kernel: both see everything, each gets its own replies.
func TestTwoClients(t *testing.T) {
	k := start(t, nil)
	clients := []*client{dial(t, k.info), dial(t, k.info)}
	var requests [2][]*wire.Message
	const n = 20
	for i := range n {
		for c := range clients {
			requests[c] = append(requests[c], clients[c].execute(fmt.Sprintf("print client %d cell %d", c, i)))
		}
	}
	for c, cl := range clients {
		for i, req := range requests[c] {
			cl.reply(transport.Shell, req)
			want := fmt.Sprintf("client %d cell %d\n", c, i)
			for _, watcher := range clients {
				if got := stream(t, "stdout", watcher.outputs(req)); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			}
		}
	}
}

// A cell prints a million lines as fast as it can to a client that reads slowly:
// every line arrives, in order, and idle; memory stays bounded. The lines are long
// enough to fill the subscriber's queue, so that the cell has to wait for it.
func TestMillionLines(t *testing.T) {
	const n, width = 1_000_000, 100
	pad := strings.Repeat(".", width) + "\n"
	k := start(t, nil)
	cl := dial(t, k.info)
	runtime.GC() // what the tests before have left
	var peak atomic.Uint64
	done := make(chan struct{})
	defer close(done)
	go func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak.Store(max(peak.Load(), m.HeapAlloc))
			}
		}
	}()
	req := cl.execute(fmt.Sprintf("lines %d %d", n, width))
	next, messages, rest := 0, 0, ""
	for {
		m := cl.recv(transport.IOPub)
		if isIdle(m) {
			break
		}
		if m.Header.MsgType != "stream" {
			continue
		}
		messages++
		time.Sleep(2 * time.Millisecond) // a slow reader
		text, _ := content(t, m)["text"].(string)
		text = rest + text
		rest = ""
		for line := range strings.Lines(text) {
			if !strings.HasSuffix(line, "\n") {
				rest = line
				break
			}
			if got, err := strconv.Atoi(strings.TrimSuffix(line, pad)); err != nil || got != next {
				t.Fatalf("got line %q, want %d", line, next)
			}
			next++
		}
	}
	cl.reply(transport.Shell, req)
	if next != n || rest != "" {
		t.Errorf("got %d lines and %q, want %d", next, rest, n)
	}
	if messages > n/100 { // 1633 full ones, and some that a timer sent
		t.Errorf("%d messages for %d lines: streams are not joined", messages, n)
	}
	if peak.Load() > 300<<20 {
		t.Errorf("the heap grew to %d MB", peak.Load()>>20)
	}
	t.Logf("%d messages, at most %d MB of heap, client included", messages, peak.Load()>>20)
}

// What is not a message is logged and dropped.
func TestMalformed(t *testing.T) {
	k := start(t, nil)
	cl := dial(t, k.info)
	good := func() [][]byte {
		m, err := cl.wire.Request("kernel_info_request", nil)
		if err != nil {
			t.Fatal(err)
		}
		frames, err := cl.signer.Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		return frames
	}
	signed := func(parts ...string) [][]byte {
		frames := [][]byte{[]byte(wire.Delimiter), nil}
		for _, p := range parts {
			frames = append(frames, []byte(p))
		}
		frames[1] = cl.signer.Sign(frames[2:]...)
		return frames
	}
	replayed := good()
	for _, frames := range [][][]byte{
		{[]byte("x")}, {[]byte(wire.Delimiter)}, good()[:4],
		{[]byte(wire.Delimiter), []byte("bad signature"), []byte("{}"), []byte("{}"), []byte("{}"), []byte("{}")},
		signed("[]", "{}", "{}", "{}"), signed("{}", "{}", "{}", "{}"), signed("{", "{}", "{}", "{}"),
		signed(`{"msg_type":"kernel_info_request"}`, "{}", "{}", "nope"), signed(`{"msg_type":7}`, "{}", "{}", "{}"),
		replayed, replayed,
	} {
		for _, ch := range []transport.Channel{transport.Shell, transport.Control, transport.Stdin} {
			if err := cl.c.Send(ch, slices.Clone(frames)); err != nil {
				t.Fatal(err)
			}
		}
	}
	out := cl.send(transport.Shell, "kernel_info_request", nil)
	cl.outputs(out)
	for { // the replayed message has been answered, once
		if m := cl.recv(transport.Shell); string(m.ParentHeader) == string(out.Header.Raw) {
			break
		}
	}
	// 10 on shell, where the replayed message is new once, and 11 on the others.
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		n := strings.Count(k.log.String(), "a message was dropped")
		if n == 32 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d messages were logged as dropped, want 32", n)
		}
	}
}

// The kernel answers before there is a session; a session that cannot start is an
// error in the cell, and is tried again.
func TestSlowSession(t *testing.T) {
	var broken atomic.Pointer[func() error]
	breakIt := func(f func() error) { broken.Store(&f) }
	breakIt(func() error { return errors.New("no Go toolchain; install one") })
	ready := make(chan struct{})
	var k *kernel
	k = start(t, func(o *server.Options) {
		o.Session = func(ctx context.Context) (session.Session, error) {
			if err := (*broken.Load())(); err != nil {
				return nil, err
			}
			select {
			case <-ready:
				return k.fake, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	})
	cl := dial(t, k.info)
	if _, reply := cl.run("print x"); !strings.Contains(fmt.Sprint(reply["evalue"]), "no Go toolchain") {
		t.Errorf("a session that cannot start: %v", reply)
	}
	opened := cl.send(transport.Shell, "comm_open", map[string]string{"comm_id": "c", "target_name": "echo"})
	if out := cl.outputs(opened); len(out) != 3 || out[1].Header.MsgType != "comm_close" {
		t.Errorf("a comm opened without a session is not closed: %d messages", len(out))
	}
	breakIt(func() error { panic("boom") })
	if _, reply := cl.run("print x"); !strings.Contains(fmt.Sprint(reply["evalue"]), "panicked") {
		t.Errorf("a session that panics: %v", reply)
	}
	breakIt(func() error { return nil })
	req := cl.send(transport.Shell, "is_complete_request", map[string]string{"code": "x"})
	if r := content(t, cl.reply(transport.Shell, req)); r["status"] != "unknown" {
		t.Errorf("is_complete without a session: %v", r)
	}
	cell := cl.execute("print x")
	cl.begun(cell) // an interrupt that overtakes it is for nobody
	info := cl.send(transport.Control, "kernel_info_request", nil)
	cl.reply(transport.Control, info)
	cl.reply(transport.Control, cl.send(transport.Control, "interrupt_request", nil))
	interrupted := content(t, cl.reply(transport.Shell, cell))
	if interrupted["ename"] != "interrupted" {
		t.Errorf("a cell interrupted while the session starts: %v", interrupted)
	}
	close(ready)
	if _, reply := cl.run("print x"); reply["status"] != "ok" {
		t.Errorf("with a session: %v", reply)
	}
}

// Shutdown interrupts the running cell, which still answers, and closes the
// session.
func TestShutdownWhileBusy(t *testing.T) {
	k := start(t, nil)
	cl := dial(t, k.info)
	cell := cl.execute("print begin\nwait")
	<-k.fake.started
	req := cl.send(transport.Control, "shutdown_request", map[string]bool{"restart": true})
	if r := content(t, cl.reply(transport.Control, req)); r["restart"] != true {
		t.Errorf("the reply to shutdown: %v", r)
	}
	cl.outputs(req)
	cl.reply(transport.Shell, cell)
	if got := stream(t, "stdout", cl.outputs(cell)); got != "begin\n" {
		t.Errorf("the cell printed %q", got)
	}
	k.wait()
	if !k.fake.closed {
		t.Error("the session was not closed")
	}
}

package server_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/warpbook/warpbook/kernel/transport"
	"github.com/warpbook/warpbook/kernel/wire"
)

// process is a kernel in a process of its own: this test binary, run again.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	info wire.ConnectionInfo
	file string
	done chan error
	log  syncBuffer
}

func spawn(t *testing.T, env ...string) *process { t.Helper(); return spawnTo(t, nil, env...) }

// spawnTo is spawn with another standard error than the test's.
func spawnTo(t *testing.T, stderr io.Writer, env ...string) *process {
	t.Helper()
	info, err := wire.NewConnection("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, info: info, file: filepath.Join(t.TempDir(), "connection.json"), done: make(chan error, 1)}
	if err := info.WriteFile(p.file); err != nil {
		t.Fatal(err)
	}
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env = append(append(os.Environ(), "WARPBOOK_TEST_KERNEL="+p.file), env...)
	if p.cmd.Stderr = stderr; stderr == nil {
		p.cmd.Stderr = &p.log
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.done <- p.cmd.Wait() }()
	t.Cleanup(func() {
		p.cmd.Process.Kill() // fails when it has ended, as it should have
		if t.Failed() {
			t.Logf("the kernel's log:\n%s", p.log.String())
		}
	})
	return p
}

// wait waits for the process to end, cleanly.
func (p *process) wait() {
	p.t.Helper()
	select {
	case err := <-p.done:
		if err != nil {
			p.t.Errorf("the kernel ended with %v", err)
		}
	case <-time.After(patience):
		p.t.Fatal("the kernel has not ended")
	}
}

func (p *process) waitOutput(cl *client, text string) {
	p.t.Helper()
	for {
		m := cl.recv(transport.IOPub)
		cl.other = append(cl.other, m)
		if m.Header.MsgType == "stream" && strings.Contains(string(m.Content), text) {
			return
		}
	}
}

func TestSignals(t *testing.T) {
	p := spawn(t)
	cl := dial(t, p.info)
	for range 3 {
		cell := cl.execute("print begin\nwait")
		p.waitOutput(cl, "begin")
		if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if r := content(t, cl.reply(transport.Shell, cell)); r["ename"] != "interrupted" {
			t.Errorf("SIGINT: %v", r)
		}
		cl.outputs(cell)
	}
	// With no cell running an interrupt changes nothing.
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if _, r := cl.run("print fine"); r["status"] != "ok" {
		t.Errorf("after an idle SIGINT: %v", r)
	}
	// SIGTERM ends it, a running cell or not.
	cell := cl.execute("print begin\nwait")
	p.waitOutput(cl, "begin")
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	cl.reply(transport.Shell, cell)
	p.wait()
}

func TestShutdownProcess(t *testing.T) {
	p := spawn(t)
	cl := dial(t, p.info)
	cl.run("print kept")
	req := cl.send(transport.Control, "shutdown_request", map[string]bool{"restart": false})
	cl.reply(transport.Control, req)
	cl.outputs(req)
	p.wait()
	data, err := os.ReadFile(p.file + ".history")
	if err != nil || !bytes.Contains(data, []byte("print kept")) {
		t.Errorf("the history was not written: %v", err)
	}
}

// The kernel ends when the process named by JPY_PARENT_PID does, killed and not
// waited for included; also when that is gone before the kernel starts.
func TestParent(t *testing.T) {
	sleeper := exec.Command("sleep", "600")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	pid := "JPY_PARENT_PID=" + strconv.Itoa(sleeper.Process.Pid)
	p := spawn(t, pid)
	cl := dial(t, p.info)
	cl.run("print hello")
	if err := sleeper.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.wait() // the sleeper is a zombie now
	var exit *exec.ExitError
	if err := sleeper.Wait(); !errors.As(err, &exit) {
		t.Fatal(err)
	}
	spawn(t, pid).wait()
}

// A kernel whose parent lives goes on, and so does one with a parent id that
// makes no sense.
func TestParentLives(t *testing.T) {
	for _, pid := range []string{strconv.Itoa(os.Getpid()), "nonsense", "-5", "0"} {
		t.Run(pid, func(t *testing.T) {
			t.Parallel()
			p := spawn(t, "JPY_PARENT_PID="+pid)
			cl := dial(t, p.info)
			time.Sleep(1200 * time.Millisecond) // more than two polls
			if _, r := cl.run("print fine"); r["status"] != "ok" {
				t.Errorf("%s: %v", pid, r)
			}
			cl.send(transport.Control, "shutdown_request", nil)
			p.wait()
		})
	}
}

// A kernel whose standard error has gone with its front end still ends in order.
func TestBrokenStderr(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := spawnTo(t, w)
	w.Close()
	cl := dial(t, p.info)
	cl.run("print x")
	r.Close()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil { // which is logged
		t.Fatal(err)
	}
	p.wait()
}

// A connection file whose ports are taken is an error that says so.
func TestPortsTaken(t *testing.T) {
	p := spawn(t)
	dial(t, p.info)
	second := exec.Command(os.Args[0])
	second.Env = append(os.Environ(), "WARPBOOK_TEST_KERNEL="+p.file)
	out, err := second.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "another kernel") {
		t.Errorf("got %v, %s", err, out)
	}
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/warpbook/warpbook/kernel/rt"
)

// Options say how to start a child.
type Options struct {
	Command []string // program and arguments; the program calls Serve
	Dir     string
	Env     []string // nil for this process's own
	Events  Sink     // takes output before the first program; nil drops it
}

// Process is the parent's handle on a child.
type Process struct {
	cmd  *exec.Cmd
	link *link
	stop *rt.StopWord // in memory shared with the child
	out  *source
	err  *source

	running sync.Mutex    // one program at a time
	done    chan Outcome  // from the child
	dead    chan struct{} // closed when the child has ended and its output is read
	ready   chan struct{}

	mu      sync.Mutex
	serial  int    // counts the runs
	active  bool   // a program runs
	state   string // the exit status, once dead
	sinks   sinks
	input   context.CancelFunc // ends the input request that waits, if any
	words   lastWords
	waiting sync.WaitGroup // for the pumps
}

// Start starts a child and waits until it serves.
func Start(ctx context.Context, o Options) (*Process, error) {
	if len(o.Command) == 0 {
		return nil, errors.New("start the session: no command given")
	}
	p := &Process{done: make(chan Outcome, 1), dead: make(chan struct{}), ready: make(chan struct{})}
	p.sinks.reset(o.Events)
	p.words.emit = func(text string) { p.stream("stderr", text) }
	if err := p.spawn(o); err != nil {
		return nil, fmt.Errorf("start the session: %w", err)
	}
	select {
	case <-p.ready:
		return p, nil
	case <-p.dead:
		return nil, fmt.Errorf("the session %q ended before it was ready: %s", o.Command[0], p.obituary())
	case <-ctx.Done():
		p.kill()
		return nil, fmt.Errorf("start the session: %w", ctx.Err())
	}
}

// spawn starts the process and the goroutines that serve it.
func (p *Process) spawn(o Options) (err error) {
	var files []*os.File // the child's ends
	defer func() {
		for _, f := range files {
			_ = f.Close()
		}
	}()
	out, stdout, err := newSource("stdout", func(text string) { p.stream("stdout", text) })
	if err != nil {
		return err
	}
	files = append(files, stdout)
	errs, stderr, err := newSource("stderr", p.words.add)
	if err != nil {
		return err
	}
	files = append(files, stderr)
	parent, child, err := socketPair()
	if err != nil {
		return err
	}
	files = append(files, child)
	stop, _, memory, err := newShared() // a page; it stays mapped, because who interrupts may be late
	if err != nil {
		return err
	}
	files = append(files, memory)
	cmd := exec.Command(o.Command[0], o.Command[1:]...)
	cmd.Dir, cmd.Env = o.Dir, o.Env
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = stdout, stderr, []*os.File{child, memory}
	own(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	p.cmd, p.out, p.err, p.stop, p.link = cmd, out, errs, stop, &link{rw: parent, numbers: true}
	p.waiting.Go(out.pump)
	p.waiting.Go(errs.pump)
	go p.receive()
	go p.reap()
	return nil
}

func socketPair() (parent, child *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make the control connection: %w", err)
	}
	unix.CloseOnExec(fds[0])
	unix.CloseOnExec(fds[1])
	if err := unix.SetNonblock(fds[0], true); err != nil {
		return nil, nil, fmt.Errorf("make the control connection: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "control"), os.NewFile(uintptr(fds[1]), "control"), nil
}

// orphans is how long the pipes of a dead child may stay open: a process that
// it started, and that we could not end, may hold them.
const orphans = time.Second

// reap waits for the child's end.
func (p *Process) reap() {
	err := p.cmd.Wait()
	_ = unix.Kill(-p.cmd.Process.Pid, unix.SIGKILL) // what it started
	read := make(chan struct{})
	go func() { p.waiting.Wait(); close(read) }()
	select {
	case <-read:
	case <-time.After(orphans):
		p.out.drain()
		p.err.drain()
		_ = p.out.file.Close()
		_ = p.err.file.Close()
	}
	_ = p.link.rw.Close()
	p.mu.Lock()
	p.state = exitText(p.cmd.ProcessState, err)
	p.mu.Unlock()
	close(p.dead)
}

func exitText(state *os.ProcessState, err error) string {
	if state == nil {
		return fmt.Sprintf("the session ended: %v", err)
	}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		text := fmt.Sprintf("the session was ended by a signal: %v", ws.Signal())
		if ws.Signal() == syscall.SIGKILL {
			text += "; the system does that when memory runs out"
		}
		return text
	}
	return fmt.Sprintf("the session's process ended: %v", state)
}

// Dead is closed when the child has ended.
func (p *Process) Dead() <-chan struct{} { return p.dead }

// Pid is the child's process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Close ends the child and everything it started, and waits for that.
func (p *Process) Close() error {
	p.kill()
	select {
	case <-p.dead:
		return nil
	case <-time.After(5 * time.Second):
		return fmt.Errorf("the session's process %d does not end; end it with kill -9", p.Pid())
	}
}

// kill ends the child's process group. The group exists as long as the child
// has not been waited for; afterwards reap has ended it.
func (p *Process) kill() {
	select {
	case <-p.dead:
	default:
		_ = unix.Kill(-p.cmd.Process.Pid, unix.SIGKILL)
	}
}

// obituary is what is known about a dead child's end.
func (p *Process) obituary() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if words := p.words.summary(); words != "" {
		return words
	}
	return p.state
}

package device

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Client is the parent's handle on a device process. The process starts on first
// use. All methods may be called from several goroutines.
type Client struct {
	kind  string // "sim" or "gpu"
	index int
	print io.Writer

	mu      sync.Mutex // of what follows and of the order of commands
	gen     uint64     // counts processes
	child   *child
	nextID  atomic.Uint32
	restart string  // why the last process ended
	tape    *[]byte // commands are recorded here
	waiting atomic.Int32
	options map[string]string // that a new process gets too
}

// child is one device process.
type child struct {
	gen     uint64
	cmd     *exec.Cmd
	conn    *os.File
	shared  []byte
	drop    func()
	reports string   // compute-sanitizer's file, "" without it
	words   *limited // what it says on standard output and error

	out     []byte // commands that were not sent yet
	kick    chan struct{}
	replies map[uint32]chan answer
	number  uint32
	dead    chan struct{}
	reason  error      // why it is dead; set before dead is closed
	bulk    sync.Mutex // of shared
}

type answer struct {
	fault   *Fault
	payload []byte
}

// Handle names something that lives in a device process.
type Handle struct {
	ID  uint32
	Gen uint64
}

// NewClient makes a client for a device: kind is "sim" or "gpu". What kernels print
// goes to print.
func NewClient(kind string, index int, print io.Writer) *Client {
	if print == nil {
		print = io.Discard
	}
	return &Client{kind: kind, index: index, print: print}
}

// childVariable tells a program that it is to be a device process: its kind and index.
const childVariable = "WARPBOOK_DEVICE_CHILD"

// Opener opens a device of a kind other than the simulator's, for Child.
type Opener func(index int, print io.Writer) (Backend, error)

// Child serves a device and ends the program, when the program was started for
// that. Programs that use this package call it at the start of main.
func Child(backends map[string]Opener) {
	spec := os.Getenv(childVariable)
	if spec == "" {
		return
	}
	if err := childMain(spec, backends); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func childMain(spec string, backends map[string]Opener) error {
	kind, index, _ := strings.Cut(spec, ":")
	n, err := strconv.Atoi(index)
	if err != nil {
		return fmt.Errorf("the device %q is not known", spec)
	}
	open := backends[kind]
	if kind == "sim" {
		open = func(_ int, print io.Writer) (Backend, error) { return OpenSimulator(print) }
	}
	ignoreInterrupts()
	conn := os.NewFile(connFd, "commands")
	shared, _, err := mapShared(os.NewFile(sharedFd, "shared"))
	if err != nil {
		return err
	}
	orphaned = func(error) {
		time.Sleep(time.Second)
		os.Exit(0)
	}
	return serve(conn, conn, shared, func(print io.Writer) (Backend, error) {
		if open == nil {
			return nil, fmt.Errorf("this program has no %s devices", kind)
		}
		return open(n, print)
	})
}

// The descriptors of a child.
const (
	connFd   = 3
	sharedFd = 4
)

// program is what serves the client's device, and its environment.
func (c *Client) program() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("start a device process: %w", err)
	}
	if c.kind == "sim" {
		return exe, nil
	}
	if named := os.Getenv("WARPBOOK_GPU_PROGRAM"); named != "" {
		return named, nil
	}
	gpu := filepath.Join(filepath.Dir(exe), "warpbook-gpu")
	if _, err := os.Stat(gpu); err != nil {
		return "", fmt.Errorf("there is no program for GPUs beside %s: `warpbook install` builds it where a CUDA driver is; the simulator (cuda.Open(\"sim\")) works everywhere", exe)
	}
	return gpu, nil
}

// SanitizerLog is the variable that names the file of compute-sanitizer's reports to
// a device process, and Sanitizer the one with which a user asks for its tool:
// memcheck, racecheck, initcheck or synccheck.
const (
	SanitizerLog = "WARPBOOK_SANITIZER_LOG"
	Sanitizer    = "WARPBOOK_SANITIZE"
)

// command is what starts the process, under compute-sanitizer when that is asked for.
// reports is the file that it writes to.
func (c *Client) command(exe string) (cmd *exec.Cmd, reports string, err error) {
	env := append(os.Environ(), childVariable+"="+c.kind+":"+strconv.Itoa(c.index))
	tool := os.Getenv(Sanitizer)
	if c.kind == "sim" || tool == "" || tool == "off" {
		cmd = exec.Command(exe)
		cmd.Env = env
		return cmd, "", nil
	}
	path, err := sanitizer()
	if err != nil {
		return nil, "", err
	}
	f, err := os.CreateTemp("", "warpbook-sanitizer-*.log")
	if err != nil {
		return nil, "", fmt.Errorf("a file for compute-sanitizer's reports: %w", err)
	}
	f.Close()
	cmd = exec.Command(path, "--tool", tool, "--log-file", f.Name(), "--report-api-errors", "no", "--show-backtrace", "no", exe)
	cmd.Env = append(env, SanitizerLog+"="+f.Name())
	return cmd, f.Name(), nil
}

// sanitizer finds compute-sanitizer.
func sanitizer() (string, error) {
	if path, err := exec.LookPath("compute-sanitizer"); err == nil {
		return path, nil
	}
	for _, home := range []string{os.Getenv("CUDA_HOME"), os.Getenv("CUDA_PATH"), "/usr/local/cuda"} {
		path := filepath.Join(home, "bin", "compute-sanitizer")
		if _, err := os.Stat(path); home != "" && err == nil {
			return path, nil
		}
	}
	return "", errors.New("compute-sanitizer is not installed here: it comes with the CUDA toolkit, or as the conda package cuda-sanitizer-api; the simulator makes the same checks without it")
}

// start starts a process, with mu held.
func (c *Client) start() error {
	exe, err := c.program()
	if err != nil {
		return err
	}
	ours, theirs, err := connection()
	if err != nil {
		return fmt.Errorf("start a device process: %w", err)
	}
	defer theirs.Close()
	file, err := sharedFile(sharedBytes)
	if err != nil {
		ours.Close()
		return fmt.Errorf("memory to share with a device process: %w", err)
	}
	defer file.Close()
	shared, drop, err := mapShared(file)
	if err != nil {
		ours.Close()
		return err
	}
	words := &limited{}
	cmd, reports, err := c.command(exe)
	if err != nil {
		ours.Close()
		drop()
		return err
	}
	cmd.ExtraFiles = []*os.File{theirs, file}
	cmd.Stdout, cmd.Stderr = words, words // a child that cannot start says why on either
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		ours.Close()
		drop()
		os.Remove(reports)
		return fmt.Errorf("start a device process: %w", err)
	}
	c.gen++
	ch := &child{gen: c.gen, cmd: cmd, conn: ours, shared: shared, drop: drop, reports: reports, words: words, kick: make(chan struct{}, 1), replies: map[uint32]chan answer{}, dead: make(chan struct{})}
	c.child = ch
	for name, value := range c.options {
		ch.number++ // its answer is for nobody: the option was good before
		ch.option(name, value)
	}
	go c.write(ch)
	go c.read(ch)
	return nil
}

func (ch *child) option(name, value string) {
	number := ch.number
	ch.append(opOption, func(e *encoder) {
		e.u32(number)
		e.text(name)
		e.text(value)
	})
}

// limited keeps the end of what a child writes to standard error.
type limited struct {
	mu sync.Mutex
	b  []byte
}

func (l *limited) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b = append(l.b, p...)
	if len(l.b) > 4096 {
		l.b = l.b[len(l.b)-4096:]
	}
	return len(p), nil
}

func (l *limited) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.b)
}

// write sends commands, as many as there are, so that a caller never waits for it.
func (c *Client) write(ch *child) {
	for {
		select {
		case <-ch.kick:
		case <-ch.dead:
			return
		}
		c.mu.Lock()
		out := ch.out
		ch.out = nil
		c.mu.Unlock()
		if len(out) > 0 {
			if _, err := ch.conn.Write(out); err != nil {
				return // the reader finds out why
			}
		}
	}
}

// read takes answers and printed text until the process ends.
func (c *Client) read(ch *child) {
	r := bufio.NewReaderSize(ch.conn, 1<<16)
	for {
		o, p, err := readFrame(r)
		if err != nil {
			break
		}
		d := &decoder{b: p}
		switch o {
		case opPrint:
			_, _ = c.print.Write(p)
		case opReply:
			number, text := d.u32(), d.bytes()
			a := answer{payload: d.bytes()}
			if len(text) > 0 {
				a.fault = new(Fault)
				if json.Unmarshal(text, a.fault) != nil {
					a.fault = &Fault{Code: "device", Message: string(text)}
				}
			}
			c.mu.Lock()
			if a.fault != nil && a.fault.Fatal { // it is about to end: nothing goes there any more
				c.lose(ch, a.fault)
			}
			wait := ch.replies[number]
			delete(ch.replies, number)
			c.mu.Unlock()
			if wait != nil {
				wait <- a
			}
		}
	}
	killGroup(ch.cmd)
	err := ch.cmd.Wait()
	os.Remove(ch.reports)
	reason := "it ended"
	if err != nil {
		reason = err.Error()
	}
	if words := strings.TrimSpace(ch.words.text()); words != "" {
		reason += ": " + words
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lose(ch, &Fault{Code: "ended", Message: "the device process ended (" + reason + ")", Fatal: true})
	close(ch.dead)
	ch.conn.Close()
	ch.bulk.Lock()
	ch.drop()
	ch.shared = nil
	ch.bulk.Unlock()
}

// lose ends a process's generation, for a reason when there is none yet; mu is held.
func (c *Client) lose(ch *child, reason error) {
	if ch.reason == nil {
		ch.reason = reason
	}
	if c.child == ch {
		c.child, c.restart = nil, ch.reason.Error()
	}
}

// Generation counts the processes that there were. It starts one when there is none.
func (c *Client) Generation() (uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.child == nil {
		if err := c.start(); err != nil {
			return 0, err
		}
	}
	return c.gen, nil
}

// Alive reports whether what was made in generation gen still exists.
func (c *Client) Alive(gen uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.child != nil && c.child.gen == gen
}

// Running reports whether there is a process.
func (c *Client) Running() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.child != nil
}

func (c *Client) id() uint32 { return c.nextID.Add(1) }

// post sends a command that is not answered. gen is the generation that it is
// about, 0 for the current one.
func (c *Client) post(gen uint64, o op, build func(*encoder)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch, err := c.current(gen)
	if err != nil {
		return err
	}
	if c.tape != nil {
		var e encoder
		build(&e)
		*c.tape = frame(*c.tape, o, e)
		return nil
	}
	ch.append(o, build)
	return nil
}

// append adds a command to those to be sent, in place.
func (ch *child) append(o op, build func(*encoder)) {
	at := len(ch.out)
	e := encoder(append(ch.out, 0, 0, 0, 0, byte(o)))
	build(&e)
	ch.out = e
	n := uint32(len(ch.out) - at - 4)
	ch.out[at], ch.out[at+1], ch.out[at+2], ch.out[at+3] = byte(n), byte(n>>8), byte(n>>16), byte(n>>24)
	select {
	case ch.kick <- struct{}{}:
	default:
	}
}

// current is the process of a generation, started when gen is 0.
func (c *Client) current(gen uint64) (*child, error) {
	if c.child == nil && gen == 0 {
		if err := c.start(); err != nil {
			return nil, err
		}
	}
	if gen != 0 && (c.child == nil || c.child.gen != gen) {
		return nil, fmt.Errorf("%w (%s)", ErrEnded, c.restart)
	}
	return c.child, nil
}

// ask sends a command and waits for its answer.
func (c *Client) ask(ctx context.Context, gen uint64, o op, build func(*encoder)) ([]byte, error) {
	c.mu.Lock()
	if c.tape != nil {
		c.mu.Unlock()
		return nil, errors.New("this waits for the device, which cannot be part of what is captured or measured")
	}
	ch, err := c.current(gen)
	if err != nil {
		c.mu.Unlock()
		return nil, err
	}
	ch.number++
	number := ch.number
	wait := make(chan answer, 1)
	ch.replies[number] = wait
	ch.append(o, func(e *encoder) {
		e.u32(number)
		build(e)
	})
	c.mu.Unlock()
	c.waiting.Add(1)
	defer c.waiting.Add(-1)
	select {
	case a := <-wait:
		if a.fault != nil {
			return nil, a.fault
		}
		return a.payload, nil
	case <-ch.dead:
		select {
		case a := <-wait: // it answered before it died
			if a.fault != nil {
				return nil, a.fault
			}
		default:
		}
		return nil, ch.reason
	case <-ctx.Done():
		c.kill(ch, fmt.Errorf("%w (%w)", ErrInterrupted, ctx.Err()))
		return nil, ctx.Err()
	}
}

// Interrupt ends the process when somebody waits for it.
func (c *Client) Interrupt() {
	if c.waiting.Load() == 0 {
		return
	}
	c.mu.Lock()
	ch := c.child
	c.mu.Unlock()
	if ch != nil {
		c.kill(ch, ErrInterrupted)
	}
}

// kill ends a process for a reason and waits until it has ended.
func (c *Client) kill(ch *child, reason error) {
	c.mu.Lock()
	if ch.reason == nil {
		ch.reason = reason
	}
	c.mu.Unlock()
	killGroup(ch.cmd)
	<-ch.dead
}

// Close ends the process.
func (c *Client) Close() {
	c.mu.Lock()
	ch := c.child
	c.mu.Unlock()
	if ch != nil {
		c.kill(ch, &Fault{Code: "ended", Message: "the device process was closed", Fatal: true})
	}
}

// PID is the process's id, 0 without one.
func (c *Client) PID() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.child == nil {
		return 0
	}
	return c.child.cmd.Process.Pid
}

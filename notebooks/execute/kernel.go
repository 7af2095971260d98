package execute

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/warpbook/warpbook/kernel/transport"
	"github.com/warpbook/warpbook/kernel/wire"
)

// How long the end of a kernel may take, step by step.
const (
	shutdownGrace = 5 * time.Second // after shutdown_request
	killGrace     = 3 * time.Second // after SIGTERM
	nudge         = time.Second     // between requests to a kernel that is starting
)

// Command says how a kernel is started.
type Command struct {
	Argv []string          // "{connection_file}" stands for its path, as in a kernelspec
	Env  map[string]string // on top of this process's
	Dir  string            // where it runs; "" is the current folder
	Log  io.Writer         // what the kernel itself writes; nil drops it
}

// Kernel is a running kernel and a client of it.
type Kernel struct {
	Info map[string]any // the content of its kernel_info_reply

	cmd     *exec.Cmd
	dir     string        // of the connection file
	ended   chan struct{} // closed when the process is gone
	client  *transport.Client
	session *wire.Session
	signer  *wire.Signer
	decoder *wire.Decoder
}

// generous are the limits for messages of a kernel that we chose to start.
var generous = wire.Limits{Identities: 64, Buffers: 1 << 20, JSON: 1 << 30, Replays: 1 << 14}

// ErrDied means that the kernel's process ended by itself.
var ErrDied = errors.New("the kernel died; its log may say why (--verbose shows it)")

// Start starts a kernel and waits, at most until ctx ends, until it answers and
// its outputs arrive.
func Start(ctx context.Context, c Command) (_ *Kernel, err error) {
	if len(c.Argv) == 0 {
		return nil, errors.New("the kernelspec names no program; `warpbook install` writes it again")
	}
	info, err := wire.NewConnection("127.0.0.1")
	if err != nil {
		return nil, err
	}
	k := &Kernel{session: wire.NewSession("warpbook"), ended: make(chan struct{})}
	if k.signer, err = info.Signer(); err != nil {
		return nil, err
	}
	k.decoder = wire.NewDecoder(k.signer, generous)
	if k.dir, err = os.MkdirTemp("", "warpbook-run-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			k.Close()
		}
	}()
	file := filepath.Join(k.dir, "connection.json")
	if err := info.WriteFile(file); err != nil {
		return nil, err
	}
	if err := k.spawn(c, file); err != nil {
		return nil, err
	}
	if err := k.connect(ctx, info); err != nil {
		return nil, err
	}
	return k, nil
}

// spawn starts the process in a group of its own: a Ctrl-C at the terminal is
// for this program, which then interrupts and ends the kernel in order.
func (k *Kernel) spawn(c Command, file string) error {
	args := make([]string, len(c.Argv))
	for i, arg := range c.Argv {
		args[i] = strings.ReplaceAll(arg, "{connection_file}", file)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.Dir, c.Log, c.Log
	cmd.Env = append(os.Environ(), "JPY_PARENT_PID="+strconv.Itoa(os.Getpid()))
	for key, value := range c.Env {
		cmd.Env = append(cmd.Env, key+"="+os.ExpandEnv(value))
	}
	cmd.WaitDelay = killGrace // a process that the kernel left behind may hold the log open
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("the kernel does not start: %w", err)
	}
	k.cmd = cmd
	go func() {
		_ = cmd.Wait() // how it ended does not matter: it should not have
		close(k.ended)
	}()
	return nil
}

// connect dials the kernel and asks for its info until both the answer and a
// published message have come: from then on no output is missed.
func (k *Kernel) connect(ctx context.Context, info wire.ConnectionInfo) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-k.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	client, err := transport.Dial(ctx, info)
	if err != nil {
		return k.cause(fmt.Errorf("the kernel does not answer: %w", err))
	}
	k.client = client
	published := false
	for !published || k.Info == nil {
		if _, err := k.send(transport.Shell, "kernel_info_request", struct{}{}); err != nil {
			return k.cause(err)
		}
		wait, done := context.WithTimeout(ctx, nudge)
		for wait.Err() == nil && (!published || k.Info == nil) {
			m, ch, err := k.receive(wait)
			if err != nil {
				break
			}
			published = published || ch == transport.IOPub
			if ch == transport.Shell && m.Header.MsgType == "kernel_info_reply" {
				if err := m.Read(&k.Info); err != nil {
					done()
					return err
				}
			}
		}
		done()
		if ctx.Err() != nil {
			return k.cause(errors.New("the kernel started but did not answer in time"))
		}
	}
	return nil
}

// cause is err, or ErrDied when that is the reason behind it.
func (k *Kernel) cause(err error) error {
	select {
	case <-k.ended:
		return ErrDied
	default:
		return err
	}
}

// send sends a request and returns its id.
func (k *Kernel) send(ch transport.Channel, msgType string, content any) (string, error) {
	m, err := k.session.Request(msgType, content)
	if err != nil {
		return "", err
	}
	frames, err := k.signer.Encode(m)
	if err != nil {
		return "", err
	}
	return m.Header.MsgID, k.client.Send(ch, frames)
}

// receive returns the next message of the shell or the publishing socket.
// Published ones come first, so that a cell's outputs are there with its reply.
func (k *Kernel) receive(ctx context.Context) (*wire.Message, transport.Channel, error) {
	for {
		ch, frames, err := k.next(ctx)
		if err != nil {
			return nil, ch, err
		}
		m, err := k.decoder.Decode(frames)
		if err == nil {
			return m, ch, nil
		}
		return nil, ch, fmt.Errorf("the kernel sent a message that cannot be read: %w", err)
	}
}

func (k *Kernel) next(ctx context.Context) (transport.Channel, [][]byte, error) {
	ch, frames, ok := transport.IOPub, [][]byte(nil), false
	select {
	case frames, ok = <-k.client.Recv(transport.IOPub):
	default:
		select {
		case frames, ok = <-k.client.Recv(transport.IOPub):
		case frames, ok = <-k.client.Recv(transport.Shell):
			ch = transport.Shell
		case <-k.ended:
			return ch, nil, ErrDied
		case <-ctx.Done():
			return ch, nil, ctx.Err()
		}
	}
	if ok {
		return ch, frames, nil
	}
	select { // the connection is closed; the process may be ending just now
	case <-k.ended:
		return ch, nil, ErrDied
	case <-time.After(killGrace):
		return ch, nil, errors.New("the kernel closed its connection; run the notebook again")
	case <-ctx.Done():
		return ch, nil, ctx.Err()
	}
}

// Interrupt stops the running cell.
func (k *Kernel) Interrupt() error {
	_, err := k.send(transport.Control, "interrupt_request", struct{}{})
	return err
}

// Close ends the kernel: it asks, then insists, and in the end kills the process
// with everything in its group.
func (k *Kernel) Close() error {
	if k.client != nil {
		if _, err := k.send(transport.Control, "shutdown_request", map[string]bool{"restart": false}); err == nil {
			k.within(shutdownGrace)
		}
		_ = k.client.Close()
	}
	if k.cmd != nil {
		if !k.within(0) {
			signalGroup(k.cmd, false)
			k.within(killGrace)
		}
		signalGroup(k.cmd, true) // what is left of the group, if anything is
		<-k.ended
	}
	return os.RemoveAll(k.dir)
}

func (k *Kernel) within(d time.Duration) bool {
	select {
	case <-k.ended:
		return true
	case <-time.After(d):
		return false
	}
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/warpbook/warpbook/cuda"
	"github.com/warpbook/warpbook/display"
	"github.com/warpbook/warpbook/kernel/rt"
)

// controlFd is where the child finds the control connection.
const controlFd = 3

// Control opens the control connection that the parent has given to the child.
func Control() (io.ReadWriteCloser, error) {
	if kind, err := unix.GetsockoptInt(controlFd, unix.SOL_SOCKET, unix.SO_TYPE); err != nil || kind != unix.SOCK_STREAM {
		return nil, errors.New("this command is started by the kernel, not by hand: file 3 is not its connection")
	}
	fd, err := unix.FcntlInt(controlFd, unix.F_DUPFD_CLOEXEC, aside)
	if err == nil {
		err = unix.Close(controlFd)
	} else { // few descriptors are allowed here
		fd, err = controlFd, nil
		unix.CloseOnExec(controlFd)
	}
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		return nil, fmt.Errorf("open the kernel's connection: %w", err)
	}
	go endWhenOrphaned()
	return os.NewFile(uintptr(fd), "control"), nil
}

// aside is the first descriptor that a cell which closes what it believes to be
// its own is unlikely to hit.
const aside = 500

// EndGroup ends this process and all that cells have started, when the parent
// has given it a process group of its own. The child calls it at its end.
func EndGroup() {
	if unix.Getpgrp() == os.Getpid() {
		_ = unix.Kill(0, unix.SIGKILL) // nothing can be told to anybody
	}
}

// server is the child's side: it runs the programs that come over the link.
type server struct {
	link    *link
	stdin   stdin
	scripts scripts

	mu   sync.Mutex
	seq  int64
	acks map[int64]chan struct{}
	cell *rt.Cell // the program that runs
}

// Serve runs programs until the parent closes the connection or ctx ends. It
// takes over the process: standard input, the display and the default logger.
func Serve(ctx context.Context, conn io.ReadWriteCloser, render display.Renderers) error {
	s := &server{link: &link{rw: conn}, acks: map[int64]chan struct{}{}}
	if err := s.stdin.open(); err != nil {
		return err
	}
	if word, _, err := shared(sharedFd); err == nil {
		rt.Share(word)
		_ = unix.Close(sharedFd) // the mapping stays
	}
	rt.Serve(s)
	display.Connect(s, render)
	log.SetOutput(rt.Log())
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if err := s.link.send(message{Op: opReady}); err != nil {
		return fmt.Errorf("tell the kernel that the session is ready: %w", err)
	}
	go s.scripts.prepare()
	for {
		m, err := s.link.receive()
		if errors.Is(err, io.EOF) || ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read from the kernel: %w", err)
		}
		s.handle(m)
	}
}

func (s *server) handle(m message) {
	switch m.Op {
	case opRun:
		if m.Program == nil {
			return
		}
		r := &run{server: s, prog: *m.Program, late: map[string]*source{}}
		r.cell = rt.NewCell(m.Program.ID, m.Program.Count)
		r.cell.Tag = r
		s.mu.Lock()
		s.cell = r.cell
		s.mu.Unlock()
		go r.main()
	case opInterrupt:
		if c := s.current(m.Cell); c != nil {
			c.Stop(causeInterrupt)
			s.stdin.end()
			go cuda.Interrupt() // a wait for a device ends with the device's process
			time.AfterFunc(hint, func() {
				if s.current(c.ID) == c {
					interruptCommands()
				}
			})
		}
		rt.Answer()
	case opInput:
		c := s.current(m.Cell)
		switch {
		case c == nil: // it has ended
		case m.Error != "":
			c.Tag.(*run).refuse(m.Error)
		default:
			go s.stdin.write(m.Text)
		}
		if c != nil {
			c.Tag.(*run).asked.Store(false)
		}
	case opAck:
		s.mu.Lock()
		ack := s.acks[m.Seq]
		delete(s.acks, m.Seq)
		s.mu.Unlock()
		if ack != nil {
			close(ack)
		}
	}
}

// hint is how long an interrupted program may go on before the commands that
// it has started are interrupted too, as a terminal does: it may wait for one.
const hint = 15 * time.Millisecond

// current returns the cell that runs when it is the given one.
func (s *server) current(id int) *rt.Cell {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cell == nil || s.cell.ID != id {
		return nil
	}
	return s.cell
}

// roundTrip sends m and waits until the parent has put it in its place, or
// until done.
func (s *server) roundTrip(m message, done <-chan struct{}) error {
	ack := make(chan struct{})
	s.mu.Lock()
	s.seq++
	m.Seq = s.seq
	s.acks[m.Seq] = ack
	s.mu.Unlock()
	if err := s.link.send(m); err != nil {
		s.mu.Lock()
		delete(s.acks, m.Seq)
		s.mu.Unlock()
		return err
	}
	select {
	case <-ack:
		return nil
	case <-done:
		return errors.New("the cell was interrupted")
	}
}

// Publish takes a message of the calling goroutine's cell to the parent.
func (s *server) Publish(m display.Message) error {
	m.Bundle = bounded(m.Bundle)
	return s.roundTrip(message{Op: opPublish, Cell: s.owner(), Message: &m}, rt.Done())
}

// SendComm takes a comm message to the parent.
func (s *server) SendComm(m display.CommMsg) error {
	return s.roundTrip(message{Op: opComm, Cell: s.owner(), Comm: &m}, rt.Done())
}

// owner returns the id of the calling goroutine's cell. What an earlier cell has
// printed goes out first; for the running one the parent sees to that.
func (s *server) owner() int {
	c := rt.Current()
	if c == nil {
		return 0
	}
	if c != rt.Running() {
		c.Tag.(*run).drain()
	}
	return c.ID
}

// Show is rt.Show.
func (s *server) Show(c *rt.Cell, v []any) {
	r := c.Tag.(*run)
	if r.prog.Value {
		b := bounded(display.Render(v...))
		r.mu.Lock()
		r.bundle = &b
		r.mu.Unlock()
		return
	}
	if err := display.ShowResult(v...); err != nil && !r.stopped() {
		panic(err)
	}
}

// Late makes a file for the output of a cell that does not run any more.
func (s *server) Late(c *rt.Cell, name string) *os.File {
	r, id := c.Tag.(*run), c.ID
	// The pump must not hold the cell: when it is garbage its files are closed.
	src, w, err := newSource(name, func(text string) {
		// An error means that the parent is gone.
		_ = s.roundTrip(message{Op: opStream, Cell: id, Name: name, Text: text}, nil)
	})
	if err != nil {
		if name == "stdout" {
			return os.Stdout
		}
		return os.Stderr
	}
	r.mu.Lock()
	r.late[name] = src
	r.mu.Unlock()
	go src.pump()
	return w
}

package transport

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"golang.org/x/sync/semaphore"
)

// What ends a connection, beside the errors of the network.
var (
	errMalformed = errors.New("malformed ZMTP")
	errOverCap   = errors.New("message over the size cap")
	errBudget    = errors.New("too many large messages at once")
)

const (
	smallMessage = 1 << 20          // messages up to this need no share of the budget
	firstChunk   = 64 << 10         // what a frame's length may allocate before its bytes are there
	maxCommand   = 64 << 10         // bytes of one ZMTP command; a SUBSCRIBE may hold a long topic
	midMessage   = 10 * time.Second // the longest pause inside a message
	slowestRate  = 64 << 10         // bytes a second that a large message must arrive at
)

// reader reads frames from one connection. One goroutine at a time uses it.
type reader struct {
	conn    net.Conn
	br      *bufio.Reader
	limit   int64                                // cap on one message
	budget  *semaphore.Weighted                  // shared by all readers of a process, may be nil
	command func(name string, body []byte) error // told of commands; an error ends the connection
	limited bool                                 // a read deadline is set on conn
}

func newReader(conn net.Conn, limit int64, budget *semaphore.Weighted) *reader {
	return &reader{conn: conn, br: bufio.NewReaderSize(conn, 8<<10), limit: limit, budget: budget}
}

// message returns the next message and the share of the budget it holds, which
// the caller gives back. It handles the commands on the way.
func (r *reader) message() (frames [][]byte, held int64, err error) {
	defer func() {
		if err != nil {
			r.release(held)
			frames, held = nil, 0
		}
	}()
	if _, err = r.br.Peek(1); err != nil { // a quiet peer between messages is fine
		return nil, 0, err
	}
	started, size := time.Now(), int64(0)
	for {
		flags, length, err := r.header()
		if err != nil {
			return frames, held, err
		}
		if flags&flagCommand != 0 {
			if err := r.handle(flags, length); err != nil {
				return frames, held, err
			}
			if len(frames) > 0 {
				continue
			}
			if err := r.rest(); err != nil {
				return frames, held, err
			}
			started = time.Now()
			continue
		}
		if length > uint64(r.limit) || size+int64(length)+overhead > r.limit {
			return frames, held, fmt.Errorf("%w: at least %d bytes of %d", errOverCap, length, r.limit)
		}
		size += int64(length) + overhead
		if size > smallMessage {
			if err := r.acquire(size - held); err != nil {
				return frames, held, err
			}
			held = size
		}
		body, err := r.body(int(length), started.Add(midMessage+time.Duration(size/slowestRate)*time.Second))
		if err != nil {
			return frames, held, err
		}
		frames = append(frames, body)
		if flags&flagMore == 0 {
			return frames, held, r.unlimit()
		}
	}
}

// rest waits for the message after a command without a deadline.
func (r *reader) rest() error {
	if err := r.unlimit(); err != nil {
		return err
	}
	_, err := r.br.Peek(1)
	return err
}

// header reads one frame header.
func (r *reader) header() (flags byte, length uint64, err error) {
	var buf [9]byte
	if err := r.full(buf[:2], time.Time{}); err != nil {
		return 0, 0, err
	}
	flags = buf[0]
	if flags&^(flagMore|flagLong|flagCommand) != 0 || flags&flagCommand != 0 && flags&flagMore != 0 {
		return 0, 0, fmt.Errorf("%w: frame flags %#x", errMalformed, flags)
	}
	if flags&flagLong == 0 {
		return flags, uint64(buf[1]), nil
	}
	if err := r.full(buf[2:], time.Time{}); err != nil {
		return 0, 0, err
	}
	return flags, binary.BigEndian.Uint64(buf[1:]), nil
}

// body reads a frame's bytes. What it allocates follows what has arrived, not
// what the length promises.
func (r *reader) body(length int, deadline time.Time) ([]byte, error) {
	buf := make([]byte, min(length, firstChunk))
	for read := 0; ; {
		if err := r.full(buf[read:], deadline); err != nil {
			return nil, err
		}
		if read = len(buf); read == length {
			return buf, nil
		}
		grown := make([]byte, min(length, 4*len(buf)))
		copy(grown, buf)
		buf = grown
	}
}

// full fills p, within midMessage for every pause and before deadline if given.
func (r *reader) full(p []byte, deadline time.Time) error {
	for len(p) > 0 {
		if r.br.Buffered() == 0 {
			until := time.Now().Add(midMessage)
			if !deadline.IsZero() && deadline.Before(until) {
				until = deadline
			}
			if err := r.conn.SetReadDeadline(until); err != nil {
				return err
			}
			r.limited = true
		}
		n, err := r.br.Read(p)
		if err != nil {
			return noEOF(err)
		}
		p = p[n:]
	}
	return nil
}

// unlimit takes the deadline away after a message.
func (r *reader) unlimit() error {
	if !r.limited {
		return nil
	}
	r.limited = false
	return r.conn.SetReadDeadline(time.Time{})
}

// noEOF marks an end inside a message.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// handle reads a command and acts on it.
func (r *reader) handle(flags byte, length uint64) error {
	if length > maxCommand {
		return fmt.Errorf("%w: command of %d bytes", errMalformed, length)
	}
	buf, err := r.body(int(length), time.Time{})
	if err != nil {
		return err
	}
	name, body, err := splitCommand(buf)
	if err != nil {
		return err
	}
	if name == "ERROR" {
		return fmt.Errorf("%w: the peer reports an error", errMalformed)
	}
	if r.command == nil {
		return nil
	}
	return r.command(name, body)
}

// splitCommand cuts a command frame into name and body.
func splitCommand(buf []byte) (name string, body []byte, err error) {
	if len(buf) < 2 || buf[0] == 0 || int(buf[0]) > len(buf)-1 {
		return "", nil, fmt.Errorf("%w: command name", errMalformed)
	}
	end := 1 + int(buf[0])
	return string(buf[1:end]), buf[end:], nil
}

// acquire takes a share of the budget for large messages, waiting a while.
func (r *reader) acquire(n int64) error {
	if r.budget == nil || r.budget.TryAcquire(n) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), midMessage)
	defer cancel()
	if r.budget.Acquire(ctx, n) != nil {
		return errBudget
	}
	return nil
}

func (r *reader) release(n int64) {
	if r.budget != nil && n > 0 {
		r.budget.Release(n)
	}
}

package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"
)

var (
	errStalled = errors.New("the peer is over its queue limit and reads nothing")
	errFlooded = errors.New("the peer is far over its queue limit")
)

const (
	batchBytes   = 256 << 10 // what one write to the network holds at most
	floodedTimes = 4         // a ROUTER's peer is disconnected at this many queue limits
)

// queue is what one peer has yet to be sent. push never waits; room does.
type queue struct {
	conn  net.Conn
	limit int64
	stall time.Duration
	fail  func(error) // ends the peer; called without the lock

	mu       sync.Mutex
	changed  *sync.Cond // bytes, closed or idle have changed
	packets  []*packet
	bytes    int64 // size of packets and of what is being written
	written  int64 // grows with every write, shows progress
	closed   bool
	watching bool
	draining bool // being over zero is being over the limit

	batch []*packet // of run, to be used again
	flat  []byte    // of run, to be used again
}

func newQueue(conn net.Conn, limit int64, stall time.Duration, fail func(error)) *queue {
	q := &queue{conn: conn, limit: limit, stall: stall, fail: fail}
	q.changed = sync.NewCond(&q.mu)
	return q
}

// push queues p. It reports false when the peer is gone.
func (q *queue) push(p *packet) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.packets = append(q.packets, p)
	q.bytes += p.size
	q.startWatch()
	if len(q.packets) == 1 {
		q.changed.Broadcast()
	}
	return true
}

// startWatch starts watch when it is needed. The caller holds the lock.
func (q *queue) startWatch() {
	if q.over() && !q.watching {
		q.watching = true
		go q.watch()
	}
}

// over tells whether the peer has to make progress. The caller holds the lock.
func (q *queue) over() bool {
	return q.bytes >= q.limit || q.draining && q.bytes > 0
}

// room waits until the queue is below its limit, or reports that the peer is
// gone. The wait ends because the peer reads, or because watch ends the peer.
func (q *queue) room() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.bytes >= q.limit && !q.closed {
		q.changed.Wait()
	}
	return !q.closed
}

// flooded reports whether so much waits that the peer had better go.
func (q *queue) flooded() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes >= floodedTimes*q.limit
}

// drain waits until everything is written, the peer is gone or stalled, or ctx
// is done.
func (q *queue) drain(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.changed.Broadcast()
	})
	defer stop()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.draining = true
	q.startWatch()
	for q.bytes > 0 && !q.closed && ctx.Err() == nil {
		q.changed.Wait()
	}
	if q.bytes == 0 {
		return nil
	}
	if q.closed {
		return fmt.Errorf("%d bytes were not sent: %w", q.bytes, net.ErrClosed)
	}
	return fmt.Errorf("%d bytes were not sent: %w", q.bytes, ctx.Err())
}

// close drops the queue and wakes everyone who waits on it.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed, q.packets = true, nil
	q.changed.Broadcast()
}

// run writes until the queue is closed or the network fails.
func (q *queue) run() {
	for q.next() {
		if err := q.write(); err != nil {
			q.fail(err)
			return
		}
		clear(q.batch) // a quiet peer keeps no payload alive
	}
}

// next moves the packets of one write to batch; they stay in bytes until they
// are written. It reports false when the peer is gone.
func (q *queue) next() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.packets) == 0 && cap(q.flat) > inlineFrame {
		q.flat = nil // nor does it keep a large buffer
	}
	for len(q.packets) == 0 && !q.closed {
		q.changed.Wait()
	}
	if q.closed {
		return false
	}
	n, size := 1, q.packets[0].size
	for n < len(q.packets) && size+q.packets[n].size <= batchBytes {
		size += q.packets[n].size
		n++
	}
	q.batch = append(q.batch[:0], q.packets[:n]...)
	clear(q.packets[:n]) // the array lives on
	if q.packets = q.packets[n:]; len(q.packets) == 0 {
		q.packets = nil
	}
	return true
}

// write sends the batch: small packets in one buffer, a large one in pieces, so
// that progress shows.
func (q *queue) write() error {
	if len(q.batch) == 1 {
		return q.writeOne(q.batch[0])
	}
	size := int64(0)
	for _, p := range q.batch {
		size += p.size
	}
	q.flat = slices.Grow(q.flat[:0], int(size))
	for _, p := range q.batch {
		for _, buf := range p.bufs {
			q.flat = append(q.flat, buf...)
		}
	}
	if _, err := q.conn.Write(q.flat); err != nil {
		return err
	}
	q.wrote(int64(len(q.flat)), size)
	return nil
}

func (q *queue) writeOne(p *packet) error {
	for _, buf := range p.bufs {
		for len(buf) > 0 {
			n := min(len(buf), batchBytes)
			if _, err := q.conn.Write(buf[:n]); err != nil {
				return err
			}
			buf = buf[n:]
			q.wrote(int64(n), 0)
		}
	}
	q.wrote(0, p.size)
	return nil
}

// wrote counts n bytes as written and takes size off the queue.
func (q *queue) wrote(n, size int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.written += n
	if size > 0 {
		q.bytes -= size
		q.changed.Broadcast()
	}
}

// watch runs while the queue is over its limit and ends a peer that makes no
// progress. Bytes that the peer's own kernel has taken count as progress too:
// a large write returns only after many of them.
func (q *queue) watch() {
	tick := time.NewTicker(q.stall / 8)
	defer tick.Stop()
	last, since := q.progress(), time.Now()
	for range tick.C {
		q.mu.Lock()
		if q.closed || !q.over() {
			q.watching = false
			q.mu.Unlock()
			return
		}
		q.mu.Unlock()
		if now := q.progress(); now != last {
			last, since = now, time.Now()
		} else if time.Since(since) >= q.stall {
			q.fail(fmt.Errorf("%w for %s", errStalled, q.stall))
			return
		}
	}
}

type progress struct {
	written int64
	unsent  int // in the operating system's send buffer
}

func (q *queue) progress() progress {
	q.mu.Lock()
	defer q.mu.Unlock()
	return progress{written: q.written, unsent: unsent(q.conn)}
}

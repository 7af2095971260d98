package transport

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
)

// zmqConn is a peer as go-zeromq sees it: a connection that begins with a
// greeting and a READY and then carries whole messages, no commands.
type zmqConn struct {
	net.Conn // the peer's, for addresses and deadlines
	peer     *peer
	sock     *routerSocket
	once     sync.Once

	// Reading, by one goroutine of go-zeromq.
	pending [][]byte // bytes to be read
	mu      sync.Mutex
	held    int64 // budget held by pending

	// Writing, under a lock of go-zeromq.
	skip  int // bytes of go-zeromq's greeting to swallow
	head  []byte
	left  uint64 // bytes of the frame to come
	build builder
}

func newZmqConn(p *peer, s *routerSocket) *zmqConn {
	hello := greeting()
	hello[11] = 0 // go-zeromq speaks ZMTP 3.0
	ready := readyCommand(dealer, p.identity)
	return &zmqConn{Conn: p.conn, peer: p, sock: s, skip: greetingSize,
		pending: append([][]byte{hello}, ready.bufs...)}
}

// Read returns bytes of the peer's next message. A peer that has not taken its
// replies is not read from.
func (c *zmqConn) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for len(c.pending) == 0 {
		if !c.peer.out.room() {
			return 0, io.EOF
		}
		frames, held, err := c.peer.in.message()
		if err != nil {
			c.peer.close(err)
			return 0, io.EOF
		}
		c.peer.heard.Store(true)
		c.hold(held)
		c.pending = plain(frames)
	}
	n := copy(b, c.pending[0])
	if c.pending[0] = c.pending[0][n:]; len(c.pending[0]) == 0 {
		if c.pending = c.pending[1:]; len(c.pending) == 0 {
			c.hold(0) // the message, and its share of the budget, are go-zeromq's now
		}
	}
	return n, nil
}

func (c *zmqConn) hold(n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = n
}

// plain is a message as bytes on the wire, without empty pieces.
func plain(frames [][]byte) [][]byte {
	out := make([][]byte, 0, 2*len(frames))
	for i, frame := range frames {
		flags := byte(0)
		if i < len(frames)-1 {
			flags = flagMore
		}
		out = append(out, appendHeader(nil, flags, len(frame)))
		if len(frame) > 0 {
			out = append(out, frame)
		}
	}
	return out
}

// Write gathers frames and queues a message when its last byte has come. It
// keeps large frames by reference: go-zeromq passes on the slices of Send.
// Bytes for a peer that is gone are swallowed; its reader reports the end.
func (c *zmqConn) Write(b []byte) (int, error) {
	n := len(b)
	if c.skip > 0 {
		k := min(c.skip, len(b))
		c.skip -= k
		b = b[k:]
	}
	for len(b) > 0 {
		if c.left == 0 {
			b = c.header(b)
		} else {
			k := int(min(c.left, uint64(len(b))))
			c.build.add(b[:k])
			c.left -= uint64(k)
			b = b[k:]
		}
		c.end()
	}
	return n, nil
}

// header takes bytes of a frame header from b.
func (c *zmqConn) header(b []byte) []byte {
	need := 2
	if len(c.head) > 0 && c.head[0]&flagLong != 0 || len(c.head) == 0 && b[0]&flagLong != 0 {
		need = 9
	}
	k := min(need-len(c.head), len(b))
	c.head = append(c.head, b[:k]...)
	if len(c.head) == need {
		c.left = uint64(c.head[1])
		if need == 9 {
			c.left = binary.BigEndian.Uint64(c.head[1:])
		}
		c.build.add(c.head)
	}
	return b[k:]
}

// end finishes a frame whose header and body are complete, and with the last one
// the message. The one command that go-zeromq sends, READY, is swallowed.
func (c *zmqConn) end() {
	complete := len(c.head) == 9 || len(c.head) == 2 && c.head[0]&flagLong == 0
	if !complete || c.left > 0 {
		return
	}
	flags := c.head[0]
	c.head = c.head[:0]
	if flags&flagMore != 0 {
		return
	}
	if p := c.build.take(); flags&flagCommand == 0 {
		c.peer.out.push(p)
	}
}

// Close is go-zeromq's last call on the connection.
func (c *zmqConn) Close() error {
	c.once.Do(func() {
		c.peer.close(nil)
		c.sock.forget(c.peer)
		c.mu.Lock()
		c.peer.in.release(c.held)
		c.held = 0
		c.mu.Unlock()
		c.sock.live.Done()
	})
	return nil
}

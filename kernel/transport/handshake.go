package transport

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"
)

// The ZMTP socket types that we play or meet.
const (
	router = "ROUTER"
	dealer = "DEALER"
	pub    = "PUB"
	sub    = "SUB"
	req    = "REQ"
)

// mates lists which socket types may talk to ours.
func mates(kind string) []string {
	switch kind {
	case router:
		return []string{dealer, req, router}
	case pub:
		return []string{sub, "XSUB"}
	case dealer:
		return []string{router, "REP", dealer}
	case sub:
		return []string{pub, "XPUB"}
	case req:
		return []string{router, "REP"}
	}
	return nil
}

const (
	greetingSize = 64
	maxReady     = 4 << 10 // bytes of a READY command
	maxIdentity  = 255
)

// ready is what a peer says of itself.
type ready struct {
	kind     string // its socket type
	identity string
}

// greeting is ours: ZMTP 3.1, NULL, not as a server.
func greeting() []byte {
	g := make([]byte, greetingSize)
	g[0], g[9], g[10], g[11] = 0xff, 0x7f, 3, 1
	copy(g[12:32], "NULL")
	return g
}

// readyCommand is the packet of our READY.
func readyCommand(kind, identity string) *packet {
	body := appendProperty(nil, "Socket-Type", kind)
	if kind != pub && kind != sub {
		body = appendProperty(body, "Identity", identity)
	}
	return encodeCommand("READY", body)
}

func appendProperty(to []byte, name, value string) []byte {
	to = append(append(to, byte(len(name))), name...)
	return append(binary.BigEndian.AppendUint32(to, uint32(len(value))), value...)
}

// handshake exchanges greeting and READY on r's connection before the deadline.
func (r *reader) handshake(kind, identity string, deadline time.Time) (ready, error) {
	if err := r.conn.SetDeadline(deadline); err != nil {
		return ready{}, err
	}
	if _, err := r.conn.Write(greeting()); err != nil {
		return ready{}, fmt.Errorf("send the greeting: %w", err)
	}
	if err := r.readGreeting(); err != nil {
		return ready{}, err
	}
	mine := net.Buffers(slices.Clone(readyCommand(kind, identity).bufs))
	if _, err := mine.WriteTo(r.conn); err != nil {
		return ready{}, fmt.Errorf("send READY: %w", err)
	}
	theirs, err := r.readReady()
	if err != nil {
		return ready{}, err
	}
	if !slices.Contains(mates(kind), theirs.kind) {
		return ready{}, fmt.Errorf("%w: a %q socket cannot talk to our %s", errMalformed, theirs.kind, kind)
	}
	return theirs, r.conn.SetDeadline(time.Time{})
}

// readGreeting reads the peer's greeting and refuses at the first wrong byte.
func (r *reader) readGreeting() error {
	var g [greetingSize]byte
	for i := range g {
		b, err := r.br.ReadByte()
		if err != nil {
			return fmt.Errorf("greeting: %w", noEOF(err))
		}
		g[i] = b
		if i == 0 && b != 0xff || i == 9 && b != 0x7f || i == 10 && b < 3 {
			return fmt.Errorf("%w: byte %d of the greeting is %#x", errMalformed, i, b)
		}
	}
	if m := strings.TrimRight(string(g[12:32]), "\x00"); m != "NULL" {
		return fmt.Errorf("%w: security mechanism %q, only NULL is spoken here", errMalformed, m)
	}
	if g[32] != 0 {
		return fmt.Errorf("%w: as-server with the NULL mechanism", errMalformed)
	}
	return nil
}

// readReady reads the peer's READY command. The deadline is already set.
func (r *reader) readReady() (ready, error) {
	var head [9]byte
	n := 2
	for i := 0; i < n; i++ {
		b, err := r.br.ReadByte()
		if err != nil {
			return ready{}, fmt.Errorf("READY: %w", noEOF(err))
		}
		head[i] = b
		if i == 0 && b&flagLong != 0 {
			n = 9
		}
	}
	size := uint64(head[1])
	if n == 9 {
		size = binary.BigEndian.Uint64(head[1:])
	}
	if head[0]&^flagLong != flagCommand || size > maxReady {
		return ready{}, fmt.Errorf("%w: flags %#x and %d bytes where READY was due", errMalformed, head[0], size)
	}
	buf := make([]byte, size)
	for i := range buf {
		var err error
		if buf[i], err = r.br.ReadByte(); err != nil {
			return ready{}, fmt.Errorf("READY: %w", noEOF(err))
		}
	}
	return parseReady(buf)
}

// parseReady reads the body of a READY command.
func parseReady(buf []byte) (ready, error) {
	name, body, err := splitCommand(buf)
	if err != nil {
		return ready{}, err
	}
	if name != "READY" {
		return ready{}, fmt.Errorf("%w: command %q where READY was due", errMalformed, name)
	}
	var out ready
	for len(body) > 0 {
		var key, value string
		if key, value, body, err = cutProperty(body); err != nil {
			return ready{}, err
		}
		switch strings.ToLower(key) {
		case "socket-type":
			out.kind = value
		case "identity":
			out.identity = value
		}
	}
	switch {
	case out.kind == "":
		return ready{}, fmt.Errorf("%w: READY without Socket-Type", errMalformed)
	case len(out.identity) > maxIdentity:
		return ready{}, fmt.Errorf("%w: identity of %d bytes", errMalformed, len(out.identity))
	}
	return out, nil
}

var errProperty = errors.New("READY property cut short")

// cutProperty cuts the first property off body.
func cutProperty(body []byte) (key, value string, rest []byte, err error) {
	short := fmt.Errorf("%w: %w", errMalformed, errProperty)
	n := int(body[0])
	if n == 0 || len(body) < 1+n+4 {
		return "", "", nil, short
	}
	key, body = string(body[1:1+n]), body[1+n:]
	size := uint64(binary.BigEndian.Uint32(body))
	if body = body[4:]; size > uint64(len(body)) {
		return "", "", nil, short
	}
	return key, string(body[:size]), body[size:], nil
}

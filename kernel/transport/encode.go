package transport

import "encoding/binary"

// Flags of a ZMTP frame.
const (
	flagMore    = 1
	flagLong    = 2
	flagCommand = 4
)

// inlineFrame is the size up to which a frame is copied to lie beside its
// header. Larger frames are shared by all queues that hold them.
const inlineFrame = 16 << 10

// overhead is what a queued message or a received frame counts beside its bytes.
const overhead = 128

// packet is one message, encoded. It is shared between queues and read-only.
type packet struct {
	bufs [][]byte
	size int64
}

// encode makes the packet of a message. It keeps large frames without copying.
func encode(frames [][]byte) *packet {
	var b builder
	total := 0
	for _, frame := range frames {
		total += 9
		if len(frame) <= inlineFrame {
			total += len(frame)
		}
	}
	b.tail = make([]byte, 0, total)
	for i, frame := range frames {
		flags := byte(0)
		if i < len(frames)-1 {
			flags = flagMore
		}
		b.tail = appendHeader(b.tail, flags, len(frame))
		b.add(frame)
	}
	return b.take()
}

// encodeCommand makes the packet of a ZMTP command.
func encodeCommand(name string, body []byte) *packet {
	size := 1 + len(name) + len(body)
	buf := appendHeader(make([]byte, 0, 9+size), flagCommand, size)
	buf = append(append(append(buf, byte(len(name))), name...), body...)
	return &packet{bufs: [][]byte{buf}, size: int64(len(buf)) + overhead}
}

// appendHeader appends a frame header.
func appendHeader(to []byte, flags byte, size int) []byte {
	if size > 255 {
		return binary.BigEndian.AppendUint64(append(to, flags|flagLong), uint64(size))
	}
	return append(to, flags, byte(size))
}

// builder gathers bytes for the wire into as few buffers as is worth it.
type builder struct {
	done [][]byte
	tail []byte
	size int64
}

// add appends a frame's bytes, by reference when they are many.
func (b *builder) add(p []byte) {
	if len(p) <= inlineFrame {
		if b.tail == nil {
			b.tail = make([]byte, 0, 2<<10) // most messages fit
		}
		b.tail = append(b.tail, p...)
		return
	}
	b.cut()
	b.done = append(b.done, p)
	b.size += int64(len(p))
}

func (b *builder) cut() {
	if len(b.tail) > 0 {
		b.done = append(b.done, b.tail[:len(b.tail):len(b.tail)])
		b.size += int64(len(b.tail))
		b.tail = b.tail[len(b.tail):]
	}
}

// take returns what was gathered and starts anew.
func (b *builder) take() *packet {
	b.cut()
	p := &packet{bufs: b.done, size: b.size + overhead}
	*b = builder{}
	return p
}

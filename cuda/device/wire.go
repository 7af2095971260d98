package device

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// op is what a frame asks for, or answers.
type op uint8

// Commands. Those marked with * are answered; all others are not, and what fails
// about them is told by the next answer.
const (
	opNone        op = iota
	opInfo           // *
	opAlloc          // buffer, bytes, label
	opAllocWait      // * the same, for sizes that may not fit
	opFree           // buffer
	opDrop           // buffer, which may be gone
	opLabel          // buffer, label
	opWrite          // buffer, offset, data
	opWriteShared    // * buffer, offset, place in shared memory, bytes
	opReadShared     // * the same
	opCopy           // stream, buffer, offset, buffer, offset, bytes
	opFill           // stream, buffer, offset, pattern, count
	opLoad           // * module, PTX, source
	opUnload         // module
	opLaunch         // stream, module, kernel, geometry, parameters, patches
	opNewStream      // stream
	opFreeStream     // stream
	opRecord         // event, stream
	opWait           // stream, event
	opElapsed        // * event, event
	opFreeEvent      // event
	opBegin          // stream
	opEnd            // stream, graph
	opReplay         // stream, graph
	opFreeGraph      // graph
	opSync           // * stream
	opOption         // * name, value
	opReport         // * name
	opTime           // * tape, mode, warm-ups, samples, repetitions

	opReply // number, error, payload
	opPrint // text of a kernel's printf
)

const maxFrame = 64 << 20

// encoder builds a frame's payload.
type encoder []byte

func (e *encoder) u8(v uint8)   { *e = append(*e, v) }
func (e *encoder) u32(v uint32) { *e = binary.LittleEndian.AppendUint32(*e, v) }
func (e *encoder) u64(v uint64) { *e = binary.LittleEndian.AppendUint64(*e, v) }
func (e *encoder) bytes(v []byte) {
	e.u32(uint32(len(v)))
	*e = append(*e, v...)
}
func (e *encoder) text(v string) {
	e.u32(uint32(len(v)))
	*e = append(*e, v...)
}

// decoder takes a payload apart. After an error everything is zero.
type decoder struct {
	b   []byte
	bad bool
}

var errShort = errors.New("a frame is shorter than its contents")

func (d *decoder) take(n int) []byte {
	if n < 0 || n > len(d.b) {
		d.bad = true
		d.b = nil
		return nil
	}
	v := d.b[:n]
	d.b = d.b[n:]
	return v
}

func (d *decoder) u8() uint8 {
	if v := d.take(1); v != nil {
		return v[0]
	}
	return 0
}

func (d *decoder) u32() uint32 {
	if v := d.take(4); v != nil {
		return binary.LittleEndian.Uint32(v)
	}
	return 0
}

func (d *decoder) u64() uint64 {
	if v := d.take(8); v != nil {
		return binary.LittleEndian.Uint64(v)
	}
	return 0
}

func (d *decoder) bytes() []byte { return d.take(int(d.u32())) }
func (d *decoder) text() string  { return string(d.bytes()) }

func (d *decoder) err() error {
	if d.bad {
		return errShort
	}
	return nil
}

// frame appends a whole frame to dst: its length, what it is, and the payload.
func frame(dst []byte, o op, payload []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(payload)+1))
	dst = append(dst, byte(o))
	return append(dst, payload...)
}

// readFrame reads a frame. The payload is its own.
func readFrame(r *bufio.Reader) (op, []byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n == 0 || n > maxFrame {
		return 0, nil, fmt.Errorf("a frame of %d bytes", n)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return 0, nil, err
	}
	return op(b[0]), b[1:], nil
}

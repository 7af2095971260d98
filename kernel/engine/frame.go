package engine

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/warpbook/warpbook/display"
)

// Operations of the control connection. Those marked with * are answered by opAck
// with the same Seq: the child waits, so that output keeps its order.
const (
	opRun       = "run"       // to the child: Program
	opInterrupt = "interrupt" // to the child: Cell
	opInput     = "input"     // to the child: Text, or Error for the end of input
	opAck       = "ack"       // to the child: Seq

	opReady   = "ready"   // the child serves
	opDone    = "done"    // Outcome
	opPublish = "publish" // * Cell, Message
	opStream  = "stream"  // * Cell, Name, Text: output of an earlier program
	opComm    = "comm"    // * Cell, Comm
	opStdin   = "stdin"   // Cell: the program waits for standard input
)

// message is everything that the control connection carries.
type message struct {
	Op      string           `json:"op"`
	Seq     int64            `json:"seq,omitempty"`
	Cell    int              `json:"cell,omitempty"`
	Name    string           `json:"name,omitempty"`
	Text    string           `json:"text,omitempty"`
	Error   string           `json:"error,omitempty"`
	Program *Program         `json:"program,omitempty"`
	Outcome *Outcome         `json:"outcome,omitempty"`
	Message *display.Message `json:"message,omitempty"`
	Comm    *Comm            `json:"comm,omitempty"`
}

// maxFrame bounds a message; a larger one is a protocol error.
const maxFrame = 1 << 30

// link is the control connection: JSON messages after their length.
type link struct {
	rw      io.ReadWriteCloser
	numbers bool       // decode numbers as json.Number: integers in a bundle keep all of their digits
	mu      sync.Mutex // of writing
}

func (l *link) send(m message) error {
	data, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("this output cannot be sent as JSON: %w", err)
	}
	if len(data) > maxFrame {
		return fmt.Errorf("this output is too large: %d MB, at most %d MB can be sent", len(data)>>20, maxFrame>>20)
	}
	frame := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(data)), uint32(len(data)))
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.rw.Write(append(frame, data...))
	return err
}

func (l *link) receive() (message, error) {
	var m message
	var size [4]byte
	if _, err := io.ReadFull(l.rw, size[:]); err != nil {
		return m, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > maxFrame {
		return m, fmt.Errorf("a control message of %d bytes is too large", n)
	}
	data := make([]byte, n)
	if _, err := io.ReadFull(l.rw, data); err != nil {
		return m, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if l.numbers {
		d.UseNumber()
	}
	if err := d.Decode(&m); err != nil {
		return m, fmt.Errorf("a control message is not what it should be: %w", err)
	}
	return m, nil
}

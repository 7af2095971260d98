package display

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// CommMsg is a message of a comm, in either direction.
type CommMsg struct {
	Kind     string         `json:"kind"` // "open", "msg" or "close"
	ID       string         `json:"id"`
	Target   string         `json:"target,omitempty"` // for "open"
	Data     map[string]any `json:"data,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`
	Buffers  [][]byte       `json:"buffers,omitempty"`
}

// CommHost is a Host that also carries comms.
type CommHost interface {
	SendComm(CommMsg) error
}

// ErrNoComms is what comms give where the host carries none, as on a terminal.
var ErrNoComms = errors.New("there is no front end that takes comms; run this in a notebook")

// ErrCommClosed is what Send gives after either side closed the comm.
var ErrCommClosed = errors.New("the comm is closed; open a new one")

// maxEarly is how many messages a comm keeps until OnMsg is called.
const maxEarly = 1000

// A Comm is a channel to an object in the front end, such as a widget.
type Comm struct {
	id, target string

	deliver sync.Mutex // one message at a time reaches the handlers
	mu      sync.Mutex
	onMsg   func(CommMsg)
	onClose func(CommMsg)
	early   []CommMsg // came before OnMsg
	closed  bool
}

// comms are the open comms and the targets of this process.
type comms struct {
	mu      sync.Mutex
	open    map[string]*Comm
	targets map[string]func(*Comm, CommMsg)
}

func (c *comms) add(comm *Comm) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		c.open = map[string]*Comm{}
	}
	c.open[comm.id] = comm
}

func (c *comms) remove(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, id)
}

func (c *comms) find(id string) *Comm {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open[id]
}

// RegisterTarget names a function that takes the comms that the front end opens
// for a target. It gets the opening message, and normally calls OnMsg.
func RegisterTarget(name string, accept func(*Comm, CommMsg)) {
	process.comms.mu.Lock()
	defer process.comms.mu.Unlock()
	if process.comms.targets == nil {
		process.comms.targets = map[string]func(*Comm, CommMsg){}
	}
	process.comms.targets[name] = accept
}

// Comms lists the open comms: id to target.
func Comms() map[string]string {
	process.comms.mu.Lock()
	defer process.comms.mu.Unlock()
	list := make(map[string]string, len(process.comms.open))
	for id, c := range process.comms.open {
		list[id] = c.target
	}
	return list
}

// NewComm opens a comm to a target in the front end. Data becomes a JSON object:
// a map or a struct, or nil.
func NewComm(target string, data any, buffers ...[]byte) (*Comm, error) {
	fields, err := object(data)
	if err != nil {
		return nil, err
	}
	return OpenComm(CommMsg{Target: target, Data: fields, Buffers: buffers})
}

// OpenComm is NewComm with metadata, which widgets need for their version. An
// empty ID is chosen.
func OpenComm(open CommMsg) (*Comm, error) {
	open.Kind = "open"
	if open.ID == "" {
		open.ID = newID()
	}
	c := &Comm{id: open.ID, target: open.Target}
	process.comms.add(c) // before it is sent: the answer may come at once
	if err := sendComm(open); err != nil {
		process.comms.remove(c.id)
		return nil, err
	}
	return c, nil
}

func sendComm(m CommMsg) error {
	h, ok := current().host.(CommHost)
	if !ok {
		return ErrNoComms
	}
	if m.Data == nil {
		m.Data = map[string]any{} // the protocol wants an object
	}
	if err := h.SendComm(m); err != nil {
		return fmt.Errorf("the comm message did not reach the front end: %w", err)
	}
	return nil
}

// object is data as the fields of a JSON object.
func object(data any) (map[string]any, error) {
	text, err := marshal(data)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, fmt.Errorf("comm data is a JSON object, not a value of type %T; give a map or a struct", data)
	}
	return fields, nil
}

// ID is the id that both sides know the comm by.
func (c *Comm) ID() string { return c.id }

// Target is the name that the comm was opened with.
func (c *Comm) Target() string { return c.target }

// String names the comm.
func (c *Comm) String() string { return fmt.Sprintf("comm %s to %s", c.id, c.target) }

// Send sends data, a map or a struct, and buffers.
func (c *Comm) Send(data any, buffers ...[]byte) error {
	fields, err := object(data)
	if err != nil {
		return err
	}
	if c.isClosed() {
		return ErrCommClosed
	}
	return sendComm(CommMsg{Kind: "msg", ID: c.id, Data: fields, Buffers: buffers})
}

// OnMsg sets the function that takes the messages of the front end, and hands it
// those that came before. Messages come one at a time.
func (c *Comm) OnMsg(f func(CommMsg)) {
	for {
		c.mu.Lock()
		early := c.early
		if len(early) == 0 {
			c.onMsg = f // only now, so that none overtakes an early one
			c.mu.Unlock()
			return
		}
		c.early = nil
		c.mu.Unlock()
		for _, m := range early {
			f(m)
		}
	}
}

// OnClose sets the function that is called when the front end closes the comm.
func (c *Comm) OnClose(f func(CommMsg)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.onClose = f
}

// Close closes the comm on both sides. Closing it again does nothing.
func (c *Comm) Close() error {
	if !c.end() {
		return nil
	}
	return sendComm(CommMsg{Kind: "close", ID: c.id})
}

func (c *Comm) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// end forgets the comm; false if that had happened before.
func (c *Comm) end() bool {
	c.mu.Lock()
	was := c.closed
	c.closed = true
	c.mu.Unlock()
	process.comms.remove(c.id)
	return !was
}

// DeliverComm hands a message of the front end to the comm that it is for. The
// engine calls it. An unknown target is answered by a close, a message for an
// unknown comm is ignored, and a handler that panics gives an error.
func DeliverComm(m CommMsg) error {
	if m.Kind == "open" {
		return acceptComm(m)
	}
	c := process.comms.find(m.ID)
	if c == nil {
		return nil
	}
	c.deliver.Lock()
	defer c.deliver.Unlock()
	switch m.Kind {
	case "msg":
		if f := c.handler(m); f != nil {
			return guard("OnMsg", func() { f(m) })
		}
		return nil
	case "close":
		c.mu.Lock()
		f := c.onClose
		c.mu.Unlock()
		if c.end() && f != nil {
			return guard("OnClose", func() { f(m) })
		}
		return nil
	}
	return fmt.Errorf("comm message of unknown kind %q; it is open, msg or close", m.Kind)
}

// handler returns the function for m, or keeps m until there is one.
func (c *Comm) handler(m CommMsg) func(CommMsg) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.onMsg == nil && len(c.early) < maxEarly {
		c.early = append(c.early, m)
	}
	return c.onMsg
}

func acceptComm(m CommMsg) error {
	process.comms.mu.Lock()
	accept := process.comms.targets[m.Target]
	process.comms.mu.Unlock()
	if accept == nil {
		return sendComm(CommMsg{Kind: "close", ID: m.ID})
	}
	c := &Comm{id: m.ID, target: m.Target}
	process.comms.add(c)
	if err := guard("the target "+m.Target, func() { accept(c, m) }); err != nil {
		return errors.Join(err, c.Close())
	}
	return nil
}

// guard keeps a panic of the user's code from ending the session.
func guard(name string, f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s panicked: %v; correct the function that it was given", name, p)
		}
	}()
	f()
	return nil
}

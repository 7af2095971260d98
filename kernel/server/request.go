package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/warpbook/warpbook/kernel/session"
	"github.com/warpbook/warpbook/kernel/wire"
)

// request is one message from a front end on its way to its reply.
type request struct {
	msg     *wire.Message
	ch      channel
	started time.Time
	aborted bool   // it was queued behind a cell that failed
	refused error  // it is answered with this error only
	after   func() // what to do when its idle has been sent
}

// handler does a request and returns the content of its reply. A nil content
// means no reply, an error an error reply.
type handler func(*kernel, context.Context, *request) (any, error)

// route is what the kernel does with a type of message.
type route struct {
	handle handler
	reply  string // type of the reply, "" for none
	slow   bool   // may take its time, so it does not hold up control
}

// routes says which handler takes a message; the zero route is that of a message
// we do not know.
func routes(ch channel, msgType string) route {
	switch msgType {
	case "kernel_info_request":
		return route{(*kernel).kernelInfo, "kernel_info_reply", false}
	case "connect_request":
		return route{(*kernel).connect, "connect_reply", false}
	case "interrupt_request":
		return route{(*kernel).interruptRequest, "interrupt_reply", false}
	case "shutdown_request":
		return route{(*kernel).shutdown, "shutdown_reply", false}
	case "complete_request":
		return route{(*kernel).complete, "complete_reply", true}
	case "inspect_request":
		return route{(*kernel).inspect, "inspect_reply", true}
	case "is_complete_request":
		return route{(*kernel).isComplete, "is_complete_reply", true}
	case "history_request":
		return route{(*kernel).history, "history_reply", true}
	case "comm_info_request":
		return route{(*kernel).commInfo, "comm_info_reply", true}
	}
	if ch == shell {
		switch msgType {
		case "execute_request":
			return route{(*kernel).execute, "execute_reply", true}
		case "comm_open", "comm_msg", "comm_close":
			return route{(*kernel).comm, "", true}
		}
	}
	return unimplemented(msgType)
}

// failure is an error as replies and iopub carry it.
type failure struct {
	Status    string   `json:"status,omitempty"`
	Name      string   `json:"ename"`
	Value     string   `json:"evalue"`
	Traceback []string `json:"traceback"`
	Count     *int     `json:"execution_count,omitempty"`
}

// Error makes a failure what a handler returns.
func (f *failure) Error() string { return f.Name + ": " + f.Value }

func failed(name, value string) *failure {
	return &failure{Status: "error", Name: name, Value: value, Traceback: []string{name + ": " + value}}
}

func fromSession(e *session.Error) *failure {
	f := &failure{Status: "error", Name: e.Name, Value: e.Value, Traceback: e.Traceback}
	if f.Traceback == nil {
		f.Traceback = []string{} // null is not a list
	}
	return f
}

// read decodes the request's content into v.
func (r *request) read(v any) error {
	content := r.msg.Content
	if len(content) == 0 {
		content = json.RawMessage("{}")
	}
	if err := json.Unmarshal(content, v); err != nil {
		return failed("bad request", fmt.Sprintf("the content of %s is not what the protocol says: %v", r.msg.Header.MsgType, err))
	}
	return nil
}

// parent is what of the request its outputs need, however long they live.
func (r *request) parent() *wire.Message {
	return &wire.Message{Identities: r.msg.Identities, Header: r.msg.Header}
}

// serve frames a request: busy, the handler, the reply, idle.
func (k *kernel) serve(r *request) {
	r.started = time.Now()
	to := routes(r.ch, r.msg.Header.MsgType)
	if r.msg.Header.MsgType == "interrupt_request" {
		k.interrupt() // before anything that could wait for a slow subscriber
	}
	k.status(r.msg, busy)
	if to.handle == nil {
		k.log.Warn("a message of a type that this kernel does not know was ignored", "type", r.msg.Header.MsgType, "channel", r.ch)
	} else {
		content, err := k.call(to.handle, r)
		k.reply(r, to.reply, content, err)
	}
	k.status(r.msg, idle)
	if r.after != nil {
		r.after()
	}
}

// call runs the handler; whatever it does, an answer comes out.
func (k *kernel) call(h handler, r *request) (content any, err error) {
	if r.msg.Header.SubshellID != "" && r.ch == shell {
		return nil, failed("unknown subshell", "this kernel has no subshells, so none is called "+quote(r.msg.Header.SubshellID)+"; send the request without subshell_id")
	}
	if r.refused != nil {
		return nil, r.refused
	}
	if !guard(k.log, r.msg.Header.MsgType, func() { content, err = h(k, k.ctx, r) }) {
		return nil, failed("kernel error", "the kernel panicked while it handled "+r.msg.Header.MsgType+"; see its log")
	}
	return content, err
}

func quote(s string) string {
	if len(s) > 64 {
		s = s[:64] + "..."
	}
	return fmt.Sprintf("%q", s)
}

func (k *kernel) reply(r *request, msgType string, content any, err error) {
	status := "ok"
	if err != nil {
		f, ok := errors.AsType[*failure](err)
		if !ok {
			f = failed("kernel error", err.Error())
		}
		content, status = f, f.Status
		k.log.Debug("a request failed", "type", r.msg.Header.MsgType, "err", err)
	}
	if msgType == "" || content == nil {
		return
	}
	m, err := k.wire.Reply(r.msg, msgType, content)
	if err != nil {
		// What the session gave cannot be sent as JSON; say so instead.
		k.log.Error("cannot encode a reply", "type", msgType, "err", err)
		status = "error"
		if m, err = k.wire.Reply(r.msg, msgType, failed("kernel error", err.Error())); err != nil {
			return
		}
	}
	if msgType == "execute_reply" {
		m.Metadata = k.executeMetadata(r, status)
	}
	if err := k.send(r.ch, m); err != nil {
		k.log.Warn("a reply could not be sent", "type", msgType, "channel", r.ch, "err", err)
	}
}

func (k *kernel) executeMetadata(r *request, status string) json.RawMessage {
	raw, err := wire.Marshal(map[string]any{
		"started": wire.Date(r.started), "dependencies_met": true, "engine": k.wire.ID(), "status": status,
	})
	if err != nil {
		k.log.Error("cannot encode a reply's metadata", "err", err)
	}
	return raw
}

func (k *kernel) send(ch channel, m *wire.Message) error {
	frames, err := k.signer.Encode(m)
	if err != nil {
		return err
	}
	return k.sockets.Send(ch, frames)
}

// The contents of status messages.
const (
	starting = `{"execution_state":"starting"}`
	busy     = `{"execution_state":"busy"}`
	idle     = `{"execution_state":"idle"}`
)

func (k *kernel) status(parent *wire.Message, content string) {
	k.publish(parent, "status", json.RawMessage(content), nil, nil)
}

// publish sends a message to all subscribers. content is encoded JSON; it may
// block while a subscriber is behind.
func (k *kernel) publish(parent *wire.Message, msgType string, content, metadata json.RawMessage, buffers [][]byte) {
	m, err := k.wire.IOPub(parent, msgType, nil)
	if err == nil {
		m.Content, m.Metadata, m.Buffers = content, metadata, buffers
		var frames [][]byte
		if frames, err = k.signer.Encode(m); err == nil {
			err = k.sockets.Publish(frames)
		}
	}
	if err != nil && k.ctx.Err() == nil {
		k.log.Warn("an output could not be published", "type", msgType, "err", err)
	}
}

// publishValue is publish for content that is still to be encoded.
func (k *kernel) publishValue(parent *wire.Message, msgType string, content any) {
	raw, err := wire.Marshal(content)
	if err != nil {
		k.log.Error("an output could not be encoded", "type", msgType, "err", err)
		return
	}
	k.publish(parent, msgType, raw, nil, nil)
}

package server

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/warpbook/warpbook/kernel/session"
)

// comm hands a comm message to the session. What its handlers print or show has
// this message as its parent, and is sent before idle.
func (k *kernel) comm(ctx context.Context, r *request) (any, error) {
	var content struct {
		ID     string         `json:"comm_id"`
		Target string         `json:"target_name"`
		Data   map[string]any `json:"data"`
	}
	if err := r.read(&content); err != nil {
		return nil, k.noComm(err)
	}
	if content.ID == "" {
		return nil, k.noComm(failed("bad request", "the comm message has no comm_id"))
	}
	var metadata map[string]any
	if len(r.msg.Metadata) > 0 {
		if err := json.Unmarshal(r.msg.Metadata, &metadata); err != nil {
			return nil, k.noComm(err)
		}
	}
	o := k.newOutput(r)
	k.setRunning(o)
	defer k.setRunning(nil)
	defer o.end()
	s, err := k.session.get(o.ctx, ctx)
	if err != nil {
		if r.msg.Header.MsgType == "comm_open" {
			o.Comm(session.Comm{Kind: "close", ID: content.ID}) // nobody is there to take it
		}
		return nil, k.noComm(err)
	}
	s.HandleComm(o.ctx, session.Comm{
		Kind: strings.TrimPrefix(r.msg.Header.MsgType, "comm_"), ID: content.ID, Target: content.Target,
		Data: content.Data, Metadata: metadata, Buffers: r.msg.Buffers,
	}, o)
	return nil, nil
}

// noComm logs what a comm message, which has no reply, cannot be told.
func (k *kernel) noComm(err error) error {
	k.log.Warn("a comm message was dropped", "err", err)
	return err
}

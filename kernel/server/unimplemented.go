package server

import (
	"context"
	"strings"
)

// unimplemented answers requests that the protocol knows and this kernel
// declines; it has said so in supported_features.
func unimplemented(msgType string) route {
	switch msgType {
	case "debug_request":
		return route{(*kernel).debug, "debug_reply", false}
	case "create_subshell_request", "delete_subshell_request", "list_subshell_request":
		return route{decline("this kernel has no subshells"), reply(msgType), false}
	case "execute_request":
		return route{decline("cells run in order, so send them on shell"), reply(msgType), false}
	}
	return route{}
}

func reply(msgType string) string { return strings.TrimSuffix(msgType, "_request") + "_reply" }

func decline(why string) handler {
	return func(*kernel, context.Context, *request) (any, error) {
		return nil, failed("not supported", why)
	}
}

// debug answers in the debug adapter protocol's own form, which is what a
// debug_reply contains.
func (k *kernel) debug(_ context.Context, r *request) (any, error) {
	var req struct {
		Seq     int    `json:"seq"`
		Command string `json:"command"`
	}
	if err := r.read(&req); err != nil {
		return nil, err
	}
	return map[string]any{
		"type": "response", "request_seq": req.Seq, "seq": req.Seq, "command": req.Command,
		"success": false, "message": "this kernel has no debugger",
	}, nil
}

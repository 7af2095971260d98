package server

import "context"

// interruptRequest confirms an interrupt; serve did it before it said busy.
func (k *kernel) interruptRequest(context.Context, *request) (any, error) {
	return map[string]any{"status": "ok"}, nil
}

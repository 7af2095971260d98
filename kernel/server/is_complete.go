package server

import (
	"context"
	"time"
)

// Consoles wait one second for the answer and then never ask again, so while the
// session is still starting the answer is "unknown".
const isCompleteLimit = 700 * time.Millisecond

func (k *kernel) isComplete(ctx context.Context, r *request) (any, error) {
	var req struct {
		Code string `json:"code"`
	}
	if err := r.read(&req); err != nil {
		return nil, err
	}
	wait, cancel := context.WithTimeout(ctx, isCompleteLimit)
	defer cancel()
	s, err := k.session.get(wait, ctx)
	if err != nil {
		return map[string]any{"status": "unknown"}, nil
	}
	status, indent := s.IsComplete(req.Code)
	reply := map[string]any{"status": status}
	if status == "incomplete" {
		reply["indent"] = indent
	}
	return reply, nil
}

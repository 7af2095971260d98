package server

import "context"

// shutdown ends the kernel once its reply and its idle have been sent. Restart is
// echoed: whoever restarts a kernel starts a new process.
func (k *kernel) shutdown(_ context.Context, r *request) (any, error) {
	var req struct {
		Restart bool `json:"restart"`
	}
	if err := r.read(&req); err != nil {
		return nil, err
	}
	r.after = k.stop
	return map[string]any{"status": "ok", "restart": req.Restart}, nil
}

package server

import "context"

// commInfo lists the open comms. A session that has not started has none, so
// there is nothing to wait for.
func (k *kernel) commInfo(_ context.Context, r *request) (any, error) {
	var req struct {
		Target string `json:"target_name"`
	}
	if err := r.read(&req); err != nil {
		return nil, err
	}
	comms := map[string]any{}
	if s := k.session.peek(); s != nil {
		for id, target := range s.Comms() {
			if req.Target == "" || req.Target == target {
				comms[id] = map[string]string{"target_name": target}
			}
		}
	}
	return map[string]any{"status": "ok", "comms": comms}, nil
}

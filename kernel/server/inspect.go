package server

import "context"

type inspectRequest struct {
	Code   string `json:"code"`
	Cursor *int   `json:"cursor_pos"` // code points; absent: the end
	Detail int    `json:"detail_level"`
}

func (k *kernel) inspect(ctx context.Context, r *request) (any, error) {
	var req inspectRequest
	if err := r.read(&req); err != nil {
		return nil, err
	}
	s, err := k.session.get(ctx, ctx)
	if err != nil {
		return nil, err
	}
	in, err := s.Inspect(ctx, req.Code, cursor(req.Code, req.Cursor), req.Detail)
	if err != nil {
		return nil, failed("inspection failed", err.Error())
	}
	reply := map[string]any{"status": "ok", "found": in.Found, "data": map[string]any{}, "metadata": map[string]any{}}
	if in.Found {
		data, bad := encodeBundle(in.Bundle)
		for _, err := range bad {
			k.log.Warn("a part of an inspection cannot be sent", "err", err)
		}
		reply["data"] = data
		if in.Bundle.Metadata != nil {
			reply["metadata"] = in.Bundle.Metadata
		}
	}
	return reply, nil
}

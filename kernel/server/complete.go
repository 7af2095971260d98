package server

import (
	"context"
	"unicode/utf8"
)

type completeRequest struct {
	Code   string `json:"code"`
	Cursor *int   `json:"cursor_pos"` // code points; absent: the end
}

// typed is a completion as JupyterLab shows it, with its kind and signature.
type typed struct {
	Start     int    `json:"start"`
	End       int    `json:"end"`
	Text      string `json:"text"`
	Type      string `json:"type"`
	Signature string `json:"signature,omitempty"`
}

func (k *kernel) complete(ctx context.Context, r *request) (any, error) {
	var req completeRequest
	if err := r.read(&req); err != nil {
		return nil, err
	}
	s, err := k.session.get(ctx, ctx)
	if err != nil {
		return nil, err
	}
	c, err := s.Complete(ctx, req.Code, cursor(req.Code, req.Cursor))
	if err != nil {
		return nil, failed("completion failed", err.Error())
	}
	matches, types := make([]string, 0, len(c.Items)), make([]typed, 0, len(c.Items))
	for _, item := range c.Items {
		matches = append(matches, item.Text)
		types = append(types, typed{c.Start, c.End, item.Text, item.Type, item.Signature})
	}
	return map[string]any{
		"status": "ok", "matches": matches, "cursor_start": c.Start, "cursor_end": c.End,
		"metadata": map[string]any{"_jupyter_types_experimental": types},
	}, nil
}

// cursor is the position in code points, moved into the code when it is outside.
func cursor(code string, at *int) int {
	end := utf8.RuneCountInString(code)
	if at == nil {
		return end
	}
	return min(max(*at, 0), end)
}

package server

import (
	"context"

	"github.com/warpbook/warpbook/kernel/history"
)

type historyRequest struct {
	Access  string `json:"hist_access_type"` // "tail", "range" or "search"
	Output  bool   `json:"output"`
	Raw     *bool  `json:"raw"` // absent: true
	Session int64  `json:"session"`
	Start   *int   `json:"start"`
	Stop    int    `json:"stop"`
	N       *int   `json:"n"`
	Pattern string `json:"pattern"`
	Unique  bool   `json:"unique"`
}

func (k *kernel) history(ctx context.Context, r *request) (any, error) {
	var req historyRequest
	if err := r.read(&req); err != nil {
		return nil, err
	}
	entries, err := k.recall(ctx, req)
	if err != nil {
		return nil, err
	}
	list := make([][3]any, 0, len(entries))
	for _, e := range entries {
		var input any = e.Source
		if req.Output {
			input = [2]any{e.Source, e.Output} // a nil output is null
		}
		list = append(list, [3]any{e.Session, e.Line, input})
	}
	return map[string]any{"status": "ok", "history": list}, nil
}

func (k *kernel) recall(ctx context.Context, req historyRequest) ([]history.Entry, error) {
	want := history.Want{Raw: req.Raw == nil || *req.Raw, Output: req.Output}
	h := k.opts.History
	switch {
	case req.Access != "tail" && req.Access != "range" && req.Access != "search":
		return nil, failed("bad request", "hist_access_type is "+quote(req.Access)+`; use "tail", "range" or "search"`)
	case h == nil:
		return nil, nil
	case req.Access == "tail":
		return h.Tail(ctx, or(req.N, 10), want)
	case req.Access == "range":
		return h.Range(ctx, req.Session, or(req.Start, 1), req.Stop, want)
	}
	pattern := req.Pattern
	if pattern == "" {
		pattern = "*"
	}
	return h.Search(ctx, pattern, or(req.N, 0), req.Unique, want)
}

func or(n *int, def int) int {
	if n == nil {
		return def
	}
	return *n
}

package server

import (
	"context"
	"errors"

	"github.com/warpbook/warpbook/kernel/session"
)

type executeRequest struct {
	Code            *string           `json:"code"`
	Silent          bool              `json:"silent"`
	StoreHistory    *bool             `json:"store_history"` // absent: not silent
	UserExpressions map[string]string `json:"user_expressions"`
	AllowStdin      bool              `json:"allow_stdin"`
	StopOnError     *bool             `json:"stop_on_error"` // absent: true
}

type executeReply struct {
	Status          string           `json:"status"`
	Count           int              `json:"execution_count"`
	UserExpressions map[string]any   `json:"user_expressions"`
	Payload         []map[string]any `json:"payload"`
}

// execute runs a cell. A failed one aborts the cells that are queued behind it,
// unless the front end asked to go on.
func (k *kernel) execute(_ context.Context, r *request) (any, error) {
	if r.aborted {
		// Status "error", not the specification's "aborted", which clients and the
		// test kit do not know; and no count, so that front ends do not number a
		// cell that never ran.
		f := failed("aborted", "the cell did not run, because a cell before it failed; run it again")
		f.Traceback = []string{}
		return nil, f
	}
	var req executeRequest
	if err := r.read(&req); err != nil {
		return nil, k.counted(err)
	}
	if req.Code == nil {
		return nil, k.counted(failed("bad request", "execute_request has no code; send the cell's source as code"))
	}
	store := !req.Silent && (req.StoreHistory == nil || *req.StoreHistory)
	if store {
		k.count++
	}
	o := k.newOutput(r)
	o.silent, o.stdin = req.Silent, req.AllowStdin
	if store && k.opts.History != nil {
		o.store = true
		k.opts.History.Add(k.count, *req.Code, *req.Code)
	}
	if !req.Silent {
		k.publishValue(o.parent, "execute_input", struct {
			Code  string `json:"code"`
			Count int    `json:"execution_count"`
		}{*req.Code, k.count})
	}
	cell := session.Cell{
		Count: k.count, Code: *req.Code, Silent: req.Silent,
		UserExpressions: req.UserExpressions, AllowStdin: req.AllowStdin,
	}
	outcome := k.runCell(cell, o)
	if outcome.Err != nil {
		f := fromSession(outcome.Err)
		o.publishError(f)
		if !req.Silent && (req.StopOnError == nil || *req.StopOnError) {
			k.abortQueue()
		}
		return nil, k.counted(f)
	}
	reply := executeReply{Status: "ok", Count: k.count, Payload: outcome.Payload,
		UserExpressions: expressions(req.UserExpressions, outcome.Values)}
	if reply.Payload == nil {
		reply.Payload = []map[string]any{}
	}
	return reply, nil
}

// counted puts the current count into a failure, which execute's replies have.
func (k *kernel) counted(err error) error {
	f, ok := errors.AsType[*failure](err)
	if !ok {
		return err
	}
	count := k.count
	c := *f
	c.Count = &count
	return &c
}

// runCell runs the cell, however long the session takes to start, until it has
// ended and all that it printed is sent. The context it runs under ends with an
// interrupt, so one that comes before the session has begun the cell is not lost.
func (k *kernel) runCell(cell session.Cell, o *output) (outcome session.Outcome) {
	k.setRunning(o)
	defer k.setRunning(nil)
	defer o.end()
	s, err := k.session.get(o.ctx, k.ctx)
	if err != nil {
		return noSession(o, err)
	}
	if !guard(k.log, "execute", func() { outcome = s.Execute(o.ctx, cell, o) }) {
		return stopped("kernel error", "the kernel panicked while it ran the cell; see its log")
	}
	return outcome
}

func noSession(o *output, err error) session.Outcome {
	if errors.Is(context.Cause(o.ctx), errInterrupted) {
		return stopped("interrupted", "the cell was interrupted before it began")
	}
	return stopped("session error", err.Error())
}

func stopped(name, value string) session.Outcome {
	return session.Outcome{Err: &session.Error{Name: name, Value: value, Traceback: []string{name + ": " + value}}}
}

// expressions are the user expressions as the reply has them: every name that was
// asked for, because front ends fail on a missing one.
func expressions(asked map[string]string, values map[string]session.Value) map[string]any {
	out := make(map[string]any, len(asked))
	for name := range asked {
		v, ok := values[name]
		switch {
		case !ok:
			out[name] = failed("not evaluated", "the session gave no value for this expression")
		case v.Err != nil:
			out[name] = fromSession(v.Err)
		default:
			data, bad := encodeBundle(v.Bundle)
			if len(data) == 0 && len(bad) > 0 {
				out[name] = failed("not JSON", bad[0].Error())
				continue
			}
			metadata := v.Bundle.Metadata
			if metadata == nil {
				metadata = map[string]any{}
			}
			out[name] = map[string]any{"status": "ok", "data": data, "metadata": metadata}
		}
	}
	return out
}

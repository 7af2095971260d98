package session

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/warpbook/warpbook/kernel/gotool"
)

// get adds modules to the session, or lists them.
func (r *run) get(args string) *Error {
	s := r.s
	if args == "" {
		r.listModules(s.opt.Tool.Modules())
		return nil
	}
	out := &streamWriter{ev: r.ev, name: "stderr"}
	got, err := s.opt.Tool.Get(r.ctx, filepath.Join(s.temp, "modules"), strings.Fields(args), out)
	out.flush()
	if r.ctx.Err() != nil {
		return &Error{Name: "interrupted", Value: "the cell was interrupted", Traceback: []string{bold("interrupted") + ": nothing was added to the session"}}
	}
	if err != nil {
		var unavailable *gotool.Unavailable
		if errors.As(err, &unavailable) {
			return simpleError("no compiler", err.Error())
		}
		return simpleError("get", "nothing was changed: "+err.Error())
	}
	s.front.SetPackages(packagesByName(s.opt.Tool.Packages()))
	if len(got) == 0 { // MODULE@none takes one away
		got = s.opt.Tool.Modules()
	}
	r.listModules(got)
	return nil
}

func (r *run) listModules(list []gotool.Module) {
	if len(list) == 0 {
		r.ev.Stream("stdout", "The session has no modules of its own; %get MODULE adds one.\n")
		return
	}
	for _, m := range list {
		r.ev.Stream("stdout", fmt.Sprintf("%s %s\n", m.Path, m.Version))
	}
}

// gets says whether a cell gets modules: its imports may need them, so it
// cannot be checked before.
func gets(parts []part) bool {
	for _, p := range parts {
		if p.magic == "get" && p.args != "" {
			return true
		}
	}
	return false
}

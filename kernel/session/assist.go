package session

import (
	"context"
	"fmt"
	"go/types"
	"strings"

	"github.com/warpbook/warpbook/display"
	"github.com/warpbook/warpbook/kernel/assist"
	"github.com/warpbook/warpbook/kernel/front"
	"github.com/warpbook/warpbook/kernel/gotool"
)

// known is what package assist asks of a session.
type known struct {
	front *front.Session
	tool  *gotool.Toolchain
}

func (k known) Names() []string {
	var names []string
	for _, s := range k.front.Symbols() {
		names = append(names, s.Key)
	}
	return names
}

func (k known) Object(name string) types.Object {
	if s := k.front.Lookup(name); s != nil {
		return s.Obj
	}
	return nil
}

func (k known) Imports() map[string]string                 { return k.front.Imports() }
func (k known) Import(path string) (*types.Package, error) { return k.front.Import(path) }
func (k known) Packages() []gotool.Package                 { return k.tool.Packages() }
func (k known) PathsOf(name string) []string               { return k.front.PathsOf(name) }
func (k known) Doc(path string) (*gotool.Docs, error)      { return k.tool.Doc(path) }

func (k known) DocOf(obj types.Object) (doc, source, where string) {
	p := k.front.Fset().Position(obj.Pos())
	where = front.Readable(fmt.Sprintf("%s:%d", p.Filename, p.Line))
	if s := k.front.Owner(obj); s != nil && s.Unit != nil {
		return s.Unit.Doc(), s.Unit.Text(), where
	}
	return "", "", where
}

func (s *Notebook) assistant() *assist.Assistant {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.assist == nil {
		var list []assist.Magic
		for name, help := range magics {
			if name == "!" || name[0] == '?' || help == "" {
				continue
			}
			_, text, _ := strings.Cut(help, "  ")
			list = append(list, assist.Magic{Name: "%" + name, Help: strings.TrimSpace(text)})
		}
		s.assist = assist.New(known{s.front, s.opt.Tool}, list)
	}
	return s.assist
}

// Complete answers complete_request; cursor counts code points.
func (s *Notebook) Complete(_ context.Context, code string, cursor int) (Completion, error) {
	c := s.assistant().Complete(code, cursor)
	out := Completion{Start: c.Start, End: c.End}
	for _, i := range c.Items {
		out.Items = append(out.Items, Item(i))
	}
	return out, nil
}

// Inspect answers inspect_request.
func (s *Notebook) Inspect(_ context.Context, code string, cursor, detail int) (Inspection, error) {
	in := s.assistant().Inspect(code, cursor, detail)
	if !in.Found {
		return Inspection{}, nil
	}
	return Inspection{Found: true, Bundle: display.Bundle{Data: map[string]any{"text/plain": in.Plain, "text/markdown": in.Markdown}}}, nil
}

// IsComplete answers is_complete_request.
func (s *Notebook) IsComplete(code string) (status, indent string) { return assist.IsComplete(code) }

package session

import (
	"fmt"
	"go/types"
	"strings"
	"text/tabwriter"

	"github.com/warpbook/warpbook/kernel/front"
)

var kinds = map[front.Kind]string{front.Var: "variable", front.Func: "function", front.Type: "type", front.Const: "constant"}

// who lists the session's names.
func (r *run) who() {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	n := 0
	for _, sym := range r.s.front.Symbols() {
		n++
		if n == 1 {
			fmt.Fprintln(w, "name\tkind\ttype\tcell")
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t[%d]\n", sym.Key, kinds[sym.Kind], typeText(sym.Obj), sym.Cell)
	}
	w.Flush()
	if n == 0 {
		b.WriteString("Nothing is declared yet.\n")
	}
	r.ev.Stream("stdout", b.String())
}

func typeText(obj types.Object) string {
	t := obj.Type()
	if _, ok := obj.(*types.TypeName); ok {
		t = t.Underlying()
	}
	s := types.TypeString(t, func(p *types.Package) string {
		if p.Path() == "main" {
			return ""
		}
		return p.Name()
	})
	if r := []rune(s); len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return s
}

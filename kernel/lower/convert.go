package lower

import (
	"fmt"
	"go/ast"
	"go/types"
)

// conversion is T(x). Between struct types of different cells with unexported
// fields it goes through a pointer: their fields differ for the compiler.
func (r *renderer) conversion(n *ast.CallExpr, to types.Type) string {
	from := r.p.c.Info.Types[n.Args[0]].Type
	target, source, pointers := to, from, false
	if tp, ok := to.Underlying().(*types.Pointer); ok {
		if fp, ok := from.Underlying().(*types.Pointer); ok {
			target, source, pointers = tp.Elem(), fp.Elem(), true
		}
	}
	ts, ok := target.Underlying().(*types.Struct)
	if !ok || types.Identical(target, source) || !r.hasForeign(ts) && !r.hasForeignIn(source) {
		return r.splice(n)
	}
	if pointers {
		return fmt.Sprintf("(%s)(%s(%s))", r.p.typeString(to), r.p.unsafePtr(), r.node(n.Args[0]))
	}
	return fmt.Sprintf("(*(*%s)(%s(%s.Ref(%s))))", r.p.typeString(to), r.p.unsafePtr(), r.p.rt(), r.node(n.Args[0]))
}

func (r *renderer) hasForeignIn(t types.Type) bool {
	st, ok := t.Underlying().(*types.Struct)
	return ok && r.hasForeign(st)
}

func (r *renderer) hasForeign(st *types.Struct) bool {
	for f := range st.Fields() {
		if r.foreign(f) {
			return true
		}
	}
	return false
}

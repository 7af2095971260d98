package runner

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// edit replaces the text between two offsets. No edit contains a line end, so
// that lines keep their numbers.
type edit struct {
	from, to int
	text     string
}

// lowered returns the source as the interpreter gets it: with guards in loops
// and functions and, where the types are known, with what it does not know of
// newer Go (min, max, clear, ranges over numbers and chunks) made calls.
func (f *file) lowered() string {
	edits := append([]edit{f.insert(f.syntax.Name.End(), `; import `+guardName+` "`+guardName+`"`)}, f.embedded...)
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			edits = append(edits, f.enter(n.Body)...)
		case *ast.FuncLit:
			edits = append(edits, f.enter(n.Body)...)
		case *ast.ForStmt:
			edits = append(edits, f.insert(n.Body.Lbrace+1, guardName+".Loop();"))
		case *ast.RangeStmt:
			edits = append(edits, f.insert(n.Body.Lbrace+1, guardName+".Loop();"))
			edits = append(edits, f.ranged(n)...)
		case *ast.CallExpr:
			edits = append(edits, f.call(n)...)
		}
		return true
	})
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	var b strings.Builder
	end := 0
	for _, e := range edits {
		b.WriteString(f.text[end:e.from])
		b.WriteString(e.text)
		end = e.to
	}
	b.WriteString(f.text[end:])
	return b.String()
}

func (f *file) insert(at token.Pos, text string) edit {
	offset := f.fset.Position(at).Offset
	return edit{offset, offset, text}
}

func (f *file) replace(n ast.Node, text string) edit {
	return edit{f.fset.Position(n.Pos()).Offset, f.fset.Position(n.End()).Offset, text}
}

func (f *file) enter(body *ast.BlockStmt) []edit {
	if body == nil {
		return nil // declared without a body, which the interpreter will refuse
	}
	return []edit{f.insert(body.Lbrace+1, guardName+".Enter(); defer "+guardName+".Leave();")}
}

// call lowers a call of min, max or clear, or of a function of package slices.
func (f *file) call(call *ast.CallExpr) []edit {
	if f.info == nil {
		return nil
	}
	if name, ok := strings.CutPrefix(f.packageFunc(call), "slices."); ok && sliceFuncs[name] != nil {
		return []edit{f.replace(call.Fun, guardName+".Slices"+name)}
	}
	name, ok := call.Fun.(*ast.Ident)
	if !ok {
		return nil
	}
	if _, ok := f.info.Uses[name].(*types.Builtin); !ok {
		return nil // a function of the learner's own
	}
	suffix := map[string]string{"float64": "Float64", "int": "Int"}[f.typeName(call)]
	switch {
	case name.Name == "max" && suffix != "":
		return []edit{f.replace(name, guardName+".Max"+suffix)}
	case name.Name == "min" && suffix != "":
		return []edit{f.replace(name, guardName+".Min"+suffix)}
	case name.Name == "clear" && f.typeName(call.Args[0]) == "[]float64":
		return []edit{f.replace(name, guardName+".Clear")}
	}
	return nil
}

// ranged lowers a range over an int, or over slices.Chunk.
func (f *file) ranged(n *ast.RangeStmt) []edit {
	if f.info == nil {
		return nil
	}
	if t := f.typeName(n.X); t == "int" || t == "untyped int" {
		return []edit{f.insert(n.X.Pos(), guardName+".Range("), f.insert(n.X.End(), ")")}
	}
	call, ok := n.X.(*ast.CallExpr)
	if !ok || f.packageFunc(call) != "slices.Chunk" {
		return nil
	}
	edits := []edit{f.replace(call.Fun, guardName+".Chunk")}
	if n.Key != nil {
		edits = append(edits, f.insert(n.Key.Pos(), "_, "))
	}
	return edits
}

// packageFunc returns the full name of a package's function that is called with
// a []float64 first, "" for every other call.
func (f *file) packageFunc(call *ast.CallExpr) string {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	fn, ok := f.info.Uses[selector.Sel].(*types.Func)
	if !ok || len(call.Args) == 0 || f.typeName(call.Args[0]) != "[]float64" {
		return ""
	}
	return fn.FullName()
}

func (f *file) typeName(e ast.Expr) string {
	if t := f.info.TypeOf(e); t != nil {
		return t.String()
	}
	return ""
}

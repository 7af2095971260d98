package assist

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// members returns what may follow the dot before start.
func (a *Assistant) members(src string, start, offset int) []candidate {
	v, pos, file := a.lookAt(src, start, offset)
	items, ok := v.membersAt(pos, file)
	if !ok {
		// What follows the cursor may have confused the parser.
		name := ""
		if start == offset {
			name = placeholder
		}
		v = a.look(src[:offset] + name)
		pos, file = v.pos(start)
		items, _ = v.membersAt(pos, file)
	}
	return items
}

func (v *view) membersAt(pos token.Pos, file *ast.File) ([]candidate, bool) {
	for _, n := range path(file, pos) {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || sel.Sel.Pos() != pos {
			continue
		}
		if id, ok := sel.X.(*ast.Ident); ok {
			if p, ok := v.info.Uses[id].(*types.PkgName); ok {
				return packageMembers(p.Imported()), true
			}
		}
		if tv, ok := v.info.Types[sel.X]; ok && tv.Type != nil && tv.Type != types.Typ[types.Invalid] {
			return typeMembers(tv), true
		}
	}
	return nil, false
}

func packageMembers(pkg *types.Package) []candidate {
	var items []candidate
	for _, name := range pkg.Scope().Names() {
		if obj := pkg.Scope().Lookup(name); obj.Exported() {
			items = append(items, describe(obj, rankPackage))
		}
	}
	return items
}

// typeMembers are the fields and methods of a value, or of a type the methods.
func typeMembers(tv types.TypeAndValue) []candidate {
	if !tv.IsType() && !tv.IsValue() {
		return nil
	}
	var items []candidate
	seen := map[string]bool{}
	add := func(obj types.Object, depth int) {
		if !seen[obj.Name()] && (obj.Exported() || own(obj)) && obj.Name() != "_" {
			seen[obj.Name()] = true
			c := describe(obj, rankField)
			c.depth = depth
			items = append(items, c)
		}
	}
	if !tv.IsType() {
		fields(tv.Type, add)
	}
	set := types.NewMethodSet(tv.Type)
	if _, isPointer := tv.Type.Underlying().(*types.Pointer); !isPointer && !types.IsInterface(tv.Type) && !tv.IsType() {
		set = types.NewMethodSet(types.NewPointer(tv.Type)) // variables have their address taken
	}
	for i := range set.Len() {
		s := set.At(i)
		add(s.Obj(), len(s.Index())-1)
	}
	return items
}

// fields calls add with the fields of a struct, those of embedded ones after,
// in the breadth-first order in which Go finds them.
func fields(t types.Type, add func(types.Object, int)) {
	level, seen := []types.Type{t}, map[types.Type]bool{}
	for depth := 0; len(level) > 0; depth++ {
		var next []types.Type
		for _, t := range level {
			s := structOf(t)
			if s == nil || seen[s] {
				continue
			}
			seen[s] = true
			for f := range s.Fields() {
				add(f, depth)
				if f.Embedded() {
					next = append(next, f.Type())
				}
			}
		}
		level = next
	}
}

// structOf is the struct that a type is or points to, or nil.
func structOf(t types.Type) *types.Struct {
	u := t.Underlying()
	if p, ok := u.(*types.Pointer); ok {
		u = p.Elem().Underlying()
	}
	s, _ := u.(*types.Struct)
	return s
}

// keys are the fields of the struct literal whose next key is typed at pos.
// Only says that nothing else can stand there: the literal has keys already.
func keys(v *view, nodes []ast.Node, pos token.Pos) (items []candidate, only bool) {
	for i := len(nodes) - 1; i >= 0; i-- {
		switch n := nodes[i].(type) {
		case *ast.Ident:
		case *ast.KeyValueExpr:
			if pos > n.Colon {
				return nil, false
			}
		case *ast.CompositeLit:
			if tv, ok := v.info.Types[ast.Expr(n)]; ok && tv.Type != nil && pos > n.Lbrace {
				return missingKeys(tv.Type, n, pos)
			}
			return nil, false
		default:
			return nil, false // inside a value
		}
	}
	return nil, false
}

func missingKeys(t types.Type, lit *ast.CompositeLit, pos token.Pos) (items []candidate, only bool) {
	s := structOf(t)
	if s == nil {
		return nil, false
	}
	used := map[string]bool{}
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			if e.Pos() != pos {
				return nil, false // a literal without keys
			}
			continue
		}
		if id, ok := kv.Key.(*ast.Ident); ok && id.Pos() != pos {
			used[id.Name] = true
		}
	}
	for f := range s.Fields() {
		if !used[f.Name()] && (f.Exported() || own(f)) {
			c := describe(f, rankField)
			c.Text += ": "
			items = append(items, c)
		}
	}
	return items, len(used) > 0
}

// describe makes a candidate of an object.
func describe(obj types.Object, rank int) candidate {
	return candidate{Item: Item{Text: obj.Name(), Type: kindOf(obj), Signature: signature(obj)}, rank: rank}
}

// kindOf is the protocol's word for what an object is.
func kindOf(obj types.Object) string {
	switch obj := obj.(type) {
	case *types.Func:
		if obj.Signature().Recv() != nil {
			return "method"
		}
		return "function"
	case *types.Builtin:
		return "function"
	case *types.TypeName:
		return "type"
	case *types.Const, *types.Nil:
		return "constant"
	case *types.PkgName:
		return "package"
	case *types.Var:
		if obj.IsField() {
			return "field"
		}
	}
	return "variable"
}

// signature is what is shown beside a name: parameters and results, or a type.
func signature(obj types.Object) string {
	switch obj := obj.(type) {
	case *types.Func:
		return strings.TrimPrefix(types.TypeString(obj.Type(), qualifier), "func")
	case *types.TypeName:
		return typeWord(obj)
	case *types.Builtin, *types.Nil:
		return ""
	case *types.PkgName:
		return obj.Imported().Path()
	case *types.Const:
		return types.TypeString(obj.Type(), qualifier) + " = " + obj.Val().String()
	}
	if obj.Type() == nil {
		return ""
	}
	return types.TypeString(obj.Type(), qualifier)
}

// typeWord says what a type is, without its contents.
func typeWord(obj *types.TypeName) string {
	switch u := obj.Type().Underlying().(type) {
	case *types.Struct:
		return "struct"
	case *types.Interface:
		return "interface"
	case *types.Basic:
		if obj.Pkg() == nil {
			return ""
		}
		return u.String()
	default:
		return types.TypeString(u, qualifier)
	}
}

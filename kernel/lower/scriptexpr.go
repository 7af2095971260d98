package lower

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

// value accepts an expression whose value goes to a place of type want, or to
// any place when want is nil.
func (s *script) value(x ast.Expr, want types.Type) string {
	tv := s.c.Info.Types[x]
	if tv.IsNil() {
		s.refuse(x, "nil")
	}
	if want != nil && !types.Identical(tv.Type, want) {
		if !emptyInterface(want) || types.IsInterface(tv.Type) {
			s.refuse(x, "a conversion to %s", want)
		}
	}
	return s.expr(x)
}

func emptyInterface(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	return ok && i.Empty()
}

func (s *script) expr(x ast.Expr) string {
	tv := s.c.Info.Types[x]
	if tv.Value != nil {
		return s.constant(x, tv)
	}
	switch x := x.(type) {
	case *ast.ParenExpr:
		return "(" + s.expr(x.X) + ")"
	case *ast.Ident:
		if p, ok := s.pointer(x); ok {
			return "(*" + p + ")"
		}
	case *ast.SelectorExpr:
		if f, ok := s.field(x); ok {
			return f
		}
	case *ast.CallExpr:
		return s.call(x)
	case *ast.CompositeLit:
		return s.composite(x)
	case *ast.BinaryExpr:
		return s.binary(x)
	case *ast.UnaryExpr:
		return s.unary(x)
	}
	s.refuse(x, "this expression")
	return ""
}

// constant writes the value that the type checker computed, with its type.
func (s *script) constant(x ast.Expr, tv types.TypeAndValue) string {
	basic, ok := tv.Type.Underlying().(*types.Basic)
	if !ok { // a constant that becomes an interface: its default type
		s.refuse(x, "this constant")
	}
	var lit string
	switch info := basic.Info(); {
	case info&types.IsBoolean != 0:
		lit = strconv.FormatBool(constant.BoolVal(tv.Value))
	case info&types.IsString != 0:
		lit = strconv.Quote(constant.StringVal(tv.Value))
	case info&types.IsInteger != 0:
		v, exact := constant.Int64Val(constant.ToInt(tv.Value))
		if !exact {
			s.refuse(x, "this constant")
		}
		lit = strconv.FormatInt(v, 10)
	case info&types.IsFloat != 0:
		v, _ := constant.Float64Val(tv.Value)
		lit = strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(lit, ".e") {
			lit += ".0"
		}
	default:
		s.refuse(x, "this constant")
	}
	switch t := types.Default(tv.Type).(type) {
	case *types.Basic:
		switch t.Kind() {
		case types.Bool, types.String:
			return lit
		case types.Int, types.Float64, types.Int64, types.Int32, types.Uint8, types.Float32:
			return t.Name() + "(" + lit + ")"
		}
	case *types.Named:
		return s.typeName(x, t) + "(" + lit + ")"
	}
	s.refuse(x, "a constant of type %s", tv.Type)
	return ""
}

// arithmetic accepts operations on int, float64, string and bool, which yaegi
// does as the compiler does.
func (s *script) arithmetic(n ast.Node, t types.Type, op token.Token) {
	basic, ok := types.Unalias(t).(*types.Basic)
	if !ok {
		s.refuse(n, "an operation on %s", t)
	}
	switch basic.Kind() {
	case types.Int, types.Float64:
		switch op {
		case token.ADD, token.SUB, token.MUL, token.QUO, token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
			return
		}
	case types.String:
		switch op {
		case token.ADD, token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
			return
		}
	case types.Bool:
		switch op {
		case token.LAND, token.LOR, token.EQL, token.NEQ:
			return
		}
	}
	s.refuse(n, "the operator %s on %s", op, t)
}

func isInteger(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

func (s *script) binary(x *ast.BinaryExpr) string {
	l, r := s.c.Info.Types[x.X], s.c.Info.Types[x.Y]
	if l.Type == nil || r.Type == nil || !types.Identical(types.Default(l.Type), types.Default(r.Type)) {
		s.refuse(x, "an operation on different types")
	}
	s.arithmetic(x, types.Default(l.Type), x.Op)
	if t := s.c.Info.Types[x].Type; t != nil && !isBasic(t) { // a comparison whose result is of a named type
		s.refuse(x, "an operation that gives %s", t)
	}
	if x.Op == token.QUO && isInteger(l.Type) && (r.Value == nil || constant.Sign(r.Value) == 0) {
		s.refuse(x, "a division that may panic")
	}
	return "(" + s.expr(x.X) + " " + x.Op.String() + " " + s.expr(x.Y) + ")"
}

func isBasic(t types.Type) bool {
	_, ok := types.Unalias(t).(*types.Basic)
	return ok
}

func (s *script) unary(x *ast.UnaryExpr) string {
	switch x.Op {
	case token.SUB:
		s.arithmetic(x, s.c.Info.Types[x.X].Type, token.SUB)
		return "(-" + s.expr(x.X) + ")"
	case token.NOT:
		s.arithmetic(x, s.c.Info.Types[x.X].Type, token.LAND)
		return "(!" + s.expr(x.X) + ")"
	case token.AND:
		if id, ok := ast.Unparen(x.X).(*ast.Ident); ok {
			if p, ok := s.pointer(id); ok {
				return p
			}
		}
	}
	s.refuse(x, "this operator")
	return ""
}

func (s *script) builtin(x *ast.CallExpr, fun ast.Expr) string {
	id, ok := fun.(*ast.Ident)
	if !ok || id.Name != "len" && id.Name != "cap" {
		s.refuse(x, "this builtin")
	}
	switch s.c.Info.Types[x.Args[0]].Type.Underlying().(type) {
	case *types.Slice, *types.Map, *types.Basic:
		return id.Name + "(" + s.expr(x.Args[0]) + ")"
	}
	s.refuse(x, "this builtin")
	return ""
}

// convert accepts conversions between int and float64, and those of constants,
// which are constants.
func (s *script) convert(x *ast.CallExpr, to types.Type) string {
	from := s.c.Info.Types[x.Args[0]].Type
	ok := func(t types.Type) bool {
		b, basic := types.Unalias(t).(*types.Basic)
		return basic && (b.Kind() == types.Int || b.Kind() == types.Float64)
	}
	if !ok(from) || !ok(to) || types.Identical(to, types.Typ[types.Int]) && !types.Identical(from, types.Typ[types.Int]) {
		s.refuse(x, "this conversion")
	}
	return to.String() + "(" + s.expr(x.Args[0]) + ")"
}

// composite accepts literals of slices and maps of basic types, and of structs
// with exported fields of basic types.
func (s *script) composite(x *ast.CompositeLit) string {
	t := s.c.Info.Types[x].Type
	if x.Type == nil {
		s.refuse(x, "a literal without its type")
	}
	spelled := s.spell(x, t)
	var parts []string
	switch u := t.Underlying().(type) {
	case *types.Slice:
		for _, e := range x.Elts {
			if _, keyed := e.(*ast.KeyValueExpr); keyed {
				s.refuse(e, "an index in a literal")
			}
			parts = append(parts, s.element(e, u.Elem()))
		}
	case *types.Map:
		for _, e := range x.Elts {
			kv := e.(*ast.KeyValueExpr)
			parts = append(parts, s.element(kv.Key, u.Key())+": "+s.element(kv.Value, u.Elem()))
		}
	case *types.Struct:
		for i, e := range x.Elts {
			parts = append(parts, s.structElt(u, i, e))
		}
	default:
		s.refuse(x, "a literal of %s", t)
	}
	return spelled + "{" + strings.Join(parts, ", ") + "}"
}

// element is a value in a literal. yaegi takes a parenthesis right behind the
// brace for a type.
func (s *script) element(e ast.Expr, want types.Type) string {
	text := s.value(e, want)
	for strings.HasPrefix(text, "(") && encloses(text) {
		text = text[1 : len(text)-1]
	}
	if strings.HasPrefix(text, "(") { // (*p) * 2: what is first must not be a parenthesis
		s.refuse(e, "this element")
	}
	return text
}

// encloses says that a text's first parenthesis closes at its end.
func encloses(text string) bool {
	depth := 0
	for i, r := range text {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
			if depth == 0 {
				return i == len(text)-1
			}
		case '"', '`':
			return false // not worth reading strings for
		}
	}
	return false
}

func (s *script) structElt(u *types.Struct, i int, e ast.Expr) string {
	if kv, ok := e.(*ast.KeyValueExpr); ok {
		id := kv.Key.(*ast.Ident)
		f := s.c.Info.Uses[id].(*types.Var)
		if !f.Exported() || f.Embedded() {
			s.refuse(e, "an unexported field")
		}
		return id.Name + ": " + s.element(kv.Value, f.Type())
	}
	f := u.Field(i)
	if !f.Exported() || f.Embedded() {
		s.refuse(e, "an unexported field")
	}
	return f.Name() + ": " + s.element(e, f.Type())
}

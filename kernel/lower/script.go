package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/warpbook/warpbook/kernel/engine"
	"github.com/warpbook/warpbook/kernel/front"
)

// Refused says that a cell has a construct that yaegi is not known to run
// exactly.
type Refused struct {
	Cell      string
	Line, Col int
	What      string
}

func (r *Refused) Error() string { return r.What + " cannot be interpreted exactly" }

// Script lowers a cell of statements to a program for yaegi, or returns a
// *Refused. The list of what it accepts is a positive one: calls of compiled
// functions, assignments and literals of types and operations that were
// compared with the compiler's results. Everything that differs in yaegi stays
// off it: declarations, closures, loops, goroutines, conversions of interfaces,
// operations that may panic (their texts differ).
func Script(c *front.Cell, id int) (prog engine.Program, err error) {
	s := &script{c: c, id: id, imports: map[string]string{}, vars: map[*front.Symbol]*engine.Var{}, fresh: map[types.Object]bool{}}
	defer func() {
		if r := recover(); r != nil {
			refused, ok := r.(*Refused)
			if !ok {
				panic(r)
			}
			err = refused
		}
	}()
	return s.program(), nil
}

type script struct {
	c       *front.Cell
	id      int
	imports map[string]string // path to name
	vars    map[*front.Symbol]*engine.Var
	fresh   map[types.Object]bool // session variables that the script has defined by now
}

func (s *script) refuse(n ast.Node, format string, args ...any) {
	p := s.c.Fset.Position(n.Pos())
	panic(&Refused{p.Filename, p.Line, p.Column, fmt.Sprintf(format, args...)})
}

func (s *script) program() engine.Program {
	c := s.c
	lines := s.lines()
	name := fmt.Sprintf("wb_script%d", s.id)
	var b strings.Builder
	b.WriteString("package main\n")
	prog := Program(c)
	prog.ID, prog.Func = s.id, name
	for _, path := range slices.Sorted(maps.Keys(s.imports)) {
		fmt.Fprintf(&b, "import %s %q\n", s.imports[path], path)
		prog.Imports = append(prog.Imports, path)
	}
	if len(s.vars) > 0 {
		fmt.Fprintf(&b, "import %s %q\n", s.varPackage(), "wb/"+s.varPackage())
	}
	for _, sym := range slices.SortedFunc(maps.Keys(s.vars), func(a, b *front.Symbol) int { return strings.Compare(s.vars[a].Name, s.vars[b].Name) }) {
		prog.Vars = append(prog.Vars, *s.vars[sym])
	}
	fmt.Fprintf(&b, "func %s() {\n%s\n}\n", name, strings.Join(lines, "\n"))
	prog.Script = b.String()
	return prog
}

// lines are the script's statements: those of the cell, or the definitions of
// its variables in Go's order.
func (s *script) lines() []string {
	c := s.c
	if len(c.Blank) > 0 || len(c.Embeds) > 0 {
		panic(&Refused{front.FileName(c.Count), 1, 1, "this cell"})
	}
	if len(c.Units) > 0 || c.HasMain || c.Body != nil && len(c.Decls) > 0 {
		s.refuse(c.Decls[0].AST.Decls[len(c.Decls[0].AST.Decls)-1], "a declaration")
	}
	var lines []string
	if c.Body != nil {
		body := c.Body.AST.Decls[len(c.Body.AST.Decls)-1].(*ast.FuncDecl).Body
		for _, st := range body.List {
			lines = append(lines, s.stmt(st, true))
		}
		return lines
	}
	for _, sym := range c.Uninitialized() {
		v := s.newVar(c.Decls[0].AST.Name, sym.Obj)
		lines = append(lines, fmt.Sprintf("%s.Commit%s()", s.varPackage(), v.Name))
	}
	for _, in := range c.Inits {
		if len(in.Lhs) != 1 || in.Lhs[0].Name() == "_" {
			s.refuse(in.Rhs, "a definition of several variables")
		}
		lines = append(lines, s.commit(in.Rhs, in.Lhs[0], s.value(in.Rhs, in.Lhs[0].Type())))
	}
	return lines
}

func (s *script) varPackage() string { return fmt.Sprintf("v%d", s.id) }

// importAs gives the script's name for a package: the same in every script, so
// that the interpreter imports it once.
func (s *script) importAs(path string) string {
	name := s.imports[path]
	if name == "" {
		name = "wbi_" + strings.Map(func(r rune) rune {
			if r == '/' || r == '.' || r == '-' {
				return '_'
			}
			return r
		}, path)
		s.imports[path] = name
	}
	return name
}

// stmt accepts a statement. Top says that it is one of the cell's own.
func (s *script) stmt(st ast.Stmt, top bool) string {
	s.inOrder(st)
	switch st := st.(type) {
	case *ast.ExprStmt:
		if s.c.Show != nil && st == s.c.Show {
			if s.c.Quiet {
				return "_ = " + s.value(st.X, nil)
			}
			return s.show(st.X)
		}
		call, ok := ast.Unparen(st.X).(*ast.CallExpr)
		if !ok {
			s.refuse(st, "this expression")
		}
		return s.call(call)
	case *ast.AssignStmt:
		return s.assign(st, top)
	case *ast.IncDecStmt:
		return s.lvalue(st.X) + st.Tok.String()
	case *ast.DeclStmt:
		return s.decl(st, top)
	case *ast.EmptyStmt:
		return ""
	}
	s.refuse(st, "%s", stmtName(st))
	return ""
}

func stmtName(st ast.Stmt) string {
	switch st.(type) {
	case *ast.ForStmt, *ast.RangeStmt:
		return "a loop"
	case *ast.IfStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt:
		return "a branch"
	case *ast.GoStmt, *ast.SelectStmt, *ast.SendStmt:
		return "concurrency"
	case *ast.DeferStmt:
		return "defer"
	}
	return "this statement"
}

// show passes the last expression's values to the run time. A nil interface
// would reach it as the zero reflect.Value.
func (s *script) show(x ast.Expr) string {
	rt := s.importAs(RuntimePath)
	t := s.c.Info.Types[x].Type
	if tuple, ok := t.(*types.Tuple); ok {
		if tuple.Len() != 1 {
			s.refuse(x, "several values")
		}
	}
	return fmt.Sprintf("%s.Show(%s)", rt, s.value(x, nil))
}

func (s *script) assign(st *ast.AssignStmt, top bool) string {
	if st.Tok == token.DEFINE {
		if !top {
			s.refuse(st, "a local variable")
		}
		return s.define(st)
	}
	if len(st.Lhs) != 1 || len(st.Rhs) != 1 {
		s.refuse(st, "an assignment of several values")
	}
	lhs := st.Lhs[0]
	t := s.c.Info.Types[lhs].Type
	if id, ok := lhs.(*ast.Ident); ok && id.Name == "_" {
		s.refuse(st, "an assignment to _")
	}
	if st.Tok != token.ASSIGN {
		s.arithmetic(st, t, opOf(st.Tok))
		if opOf(st.Tok) == token.QUO && isInteger(t) || opOf(st.Tok) == token.REM {
			s.refuse(st, "a division that may panic")
		}
	}
	return s.lvalue(lhs) + " " + st.Tok.String() + " " + s.value(st.Rhs[0], t)
}

func opOf(t token.Token) token.Token {
	switch t {
	case token.ADD_ASSIGN:
		return token.ADD
	case token.SUB_ASSIGN:
		return token.SUB
	case token.MUL_ASSIGN:
		return token.MUL
	case token.QUO_ASSIGN:
		return token.QUO
	case token.REM_ASSIGN:
		return token.REM
	}
	return token.ILLEGAL
}

// define makes session variables: the engine has made their memory, the script
// fills it and says so.
func (s *script) define(st *ast.AssignStmt) string {
	var objs []types.Object
	for _, x := range st.Lhs {
		id, ok := x.(*ast.Ident)
		if !ok {
			s.refuse(st, "this definition")
		}
		obj := s.c.Info.Defs[id]
		if obj == nil {
			s.refuse(st, "a definition that also assigns")
		}
		objs = append(objs, obj)
	}
	if len(st.Rhs) != len(st.Lhs) || len(st.Lhs) != 1 {
		s.refuse(st, "a definition of several variables")
	}
	value := s.value(st.Rhs[0], objs[0].Type())
	return s.commit(st, objs[0], value)
}

func (s *script) commit(n ast.Node, obj types.Object, value string) string {
	v := s.newVar(n, obj)
	s.fresh[obj] = true
	return fmt.Sprintf("*%s.%s = %s; %s.Commit%s()", s.varPackage(), v.Name, value, s.varPackage(), v.Name)
}

func (s *script) decl(st *ast.DeclStmt, top bool) string {
	d := st.Decl.(*ast.GenDecl)
	if d.Tok != token.VAR || !top {
		s.refuse(st, "a declaration")
	}
	var out []string
	for _, spec := range d.Specs {
		spec := spec.(*ast.ValueSpec)
		if len(spec.Names) != 1 || len(spec.Values) > 1 || spec.Names[0].Name == "_" {
			s.refuse(st, "a declaration of several variables")
		}
		obj := s.c.Info.Defs[spec.Names[0]]
		if len(spec.Values) == 1 {
			out = append(out, s.commit(st, obj, s.value(spec.Values[0], obj.Type())))
			continue
		}
		v := s.newVar(st, obj)
		s.fresh[obj] = true
		out = append(out, fmt.Sprintf("%s.Commit%s()", s.varPackage(), v.Name))
	}
	return strings.Join(out, "; ")
}

func (s *script) newVar(n ast.Node, obj types.Object) *engine.Var {
	sym, _ := s.c.Variable(obj)
	if sym == nil {
		s.refuse(n, "this definition")
	}
	v := &engine.Var{Slot: sym.Slot, Name: fmt.Sprintf("N%d", sym.Slot), New: true, Type: s.typ(n, obj.Type())}
	if s.vars[sym] != nil {
		s.refuse(n, "a second definition")
	}
	s.vars[sym] = v
	return v
}

// pointer gives the pointer to the memory of a session variable.
func (s *script) pointer(id *ast.Ident) (string, bool) {
	obj := s.c.Info.Uses[id]
	if obj == nil {
		return "", false
	}
	sym, local := s.c.Variable(obj)
	if sym == nil {
		return "", false
	}
	if local {
		if !s.fresh[obj] {
			s.refuse(id, "this variable")
		}
		return s.varPackage() + "." + s.vars[sym].Name, true
	}
	v := s.vars[sym]
	if v == nil {
		v = &engine.Var{Slot: sym.Slot, Name: fmt.Sprintf("X%d", sym.Slot), Type: s.typ(id, s.c.TypeOf(sym))}
		s.vars[sym] = v
	}
	return s.varPackage() + "." + v.Name, true
}

func (s *script) lvalue(x ast.Expr) string {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		if p, ok := s.pointer(x); ok {
			return "*" + p
		}
	case *ast.SelectorExpr:
		if f, ok := s.field(x); ok {
			return f
		}
	}
	s.refuse(x, "an assignment to this")
	return ""
}

// field is an exported field of a struct that a session variable holds.
func (s *script) field(x *ast.SelectorExpr) (string, bool) {
	sel := s.c.Info.Selections[x]
	id, isIdent := ast.Unparen(x.X).(*ast.Ident)
	if sel == nil || sel.Kind() != types.FieldVal || !isIdent || len(sel.Index()) != 1 || !sel.Obj().Exported() {
		return "", false
	}
	if _, isStruct := sel.Recv().Underlying().(*types.Struct); !isStruct {
		return "", false // through a pointer it may panic
	}
	p, ok := s.pointer(id)
	if !ok {
		return "", false
	}
	return fmt.Sprintf("(*%s).%s", p, x.Sel.Name), true
}

package lower

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/warpbook/warpbook/kernel/engine"
	"github.com/warpbook/warpbook/kernel/engine/symbols"
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
	initialized := map[types.Object]bool{}
	for _, in := range c.Inits {
		for _, v := range in.Lhs {
			initialized[v] = true
		}
	}
	at := ast.Node(c.Decls[0].AST.Name)
	for _, sym := range c.Defined {
		if !initialized[sym.Obj] {
			v := s.newVar(at, sym.Obj)
			lines = append(lines, fmt.Sprintf("%s.Commit%s()", s.varPackage(), v.Name))
		}
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

// inOrder refuses a statement that reads a session variable before it calls
// something of the session that may change it. The language leaves the order
// open; the compiler reads variables after the calls, yaegi from left to right.
func (s *script) inOrder(st ast.Node) {
	var reads []token.Pos
	ast.Inspect(st, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok == token.ASSIGN || n.Tok == token.DEFINE {
				for _, x := range n.Rhs {
					s.inOrder(x)
				}
				return false
			}
		case *ast.Ident:
			if obj, ok := s.c.Info.Uses[n].(*types.Var); ok {
				if sym, _ := s.c.Variable(obj); sym != nil {
					reads = append(reads, n.Pos())
				}
			}
		case *ast.CallExpr:
			if s.maySet(n) && slices.ContainsFunc(reads, func(p token.Pos) bool { return p < n.Pos() }) {
				s.refuse(n, "a call behind the use of a variable that it may change")
			}
		}
		return true
	})
}

// maySet says whether a call may change session variables: it runs code of the
// session. Functions of packages get values, and call methods of the session's
// types only to print or compare them.
func (s *script) maySet(call *ast.CallExpr) bool {
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		fn, ok := s.c.Info.Uses[fun].(*types.Func)
		return ok && s.c.Home(fn) != ""
	case *ast.SelectorExpr:
		sel := s.c.Info.Selections[fun]
		if sel == nil {
			return false
		}
		_, ptr := sel.Obj().Type().(*types.Signature).Recv().Type().(*types.Pointer)
		return ptr || sel.Obj().Pkg() != nil && sel.Obj().Pkg().Path() == "main"
	}
	return false
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

// call accepts calls of compiled functions and methods, and len and cap.
func (s *script) call(x *ast.CallExpr) string {
	fun := ast.Unparen(x.Fun)
	ftv := s.c.Info.Types[fun]
	if ftv.IsType() {
		return s.convert(x, ftv.Type)
	}
	if ftv.IsBuiltin() {
		return s.builtin(x, fun)
	}
	sig, ok := ftv.Type.Underlying().(*types.Signature)
	if !ok || sig.TypeParams().Len() > 0 {
		s.refuse(x, "this call")
	}
	name := s.callee(fun)
	if x.Ellipsis.IsValid() {
		s.refuse(x, "a call with ...")
	}
	var args []string
	for i, a := range x.Args {
		args = append(args, s.argument(a, paramType(sig, i)))
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}

func paramType(sig *types.Signature, i int) types.Type {
	n := sig.Params().Len()
	if sig.Variadic() && i >= n-1 {
		return sig.Params().At(n - 1).Type().(*types.Slice).Elem()
	}
	if i >= n {
		return nil // f(g()) with several results
	}
	return sig.Params().At(i).Type()
}

func (s *script) argument(a ast.Expr, want types.Type) string {
	if want == nil {
		s.refuse(a, "this argument")
	}
	tv := s.c.Info.Types[a]
	if _, tuple := tv.Type.(*types.Tuple); tuple {
		s.refuse(a, "a call with another call's results")
	}
	if types.IsInterface(want) && !types.IsInterface(tv.Type) && !tv.IsNil() {
		return s.expr(a) // a native value goes to a native function as it is
	}
	return s.value(a, want)
}

// callee accepts functions of packages, functions of the session and methods of
// what session variables hold.
func (s *script) callee(fun ast.Expr) string {
	switch fun := fun.(type) {
	case *ast.Ident:
		fn, ok := s.c.Info.Uses[fun].(*types.Func)
		if ok && fn.Signature().TypeParams().Len() > 0 {
			s.refuse(fun, "a call of a generic function")
		}
		if ok && fn.Pkg() != nil && s.c.Home(fn) != "" && fn.Pkg() != s.c.Pkg {
			return s.importAs(s.c.Home(fn)) + ".F_" + fn.Name()
		}
	case *ast.SelectorExpr:
		if sel := s.c.Info.Selections[fun]; sel != nil {
			return s.method(fun, sel)
		}
		fn, ok := s.c.Info.Uses[fun.Sel].(*types.Func)
		if !ok || fn.Signature().TypeParams().Len() > 0 {
			break
		}
		if g := guards[fn.Pkg().Path()+"."+fn.Name()]; g != "" {
			return s.importAs(RuntimePath) + "." + g
		}
		if s.known(fn.Pkg().Path(), fn.Name()) {
			return s.importAs(fn.Pkg().Path()) + "." + fn.Name()
		}
	}
	s.refuse(fun, "a call of this")
	return ""
}

// unknown are packages whose functions wait, end the process or reach into it,
// or that yaegi has its own versions of.
var unknown = map[string]bool{
	"log": true, "flag": true, "unsafe": true, "sync": true, "reflect": true, "runtime": true, "os/exec": true, "plugin": true, "syscall": true,
}

// known says whether scripts may use a symbol.
func (s *script) known(path, name string) bool {
	if unknown[path] || path == "fmt" && strings.Contains(name, "can") { // Scan reads yaegi's input
		return false
	}
	_, ok := symbols.Lookup(path, name)
	return ok
}

// method accepts a method call on a session variable of a concrete type.
func (s *script) method(fun *ast.SelectorExpr, sel *types.Selection) string {
	fn, ok := sel.Obj().(*types.Func)
	id, isIdent := ast.Unparen(fun.X).(*ast.Ident)
	if !ok || sel.Kind() != types.MethodVal || !isIdent || !fn.Exported() || len(sel.Index()) != 1 {
		s.refuse(fun, "this method call")
	}
	if guardedWaits[fn.FullName()] != "" || fn.Pkg() != nil && (fn.Pkg().Path() == "sync" || fn.Pkg().Path() == "os/exec") {
		s.refuse(fun, "a wait")
	}
	recv := sel.Recv()
	if types.IsInterface(recv) {
		s.refuse(fun, "a method call on an interface")
	}
	if _, ok := recv.Underlying().(*types.Pointer); ok {
		s.refuse(fun, "a method call through a pointer") // it may be nil
	}
	p, ok := s.pointer(id)
	if !ok {
		s.refuse(fun, "this method call")
	}
	if _, ptr := fn.Signature().Recv().Type().(*types.Pointer); ptr {
		return p + "." + fn.Name()
	}
	return "(*" + p + ")." + fn.Name()
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
	switch ast.Unparen(e).(type) {
	case *ast.Ident, *ast.BinaryExpr, *ast.UnaryExpr:
		for _, paren := e.(*ast.ParenExpr); paren; _, paren = e.(*ast.ParenExpr) {
			e, text = e.(*ast.ParenExpr).X, strings.TrimSuffix(strings.TrimPrefix(text, "("), ")")
		}
		if s.c.Info.Types[e].Value == nil && strings.HasPrefix(text, "(") {
			text = strings.TrimSuffix(strings.TrimPrefix(text, "("), ")")
		}
	}
	return text
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

// spell writes a type of a literal.
func (s *script) spell(n ast.Node, t types.Type) string {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		return t.Name()
	case *types.Named:
		return s.typeName(n, t)
	case *types.Slice:
		return "[]" + s.spell(n, t.Elem())
	case *types.Map:
		return "map[" + s.spell(n, t.Key()) + "]" + s.spell(n, t.Elem())
	}
	s.refuse(n, "a literal of %s", t)
	return ""
}

func (s *script) typeName(n ast.Node, t *types.Named) string {
	obj := t.Obj()
	if t.TypeArgs().Len() > 0 || obj.Pkg() == nil || obj.Parent() == nil {
		s.refuse(n, "the type %s", t)
	}
	if home := s.c.Home(obj); home != "" {
		if home == s.c.Package || obj.Parent() == nil {
			s.refuse(n, "the type %s", t)
		}
		return s.importAs(home) + ".T_" + obj.Name()
	}
	if !s.known(obj.Pkg().Path(), obj.Name()) {
		s.refuse(n, "the type %s", t)
	}
	return s.importAs(obj.Pkg().Path()) + "." + obj.Name()
}

var errType = errors.New("this type cannot be described")

// typ describes a type for the engine.
func (s *script) typ(n ast.Node, t types.Type) engine.Type {
	d, err := s.describe(t)
	if err != nil {
		s.refuse(n, "a variable of type %s", t)
	}
	return d
}

func (s *script) describe(t types.Type) (engine.Type, error) {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		if t.Info()&types.IsUntyped != 0 || t.Kind() == types.UnsafePointer {
			return engine.Type{}, errType
		}
		return engine.Type{Kind: "named", Name: t.Name()}, nil
	case *types.Named:
		return s.describeNamed(t)
	case *types.Pointer:
		return s.with("pointer", t.Elem(), nil)
	case *types.Slice:
		return s.with("slice", t.Elem(), nil)
	case *types.Array:
		d, err := s.with("array", t.Elem(), nil)
		d.Len = t.Len()
		return d, err
	case *types.Map:
		return s.with("map", t.Elem(), t.Key())
	case *types.Interface:
		if t.Empty() {
			return engine.Type{Kind: "named", Name: "any"}, nil
		}
	}
	return engine.Type{}, errType
}

func (s *script) describeNamed(t *types.Named) (engine.Type, error) {
	obj := t.Obj()
	switch {
	case t.TypeArgs().Len() > 0:
		return engine.Type{}, errType
	case obj.Pkg() == nil:
		return engine.Type{Kind: "named", Name: obj.Name()}, nil
	}
	if home := s.c.Home(obj); home != "" {
		if home == s.c.Package {
			return engine.Type{}, errType
		}
		s.importAs(home)
		return engine.Type{Kind: "named", Path: home, Name: "T_" + obj.Name()}, nil
	}
	if !s.known(obj.Pkg().Path(), obj.Name()) || obj.Pkg().Path() == "main" {
		return engine.Type{}, errType
	}
	return engine.Type{Kind: "named", Path: obj.Pkg().Path(), Name: obj.Name()}, nil
}

func (s *script) with(kind string, elem, key types.Type) (engine.Type, error) {
	e, err := s.describe(elem)
	if err != nil {
		return engine.Type{}, err
	}
	d := engine.Type{Kind: kind, Elem: &e}
	if key != nil {
		k, err := s.describe(key)
		if err != nil {
			return engine.Type{}, err
		}
		d.Key = &k
	}
	return d, nil
}

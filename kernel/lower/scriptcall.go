package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/warpbook/warpbook/kernel/engine/symbols"
)

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
		fn, method := sel.Obj().(*types.Func)
		if !method { // a field: a function of anybody
			return true
		}
		_, ptr := fn.Signature().Recv().Type().(*types.Pointer)
		return ptr || sel.Obj().Pkg() != nil && sel.Obj().Pkg().Path() == "main"
	}
	return false
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

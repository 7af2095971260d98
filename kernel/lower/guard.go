package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// guards maps functions of the standard library to those of the run time with
// the same signature: waits that an interrupt ends, exits that end the cell, and
// output that knows its cell.
var guards = map[string]string{
	"fmt.Print": "Print", "fmt.Println": "Println", "fmt.Printf": "Printf",
	"os.Exit": "Exit", "log.Fatal": "Fatal", "log.Fatalf": "Fatalf", "log.Fatalln": "Fatalln",
	"time.Sleep": "Sleep", "time.AfterFunc": "AfterFunc", "runtime.Goexit": "Goexit",
}

// guardedVars are variables that a function of the run time stands for where
// they are read.
var guardedVars = map[string]string{"os.Stdout": "Stdout()", "os.Stderr": "Stderr()"}

// guardedWaits are methods that wait, or end the process.
var guardedWaits = map[string]string{
	"(*sync.WaitGroup).Wait": "WaitGroupWait", "(*sync.WaitGroup).Go": "WaitGroupGo", "(*sync.Mutex).Lock": "MutexLock",
	"(*sync.RWMutex).Lock": "RWMutexLock", "(*sync.RWMutex).RLock": "RWMutexRLock",
	"(*sync.Cond).Wait": "CondWait", "(*log.Logger).Fatal": "LoggerFatal", "(*log.Logger).Fatalf": "LoggerFatalf", "(*log.Logger).Fatalln": "LoggerFatalln",
}

// guarded says what of the run time a qualified identifier becomes, or "".
func (p *pkg) guarded(n *ast.SelectorExpr) string {
	x, ok := n.X.(*ast.Ident)
	if !ok {
		return ""
	}
	if _, ok := p.c.Info.Uses[x].(*types.PkgName); !ok {
		return ""
	}
	obj := p.c.Info.Uses[n.Sel]
	if obj == nil || obj.Pkg() == nil {
		return ""
	}
	full := obj.Pkg().Path() + "." + obj.Name()
	if g := guards[full]; g != "" {
		return g
	}
	if p.written[n] {
		return ""
	}
	return guardedVars[full]
}

// call is a call; of a wait, one that an interrupt ends.
func (r *renderer) call(n *ast.CallExpr) string {
	if tv := r.p.c.Info.Types[n.Fun]; tv.IsType() && len(n.Args) == 1 {
		return r.conversion(n, tv.Type)
	}
	sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr)
	if !ok {
		return r.splice(n)
	}
	s := r.p.c.Info.Selections[sel]
	if s == nil || s.Kind() != types.MethodVal || len(s.Index()) != 1 {
		return r.splice(n)
	}
	g := guardedWaits[s.Obj().(*types.Func).FullName()]
	if g == "" {
		return r.splice(n)
	}
	recv := r.node(sel.X)
	if _, isPtr := s.Recv().Underlying().(*types.Pointer); !isPtr {
		recv = "&" + recv
	}
	args := []string{recv}
	for _, a := range n.Args {
		args = append(args, r.node(a))
	}
	if n.Ellipsis.IsValid() {
		args[len(args)-1] += "..."
	}
	return fmt.Sprintf("%s.%s(%s)", r.p.rt(), g, strings.Join(args, ", "))
}

// elem spells the element type of a channel expression.
func (r *renderer) elem(ch ast.Expr) string {
	c := coreChan(r.p.c.Info.Types[ch].Type)
	if c == nil {
		r.p.fail(ch, "the element type of this channel is not known")
	}
	return r.p.typeString(c.Elem())
}

func coreChan(t types.Type) *types.Chan {
	if c, ok := t.Underlying().(*types.Chan); ok {
		return c
	}
	tp, ok := t.(*types.TypeParam)
	if !ok {
		return nil
	}
	iface, _ := tp.Constraint().Underlying().(*types.Interface)
	if iface == nil {
		return nil
	}
	for e := range iface.EmbeddedTypes() {
		if u, ok := e.(*types.Union); ok {
			for term := range u.Terms() {
				if c, ok := term.Type().Underlying().(*types.Chan); ok {
					return c
				}
			}
		} else if c, ok := e.Underlying().(*types.Chan); ok {
			return c
		}
	}
	return nil
}

func (r *renderer) receive(n *ast.UnaryExpr) string {
	name := "Recv"
	if _, two := r.p.c.Info.Types[n].Type.(*types.Tuple); two {
		name = "Recv2"
	}
	return fmt.Sprintf("%s.%s[%s](%s)", r.p.rt(), name, r.elem(n.X), r.node(n.X))
}

// waiting are packages whose functions may wait for something outside.
var waiting = map[string]bool{
	"bufio": true, "context": true, "crypto/tls": true, "database/sql": true, "fmt": true, "io": true, "net": true, "net/http": true,
	"net/rpc": true, "os": true, "os/exec": true, "os/signal": true, "sync": true, "syscall": true, "testing": true, "time": true,
}

func (r *renderer) afterWait(st ast.Stmt) string {
	switch st.(type) {
	case *ast.ExprStmt, *ast.AssignStmt, *ast.DeclStmt:
	default:
		return ""
	}
	waits := false
	ast.Inspect(st, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.SelectorExpr:
			if fn, ok := r.p.c.Info.Uses[n.Sel].(*types.Func); ok && fn.Pkg() != nil && waiting[fn.Pkg().Path()] {
				waits = waits || !quick[fn.Name()]
			}
		}
		return !waits
	})
	if !waits {
		return ""
	}
	return "; " + r.p.rt() + ".Check()"
}

// quick are functions of waiting packages that every second cell calls.
var quick = map[string]bool{
	"Print": true, "Println": true, "Printf": true, "Sprint": true, "Sprintln": true, "Sprintf": true, "Errorf": true, "Now": true, "Since": true,
	"Sub": true, "Seconds": true, "Add": true, "Done": true, "Unlock": true, "RUnlock": true, "String": true, "Background": true,
}

// funcBody is a function's block. One that calls other code may be part of an
// endless recursion, so it looks at the interrupt and the stack.
func (r *renderer) funcBody(b *ast.BlockStmt, first string) string {
	if r.calls(b) {
		first += r.p.rt() + ".Enter();"
	}
	return "{" + first + r.inside(b)
}

// calls says whether a block calls, outside function literals, anything but
// builtins, conversions and package math, or waits for a channel.
func (r *renderer) calls(b *ast.BlockStmt) bool {
	found := false
	ast.Inspect(b, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			found = found || !r.cheap(ast.Unparen(n.Fun))
		case *ast.SendStmt, *ast.SelectStmt:
			found = true
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		}
		return !found
	})
	return found
}

func (r *renderer) cheap(fun ast.Expr) bool {
	if tv := r.p.c.Info.Types[fun]; tv.IsType() || tv.IsBuiltin() {
		return true
	}
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	fn, ok := r.p.c.Info.Uses[sel.Sel].(*types.Func)
	return ok && fn.Signature().Recv() == nil && fn.Pkg() != nil && fn.Pkg().Path() == "math"
}

// goStmt starts a goroutine whose panic is reported instead of ending the
// process. The function and its arguments are evaluated now, as Go does.
func (r *renderer) goStmt(n *ast.GoStmt) string {
	guard := "defer " + r.p.rt() + ".Guard();"
	if lit, ok := ast.Unparen(n.Call.Fun).(*ast.FuncLit); ok {
		return "go " + r.node(lit.Type) + " " + r.funcBody(lit.Body, guard) + r.span(n.Call.Lparen, n.End(), nodes(n.Call.Args))
	}
	var names, values, args []string
	keep := func(x ast.Expr, name string) string {
		if tv := r.p.c.Info.Types[x]; tv.Value != nil || tv.IsNil() || tv.IsType() || tv.IsBuiltin() {
			return r.node(x)
		}
		names, values = append(names, name), append(values, r.node(x))
		return name
	}
	fun := r.node(n.Call.Fun)
	if tv := r.p.c.Info.Types[n.Call.Fun]; !tv.IsBuiltin() && !tv.IsType() {
		if id, ok := ast.Unparen(n.Call.Fun).(*ast.Ident); !ok || !r.isGenericFunc(id) {
			fun = keep(n.Call.Fun, "wb_f")
		}
	}
	for i, a := range n.Call.Args {
		args = append(args, keep(a, fmt.Sprintf("wb_a%d", i)))
	}
	dots := ""
	if n.Call.Ellipsis.IsValid() {
		dots = "..."
	}
	set := ""
	if len(names) > 0 {
		set = strings.Join(names, ", ") + " := " + strings.Join(values, ", ") + "; "
	}
	return fmt.Sprintf("{ %sgo func() { %s %s(%s%s) }() }", set, guard, fun, strings.Join(args, ", "), dots)
}

func (r *renderer) isGenericFunc(id *ast.Ident) bool {
	fn, ok := r.p.c.Info.Uses[id].(*types.Func)
	return ok && fn.Signature().TypeParams().Len() > 0
}

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

// loop is a for or range statement, with its label, that looks at the interrupt
// in every round. Where the rounds are short, because nothing is called in them,
// it looks in every 256th: a counter in a register costs less than the look.
func (r *renderer) loop(n ast.Stmt, body *ast.BlockStmt, label string) string {
	check := r.p.rt() + ".Check();"
	if r.calls(body) || r.isTarget(n, label) {
		return label + r.loopHead(n, body) + "{" + check + r.loopRest(n, body)
	}
	r.p.loops++
	count := fmt.Sprintf("wb_k%d", r.p.loops)
	return fmt.Sprintf("{%s := uint8(0); %s%s{%s++; if %s == 0 {%s};%s}", count, label, r.loopHead(n, body), count, count, check, r.loopRest(n, body))
}

func (r *renderer) loopHead(n ast.Stmt, body *ast.BlockStmt) string {
	if rs, ok := n.(*ast.RangeStmt); ok {
		return r.rangeHead(rs)
	}
	fs := n.(*ast.ForStmt)
	return r.headOf(fs, fs.Init, body)
}

func (r *renderer) loopRest(n ast.Stmt, body *ast.BlockStmt) string {
	var unused []*ast.Ident
	switch n := n.(type) {
	case *ast.ForStmt:
		unused = r.unusedIn(n.Init)
	case *ast.RangeStmt:
		unused = r.unusedInRange(n)
	}
	return r.useFirst(unused) + r.inside(body)
}

// isTarget says whether a goto leads to the label: then the statement must not
// move into a block.
func (r *renderer) isTarget(n ast.Node, label string) bool {
	if label == "" {
		return false
	}
	name := strings.TrimSpace(label[:strings.IndexByte(label, ':')])
	found := false
	ast.Inspect(r.f.AST, func(n ast.Node) bool {
		if b, ok := n.(*ast.BranchStmt); ok && b.Tok == token.GOTO && b.Label.Name == name {
			found = true
		}
		return !found
	})
	return found
}

// inside is the text of a block behind its opening brace.
func (r *renderer) inside(b *ast.BlockStmt) string {
	return r.stmts(b.Lbrace+1, b.End(), b.List)
}

// stmts is the text of a list of statements. Behind one that may have waited
// inside a package, it looks at the interrupt: the cell may be over by now.
func (r *renderer) stmts(from, to token.Pos, list []ast.Stmt) string {
	var b strings.Builder
	for _, st := range list {
		b.WriteString(r.text(from, st.Pos()))
		b.WriteString(r.node(st) + r.afterWait(st))
		from = st.End()
	}
	if from < to {
		b.WriteString(r.text(from, to))
	}
	return b.String()
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
	if r.mayRecurse(b) {
		first += r.p.rt() + ".Enter();"
	}
	return "{" + first + r.inside(b)
}

// mayRecurse says whether a function's own body calls anything that may lead back
// to it.
func (r *renderer) mayRecurse(b *ast.BlockStmt) bool { return r.calls(b) }

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

func (r *renderer) rangeHead(n *ast.RangeStmt) string {
	var b strings.Builder
	from := n.Pos()
	for _, c := range before(children(n), n.Body) {
		b.WriteString(r.text(from, c.Pos()))
		if c == ast.Node(n.X) && coreChan(r.p.c.Info.Types[n.X].Type) != nil {
			fmt.Fprintf(&b, "%s.Range[%s](%s)", r.p.rt(), r.elem(n.X), r.node(c))
		} else {
			b.WriteString(r.node(c))
		}
		from = c.End()
	}
	b.WriteString(r.text(from, n.Body.Pos()))
	return b.String()
}

func (r *renderer) unusedInRange(n *ast.RangeStmt) []*ast.Ident {
	var unused []*ast.Ident
	if n.Tok == token.DEFINE {
		for _, x := range []ast.Expr{n.Key, n.Value} {
			if id, ok := x.(*ast.Ident); ok && r.p.c.Unused[id] {
				unused = append(unused, id)
			}
		}
	}
	return unused
}

// unusedIn lists the variables of a statement that nothing uses.
func (r *renderer) unusedIn(st ast.Stmt) []*ast.Ident {
	if st == nil || len(r.p.c.Unused) == 0 {
		return nil
	}
	var out []*ast.Ident
	switch st := st.(type) {
	case *ast.AssignStmt:
		for _, x := range st.Lhs {
			if id, ok := x.(*ast.Ident); ok && r.p.c.Unused[id] {
				out = append(out, id)
			}
		}
	case *ast.DeclStmt:
		ast.Inspect(st, func(n ast.Node) bool {
			if _, ok := n.(*ast.FuncLit); ok {
				return false
			}
			if id, ok := n.(*ast.Ident); ok && r.p.c.Unused[id] {
				out = append(out, id)
			}
			return true
		})
	}
	return out
}

// use uses variables behind the statement that defines them.
func (r *renderer) use(unused []*ast.Ident) string {
	if len(unused) == 0 {
		return ""
	}
	return "; " + strings.TrimSuffix(r.useFirst(unused), ";")
}

func (r *renderer) useFirst(unused []*ast.Ident) string {
	s := ""
	for _, id := range unused {
		s += "_ = " + id.Name + ";"
	}
	return s
}

func (r *renderer) ifStmt(n *ast.IfStmt) string {
	unused := r.unusedIn(n.Init)
	if len(unused) == 0 {
		return r.headSplice(n, n.Init)
	}
	head := r.headOf(n, n.Init, n.Body)
	rest := ""
	if n.Else != nil {
		rest = r.text(n.Body.End(), n.Else.Pos()) + r.node(n.Else)
	}
	return head + "{" + r.useFirst(unused) + r.inside(n.Body) + rest
}

// headSplice renders a statement whose Init must not be followed by anything.
func (r *renderer) headSplice(n ast.Node, init ast.Stmt) string {
	var b strings.Builder
	from := n.Pos()
	for _, c := range children(n) {
		b.WriteString(r.text(from, c.Pos()))
		if c == ast.Node(init) {
			b.WriteString(r.splice(c))
		} else {
			b.WriteString(r.node(c))
		}
		from = c.End()
	}
	b.WriteString(r.text(from, n.End()))
	return b.String()
}

func (r *renderer) headOf(n ast.Node, init ast.Stmt, body *ast.BlockStmt) string {
	var b strings.Builder
	from := n.Pos()
	for _, c := range before(children(n), body) {
		b.WriteString(r.text(from, c.Pos()))
		if c == ast.Node(init) {
			b.WriteString(r.splice(c))
		} else {
			b.WriteString(r.node(c))
		}
		from = c.End()
	}
	b.WriteString(r.text(from, body.Pos()))
	return b.String()
}

// switchStmt renders a switch. A variable of its header that nothing uses is
// used in the first clause; one of a type switch gets a use in every clause.
func (r *renderer) switchStmt(n ast.Stmt, init ast.Stmt, body *ast.BlockStmt) string {
	unused := r.unusedIn(init)
	if ts, ok := n.(*ast.TypeSwitchStmt); ok {
		if as, ok := ts.Assign.(*ast.AssignStmt); ok {
			if id, ok := as.Lhs[0].(*ast.Ident); ok && r.p.c.Unused[id] {
				unused = append(unused, id)
			}
		}
	}
	var b strings.Builder
	from := n.Pos()
	for _, c := range before(children(n), body) {
		b.WriteString(r.text(from, c.Pos()))
		if _, isExpr := c.(ast.Expr); isExpr {
			b.WriteString(r.node(c))
		} else {
			b.WriteString(r.splice(c))
		}
		from = c.End()
	}
	b.WriteString(r.text(from, body.Lbrace+1))
	from = body.Lbrace + 1
	if len(body.List) == 0 && len(unused) > 0 {
		b.WriteString("default: " + r.useFirst(unused))
	}
	for _, st := range body.List {
		cc := st.(*ast.CaseClause)
		b.WriteString(r.text(from, cc.Pos()))
		b.WriteString(r.span(cc.Pos(), cc.Colon+1, nodes(cc.List)))
		b.WriteString(" " + r.useFirst(unused))
		b.WriteString(r.stmts(cc.Colon+1, cc.End(), cc.Body))
		from = cc.End()
	}
	b.WriteString(r.text(from, body.End()))
	return b.String()
}

// selectStmt renders a select. One that may wait also waits for the interrupt.
func (r *renderer) selectStmt(n *ast.SelectStmt) string {
	var b strings.Builder
	from := n.Pos()
	waits := true
	for _, st := range n.Body.List {
		cc := st.(*ast.CommClause)
		b.WriteString(r.text(from, cc.Pos()))
		from = cc.Pos()
		var unused []*ast.Ident
		if cc.Comm == nil {
			waits = false
		} else {
			b.WriteString(r.text(from, cc.Comm.Pos()) + r.comm(cc.Comm))
			from = cc.Comm.End()
			unused = r.unusedIn(cc.Comm)
		}
		b.WriteString(r.text(from, cc.Colon+1) + r.useFirst(unused))
		b.WriteString(r.stmts(cc.Colon+1, cc.End(), cc.Body))
		from = cc.End()
	}
	b.WriteString(r.text(from, n.Body.Rbrace))
	if waits {
		fmt.Fprintf(&b, "; case <-%s.Done(): %s.Halt(); for {}", r.p.rt(), r.p.rt())
	}
	return strings.Replace(b.String(), "{; case", "{ case", 1) + "}"
}

// comm renders the channel operation of a select clause, which stays one.
func (r *renderer) comm(st ast.Stmt) string {
	switch st := st.(type) {
	case *ast.SendStmt:
		return r.node(st.Chan) + " <- " + r.node(st.Value)
	case *ast.ExprStmt:
		return r.rawReceive(st.X)
	case *ast.AssignStmt:
		var lhs []string
		for _, x := range st.Lhs {
			lhs = append(lhs, r.node(x))
		}
		return strings.Join(lhs, ", ") + " " + st.Tok.String() + " " + r.rawReceive(st.Rhs[0])
	}
	return r.splice(st)
}

func (r *renderer) rawReceive(x ast.Expr) string {
	if un, ok := ast.Unparen(x).(*ast.UnaryExpr); ok && un.Op == token.ARROW {
		return "<-" + r.node(un.X)
	}
	return r.node(x)
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

package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

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
	head := r.headOf(n, n.Init, n.Body)
	rest := ""
	if n.Else != nil {
		rest = r.text(n.Body.End(), n.Else.Pos()) + r.node(n.Else)
	}
	return head + "{" + r.useFirst(r.unusedIn(n.Init)) + r.inside(n.Body) + rest
}

// headOf renders a statement up to its block. Nothing may be put behind the
// statement that its header starts with.
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

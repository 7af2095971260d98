package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"sort"
	"strings"

	"github.com/warpbook/warpbook/kernel/front"
)

// A renderer gives the text of nodes with the edits of the package comment.
type renderer struct {
	p     *pkg
	f     *front.File
	body  bool                   // the cell's statements: session variables are bound once
	bound map[*front.Symbol]bool // those that are
}

func (r *renderer) text(from, to token.Pos) string {
	tf := r.p.c.Fset.File(from)
	return string(r.f.Text[tf.Offset(from):tf.Offset(to)])
}

// children lists the nodes directly below n in the order of the text.
func children(n ast.Node) []ast.Node {
	var out []ast.Node
	first := true
	ast.Inspect(n, func(m ast.Node) bool {
		if m == nil {
			return false
		}
		if first {
			first = false
			return true
		}
		out = append(out, m)
		return false
	})
	sort.SliceStable(out, func(i, j int) bool { return out[i].Pos() < out[j].Pos() })
	return out
}

// span is the text from one position to another with the nodes inside rendered.
func (r *renderer) span(from, to token.Pos, nodes []ast.Node) string {
	var b strings.Builder
	for _, n := range nodes {
		if n.Pos() < from || n.Pos() >= to { // a comment at the end of the line is a child, but lies behind
			continue
		}
		b.WriteString(r.text(from, n.Pos()))
		b.WriteString(r.node(n))
		from = n.End()
	}
	if from < to {
		b.WriteString(r.text(from, to))
	}
	return b.String()
}

func (r *renderer) splice(n ast.Node) string { return r.span(n.Pos(), n.End(), children(n)) }

// node is the text of a node.
func (r *renderer) node(n ast.Node) string {
	switch n := n.(type) {
	case *ast.CommentGroup, *ast.Comment:
		return r.text(n.Pos(), n.End())
	case *ast.Ident:
		return r.ident(n)
	case *ast.SelectorExpr:
		return r.selector(n)
	case *ast.CompositeLit:
		return r.composite(n)
	case *ast.CallExpr:
		return r.call(n)
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			return r.receive(n)
		}
	case *ast.SendStmt:
		return fmt.Sprintf("%s.Send[%s](%s, %s)", r.p.rt(), r.elem(n.Chan), r.node(n.Chan), r.node(n.Value))
	case *ast.FuncLit:
		return r.node(n.Type) + " " + r.funcBody(n.Body, "")
	case *ast.ForStmt:
		return r.loop(n, n.Body, "")
	case *ast.RangeStmt:
		return r.loop(n, n.Body, "")
	case *ast.LabeledStmt:
		label := r.text(n.Pos(), n.Stmt.Pos())
		switch st := n.Stmt.(type) {
		case *ast.ForStmt:
			return r.loop(st, st.Body, label)
		case *ast.RangeStmt:
			return r.loop(st, st.Body, label)
		}
		return label + r.node(n.Stmt)
	case *ast.IfStmt:
		return r.ifStmt(n)
	case *ast.SwitchStmt:
		return r.switchStmt(n, n.Init, n.Body)
	case *ast.TypeSwitchStmt:
		return r.switchStmt(n, n.Init, n.Body)
	case *ast.SelectStmt:
		return r.selectStmt(n)
	case *ast.GoStmt:
		return r.goStmt(n)
	case *ast.BranchStmt:
		if n.Tok == token.GOTO {
			return fmt.Sprintf("{ %s.Check(); %s }", r.p.rt(), r.text(n.Pos(), n.End()))
		}
	case *ast.AssignStmt, *ast.DeclStmt:
		return r.splice(n) + r.use(r.unusedIn(n.(ast.Stmt)))
	case *ast.GenDecl:
		if n.Tok == token.IMPORT {
			return ""
		}
	case *ast.InterfaceType:
		return r.span(n.Pos(), n.End(), []ast.Node{n.Methods})
	}
	return r.splice(n)
}

func before(nodes []ast.Node, end ast.Node) []ast.Node {
	var out []ast.Node
	for _, n := range nodes {
		if n.Pos() < end.Pos() {
			out = append(out, n)
		}
	}
	return out
}

// ident is a name: of a session variable, of a function or method of the
// session, of another cell's type or constant, or of anything else.
func (r *renderer) ident(id *ast.Ident) string {
	c := r.p.c
	if fn, ok := c.Info.Defs[id].(*types.Func); ok {
		return methodName(fn)
	}
	obj := c.Info.Uses[id]
	if obj != nil && obj.Pkg() != nil && obj.Pkg().Path() != "main" && obj.Parent() == obj.Pkg().Scope() {
		return r.p.importAs(obj.Pkg().Path()) + "." + id.Name // imported bare
	}
	switch obj := obj.(type) {
	case *types.Var:
		return r.variable(id, obj)
	case *types.Func:
		return r.function(obj, id.Name)
	case *types.TypeName, *types.Const:
		r.p.refer(obj)
	}
	return id.Name
}

func (r *renderer) variable(id *ast.Ident, obj *types.Var) string {
	sym, local := r.p.c.Variable(obj)
	if sym == nil || obj.IsField() || local && r.body {
		return id.Name
	}
	r.p.slots[sym] = true
	if r.body {
		r.bound[sym] = true
		return fmt.Sprintf("(*wb_p%d)", sym.Slot)
	}
	return fmt.Sprintf("(**wb_s%d)", sym.Slot)
}

// function is a reference to a function of the session: a method of WbX, or,
// for generic ones, which methods cannot be, an exported function.
func (r *renderer) function(fn *types.Func, name string) string {
	if fn.Pkg() == nil || fn.Pkg().Path() != "main" || fn.Signature().Recv() != nil {
		return methodNameOr(fn, name)
	}
	home := r.p.home(fn)
	qualifier := ""
	if home != "" {
		qualifier = r.p.importAs(home) + "."
	} else if !r.p.c.Owns(fn) {
		return name
	}
	if fn.Signature().TypeParams().Len() > 0 {
		return qualifier + "WbG_" + name
	}
	return "(" + qualifier + "WbX{}).F_" + name
}

// methodName is the emitted name of a method: unexported ones of the session
// get an exported spelling, because cells are separate packages and an
// interface of one must hold the types of another.
func methodName(fn *types.Func) string { return methodNameOr(fn, fn.Name()) }

func methodNameOr(fn *types.Func, name string) string {
	if fn.Signature().Recv() != nil && !fn.Exported() && fn.Name() != "_" && fn.Pkg() != nil && fn.Pkg().Path() == "main" {
		return "WbM_" + name
	}
	return name
}

// selector is x.f: a guarded function of the standard library, a field, or a
// method.
func (r *renderer) selector(n *ast.SelectorExpr) string {
	if call := r.p.guarded(n); call != "" {
		return r.p.rt() + "." + call
	}
	sel := r.p.c.Info.Selections[n]
	if sel == nil { // a qualified identifier
		return r.span(n.Pos(), n.Sel.Pos(), []ast.Node{n.X}) + n.Sel.Name
	}
	if sel.Kind() == types.FieldVal {
		if f, ok := sel.Obj().(*types.Var); ok && r.foreign(f) {
			return r.mirrored(n, sel)
		}
	}
	return r.splice(n)
}

// foreign says that code of this package cannot name the field.
func (r *renderer) foreign(f *types.Var) bool {
	return !f.Exported() && f.Pkg() != nil && !r.p.c.Owns(f)
}

// mirrored reaches an unexported field of another cell's type through a pointer
// to a struct of the same layout that this package spells itself.
func (r *renderer) mirrored(n *ast.SelectorExpr, sel *types.Selection) string {
	cur, t := r.node(n.X), r.p.c.Info.Types[n.X].Type
	addressable := r.p.c.Info.Types[n.X].Addressable()
	for _, i := range sel.Index() {
		ptr, isPtr := t.Underlying().(*types.Pointer)
		if isPtr {
			t = ptr.Elem()
		}
		st := t.Underlying().(*types.Struct)
		f := st.Field(i)
		if r.foreign(f) {
			address := cur
			if !isPtr && addressable {
				address = "&" + cur
			} else if !isPtr {
				address = r.p.rt() + ".Ref(" + cur + ")"
			}
			cur = fmt.Sprintf("(*%s)(%s(%s)).%s", r.mirror(st), r.p.unsafePtr(), address, f.Name())
			addressable = true
		} else {
			cur += "." + f.Name()
			addressable = addressable || isPtr
		}
		t = f.Type()
	}
	return "(" + cur + ")"
}

// mirror spells the struct type with this package's own field names.
func (r *renderer) mirror(st *types.Struct) string {
	var b strings.Builder
	b.WriteString("struct{")
	for f := range st.Fields() {
		if !f.Embedded() {
			b.WriteString(f.Name() + " ")
		}
		b.WriteString(r.p.typeString(f.Type()) + "; ")
	}
	b.WriteString("}")
	return b.String()
}

// composite is a literal; one that sets unexported fields of another cell's
// struct is written as a literal of the mirror.
func (r *renderer) composite(n *ast.CompositeLit) string {
	t := r.p.c.Info.Types[n].Type
	base := t
	ptr, isPtr := t.Underlying().(*types.Pointer)
	if isPtr && n.Type == nil {
		base = ptr.Elem()
	}
	st, ok := base.Underlying().(*types.Struct)
	if !ok || len(n.Elts) == 0 || !r.setsForeign(st, n) {
		return r.splice(n)
	}
	spelled := r.p.typeString(base)
	inner := fmt.Sprintf("(*%s)(%s(&%s%s))", spelled, r.p.unsafePtr(), r.mirror(st), r.span(n.Lbrace, n.End(), nodes(n.Elts)))
	if base != t {
		return inner
	}
	return "(*" + inner + ")"
}

func nodes[T ast.Node](list []T) []ast.Node {
	out := make([]ast.Node, len(list))
	for i, n := range list {
		out[i] = n
	}
	return out
}

func (r *renderer) setsForeign(st *types.Struct, n *ast.CompositeLit) bool {
	if _, keyed := n.Elts[0].(*ast.KeyValueExpr); !keyed {
		return r.hasForeign(st)
	}
	for _, e := range n.Elts {
		if id, ok := e.(*ast.KeyValueExpr).Key.(*ast.Ident); ok {
			if f, ok := r.p.c.Info.Uses[id].(*types.Var); ok && r.foreign(f) {
				return true
			}
		}
	}
	return false
}

// decls renders the declarations of a file, each under a line directive, and
// says which nodes they are.
func (p *pkg) decls(f *front.File) (string, []ast.Node) {
	var rendered []ast.Node
	r := &renderer{p: p, f: f}
	var b strings.Builder
	for _, d := range f.AST.Decls {
		text := ""
		switch d := d.(type) {
		case *ast.FuncDecl:
			text = r.funcDecl(d)
		case *ast.GenDecl:
			if d.Tok == token.TYPE || d.Tok == token.CONST {
				text = r.node(d)
			}
		}
		if text == "" {
			continue
		}
		rendered = append(rendered, d)
		pos := p.c.Fset.Position(d.Pos())
		fmt.Fprintf(&b, "//line %s:%d:%d\n%s\n", pos.Filename, pos.Line, pos.Column, text)
	}
	return b.String(), rendered
}

// funcDecl renders a function or method. Functions become methods of WbX: an
// exported function of a package named main would be looked up in every plugin
// that links it.
func (r *renderer) funcDecl(d *ast.FuncDecl) string {
	var b strings.Builder
	generic := d.Type.TypeParams != nil
	switch {
	case d.Body == nil:
		r.p.fail(d, "func %s has no body", d.Name.Name)
	case d.Recv != nil:
		b.WriteString("func " + r.node(d.Recv) + " " + r.ident(d.Name))
	case d.Name.Name == "_":
		b.WriteString("func _")
	case d.Name.Name == "init":
		fmt.Fprintf(&b, "func (WbX) I_%d", r.p.inits)
		r.p.inits++
	case generic:
		b.WriteString("func WbG_" + d.Name.Name + r.node(d.Type.TypeParams))
	default:
		b.WriteString("func (WbX) F_" + d.Name.Name)
	}
	b.WriteString(r.node(d.Type.Params))
	if d.Type.Results != nil {
		b.WriteString(" " + r.node(d.Type.Results))
	}
	b.WriteString(" " + r.funcBody(d.Body, ""))
	return b.String()
}

// statements renders the cell's statements; those that define session variables
// put their address into the slot at once.
func (r *renderer) statements() string {
	fd := r.f.AST.Decls[len(r.f.AST.Decls)-1].(*ast.FuncDecl)
	first := r.f.Offset
	tf := r.p.c.Fset.File(fd.Pos())
	var b strings.Builder
	from := tf.Pos(first)
	for _, st := range fd.Body.List {
		b.WriteString(r.text(from, st.Pos()))
		b.WriteString(r.top(st) + r.afterWait(st))
		from = st.End()
	}
	b.WriteString(r.text(from, fd.Body.Rbrace))
	return b.String()
}

func (r *renderer) top(st ast.Stmt) string {
	c := r.p.c
	if c.Show != nil && st == ast.Stmt(c.Show) {
		if c.Quiet {
			return "_ = " + r.node(c.Show.X)
		}
		return fmt.Sprintf("%s.Show(%s)", r.p.rt(), r.node(c.Show.X))
	}
	if l, ok := st.(*ast.LabeledStmt); ok {
		switch l.Stmt.(type) {
		case *ast.AssignStmt, *ast.DeclStmt, *ast.LabeledStmt, *ast.ExprStmt:
			return r.text(l.Pos(), l.Stmt.Pos()) + r.top(l.Stmt)
		}
	}
	text := ""
	switch st := st.(type) {
	case *ast.AssignStmt, *ast.DeclStmt:
		text = r.splice(st)
	default:
		return r.node(st)
	}
	for _, id := range front.Definitions(st) {
		obj := c.Info.Defs[id]
		if obj == nil {
			continue
		}
		sym, _ := c.Variable(obj)
		if sym == nil {
			continue
		}
		r.p.slots[sym] = true
		text += fmt.Sprintf("; *wb_s%d = &%s; %s.Define(%d)", sym.Slot, id.Name, r.p.rt(), sym.Slot)
	}
	return text
}

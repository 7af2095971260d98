package front

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
)

// A lateFunc mentions variables that the cell's statements define: its body is
// checked when their types are known.
type lateFunc struct {
	decl *ast.FuncDecl
	body *ast.BlockStmt
	file *File
}

// postpone takes out the bodies of functions that mention what the statements
// define, or variables whose types get a new version.
func (a *attempt) postpone() {
	if len(a.files) == 0 {
		return
	}
	fresh := map[string]bool{}
	for _, id := range topDefinitions(a.bodyList()) {
		fresh[id.Name] = true
	}
	for key, sym := range a.s.symbols {
		if sym.Kind == Var && typeMentions(sym.Obj.Type(), a.declared) {
			fresh[key] = true
		}
	}
	if len(fresh) == 0 {
		return
	}
	for _, f := range a.files {
		for _, d := range f.AST.Decls {
			fd, ok := d.(*ast.FuncDecl)
			if !ok || fd.Body == nil || !mentionsAny(fd.Body, without(fresh, fd)) {
				continue
			}
			a.late = append(a.late, &lateFunc{decl: fd, body: fd.Body, file: f})
			at := fd.Body.Lbrace
			forever := &ast.ForStmt{For: at, Body: &ast.BlockStmt{Lbrace: at, Rbrace: at}}
			fd.Body = &ast.BlockStmt{Lbrace: at, List: []ast.Stmt{forever}, Rbrace: fd.Body.Rbrace}
		}
	}
}

// without drops from a set of names those that are parameters of the function.
func without(names map[string]bool, fd *ast.FuncDecl) map[string]bool {
	out := maps.Clone(names)
	for _, list := range []*ast.FieldList{fd.Recv, fd.Type.Params, fd.Type.Results} {
		if list == nil {
			continue
		}
		for _, field := range list.List {
			for _, id := range field.Names {
				delete(out, id.Name)
			}
		}
	}
	return out
}

func mentionsAny(n ast.Node, names map[string]bool) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && names[id.Name] {
			found = true
		}
		return !found
	})
	return found
}

// checkLate checks the postponed bodies, each as a function of its own whose
// parameters include the receiver, in the scope of a package that has the new
// variables where the first check had the old ones.
func (a *attempt) checkLate() {
	if len(a.late) == 0 || len(a.errs) > 0 {
		for _, l := range a.late {
			l.decl.Body = l.body
		}
		return
	}
	replaced := maps.Clone(a.moved)
	for _, d := range a.defined {
		if a.in.declOnly { // it is a variable of the package already
			continue
		}
		v := types.NewVar(d.Obj.Pos(), a.pkg, d.Obj.Name(), d.Obj.Type())
		d.Obj, replaced[d.Key] = v, v
	}
	a.latePkg = a.extend(a.pkg, replaced)
	byFile := map[*token.File]*ast.File{}
	var files []*ast.File
	for i, l := range a.late {
		tf := a.s.fset.File(l.decl.Pos())
		f := byFile[tf]
		if f == nil {
			f = a.lateFile(tf)
			byFile[tf] = f
			files = append(files, f)
		}
		l.decl.Body = l.body
		f.Decls = append(f.Decls, a.lateDecl(l, i))
	}
	a.check(a.latePkg, files)
}

func (a *attempt) lateFile(tf *token.File) *ast.File {
	for _, f := range a.files {
		if a.s.fset.File(f.AST.Name.Pos()) == tf {
			late := &ast.File{Package: f.AST.Package, Name: f.AST.Name, FileStart: f.AST.FileStart, FileEnd: f.AST.FileEnd}
			for _, d := range f.AST.Decls {
				if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
					late.Decls = append(late.Decls, d)
				}
			}
			return late
		}
	}
	panic("front: a late function without a file")
}

func (a *attempt) lateDecl(l *lateFunc, i int) *ast.FuncDecl {
	t := *l.decl.Type
	params := &ast.FieldList{}
	if t.Params != nil {
		*params = *t.Params
	}
	if l.decl.Recv != nil {
		params.List = append(slices.Clone(l.decl.Recv.List), params.List...)
		t.TypeParams = a.receiverParams(l.decl.Recv)
	}
	params.List = named(params.List)
	t.Params = params
	name := &ast.Ident{Name: fmt.Sprintf("wb_late%d", i), NamePos: l.decl.Name.NamePos}
	return &ast.FuncDecl{Name: name, Type: &t, Body: l.body}
}

// receiverParams gives the type parameters of a generic receiver, with the
// constraints of the type's declaration.
func (a *attempt) receiverParams(recv *ast.FieldList) *ast.FieldList {
	var args []ast.Expr
	t := recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
			continue
		case *ast.ParenExpr:
			t = x.X
			continue
		case *ast.IndexExpr:
			args = []ast.Expr{x.Index}
		case *ast.IndexListExpr:
			args = x.Indices
		}
		break
	}
	spec := a.typeSpec(receiverBase(recv))
	if len(args) == 0 || spec == nil || spec.TypeParams == nil {
		return nil
	}
	out := &ast.FieldList{Opening: args[0].Pos(), Closing: args[len(args)-1].End()}
	i := 0
	for _, field := range spec.TypeParams.List {
		for range field.Names {
			if id, ok := args[i].(*ast.Ident); ok {
				out.List = append(out.List, &ast.Field{Names: []*ast.Ident{{Name: id.Name, NamePos: id.Pos()}}, Type: field.Type})
			}
			i++
		}
	}
	return out
}

func (a *attempt) typeSpec(name string) *ast.TypeSpec {
	for _, f := range a.files {
		for _, d := range f.AST.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE {
				for _, spec := range g.Specs {
					if ts := spec.(*ast.TypeSpec); ts.Name.Name == name {
						return ts
					}
				}
			}
		}
	}
	return nil
}

// named gives parameters without names the blank one, because Go wants all or
// none to be named.
func named(list []*ast.Field) []*ast.Field {
	var out []*ast.Field
	for _, f := range list {
		if len(f.Names) == 0 {
			f = &ast.Field{Names: []*ast.Ident{{Name: "_", NamePos: f.Type.Pos()}}, Type: f.Type}
		}
		out = append(out, f)
	}
	return out
}

package front

import (
	"go/ast"
	"go/token"
	"go/types"
)

// topDefinitions lists the identifiers that statements define, or may define,
// at the top level of the cell.
func topDefinitions(list []ast.Stmt) []*ast.Ident {
	var out []*ast.Ident
	for _, st := range list {
		for {
			l, ok := st.(*ast.LabeledStmt)
			if !ok {
				break
			}
			st = l.Stmt
		}
		out = append(out, Definitions(st)...)
	}
	return out
}

// Definitions lists the identifiers that one statement defines, or may define.
func Definitions(st ast.Stmt) []*ast.Ident {
	var out []*ast.Ident
	switch st := st.(type) {
	case *ast.AssignStmt:
		if st.Tok == token.DEFINE {
			for _, x := range st.Lhs {
				if id, ok := x.(*ast.Ident); ok && id.Name != "_" {
					out = append(out, id)
				}
			}
		}
	case *ast.DeclStmt:
		if d, ok := st.Decl.(*ast.GenDecl); ok && d.Tok == token.VAR {
			for _, spec := range d.Specs {
				for _, id := range spec.(*ast.ValueSpec).Names {
					if id.Name != "_" {
						out = append(out, id)
					}
				}
			}
		}
	}
	return out
}

// findDefined makes the symbols of the variables that the cell defines.
func (a *attempt) findDefined() {
	add := func(v *types.Var) {
		sym := &Symbol{Key: v.Name(), Kind: Var, Obj: v, Cell: a.in.src.Count}
		a.defined = append(a.defined, sym)
	}
	for _, id := range topDefinitions(a.bodyList()) {
		if v, ok := a.info.Defs[id].(*types.Var); ok {
			add(v)
		}
	}
	if a.in.declOnly {
		for _, name := range a.varNames() {
			if v, ok := a.pkg.Scope().Lookup(name).(*types.Var); ok && name != "_" {
				add(v)
			}
		}
	}
}

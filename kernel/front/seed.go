package front

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// seed puts the session's objects that the files mention into the package's
// scope, and gives the files their imports.
func (a *attempt) seed() {
	scope := a.pkg.Scope()
	if a.wrapped {
		anyType := types.Universe.Lookup("any").Type()
		param := types.NewVar(token.NoPos, a.pkg, "v", types.NewSlice(anyType))
		sig := types.NewSignatureType(nil, nil, nil, types.NewTuple(param), nil, true)
		scope.Insert(types.NewFunc(token.NoPos, a.pkg, showName, sig))
	}
	all := a.files
	if a.body != nil {
		all = append(slices.Clip(all), a.body)
	}
	own := map[string]string{}
	for _, f := range all {
		names, members := mentions(f.AST)
		first := firstMentions(f.AST)
		imports := f.Source.Imports
		if f.Source == a.in.src {
			imports = map[string]string{}
			for name := range names {
				if path := a.importOf(name, members[name]); path != "" {
					imports[name], own[name] = path, path
				}
			}
		}
		for name := range names {
			sym := a.s.symbols[name]
			if sym == nil || sym.Broken != "" || sym.Stale != "" || a.declared[name] || imports[name] != "" || a.broken[name] != "" || scope.Lookup(name) != nil {
				continue
			}
			scope.Insert(sym.Obj)
		}
		a.seedDots(names, imports)
		use := map[string]string{}
		for name, path := range imports {
			if names[name] {
				use[name] = path
			}
		}
		addImports(f, use, first)
	}
	a.parenthesize()
	a.in.src.Imports = own
}

// parenthesize wraps the right side of "type T U" where U is of an earlier cell:
// the checker takes a bare name in the package's scope for a declaration of the
// package. The wrappings are undone when it has run.
func (a *attempt) parenthesize() {
	for _, f := range a.files {
		ast.Inspect(f.AST, func(n ast.Node) bool {
			if _, local := n.(*ast.BlockStmt); local {
				return false
			}
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if id, ok := spec.Type.(*ast.Ident); ok && !a.declared[id.Name] {
				spec.Type = &ast.ParenExpr{Lparen: id.Pos(), X: id, Rparen: id.Pos()}
				a.wrappings = append(a.wrappings, spec)
			}
			return false
		})
	}
}

func (a *attempt) unwrap() {
	for _, spec := range a.wrappings {
		spec.Type = spec.Type.(*ast.ParenExpr).X
	}
	a.wrappings = nil
}

// seedDots inserts what the files mention of packages whose names are imported
// bare, unless the session has the name.
func (a *attempt) seedDots(names map[string]bool, imports map[string]string) {
	for _, path := range append(slices.Clip(a.s.dots), a.in.dots...) {
		pkg, err := a.s.importer.Import(path)
		if err != nil {
			continue
		}
		for name := range names {
			obj := pkg.Scope().Lookup(name)
			if obj == nil || !obj.Exported() || a.declared[name] || imports[name] != "" || a.pkg.Scope().Lookup(name) != nil {
				continue
			}
			a.pkg.Scope().Insert(obj)
		}
	}
}

// importOf says what package a name stands for: the cell's imports, then the
// session's symbols (which are no packages), then the session's imports, then
// any package of that name that has the members used.
func (a *attempt) importOf(name string, members []string) string {
	if p := a.in.imports[name]; p != "" {
		return p
	}
	if a.declared[name] || a.s.symbols[name] != nil {
		return ""
	}
	if p := a.s.imports[name]; p != "" {
		return p
	}
	if len(members) == 0 {
		return ""
	}
	candidates := a.s.packages.Load().ByName[name]
	for _, p := range candidates {
		pkg, err := a.s.importer.Import(p)
		if err != nil {
			continue
		}
		if !slices.ContainsFunc(members, func(m string) bool { return pkg.Scope().Lookup(m) == nil }) {
			return p
		}
	}
	if len(candidates) > 0 {
		return candidates[0]
	}
	return ""
}

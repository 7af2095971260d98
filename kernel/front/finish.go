package front

import (
	"go/ast"
	"go/types"
)

// finish turns a successful attempt into a cell: slots, dependencies, what is
// shown, what moves to a new type.
func (a *attempt) finish() *Cell {
	s, in := a.s, a.in
	c := &Cell{
		Count: in.src.Count, Package: s.prefix + itoa(s.cells), Pkg: a.pkg, pkgs: []*types.Package{a.pkg, a.bodyPkg, a.latePkg}, Fset: s.fset, Info: a.info,
		Decls: a.files, Body: a.body, Defined: a.defined, HasMain: in.hasMain, Blank: in.blanks,
		Unused: map[*ast.Ident]bool{}, Embeds: map[*Symbol][]string{}, session: s, imports: in.imports, dots: in.dots, broken: a.broken, migrated: a.moved,
		vars: map[types.Object]*Symbol{}, local: map[types.Object]bool{},
	}
	c.Units = append(append(c.Units, in.units...), a.affected...)
	a.allot(c)
	a.depend(c)
	for id := range a.info.Defs {
		if a.unused[id.Pos()] {
			c.Unused[id] = true
		}
	}
	if a.in.declOnly {
		c.Inits = a.inits
	}
	a.decideShow(c)
	for _, d := range c.Defined {
		if patterns := in.embeds[d.Key]; patterns != nil {
			c.Embeds[d] = patterns
		}
	}
	return c
}

// allot gives the variables their slots. A variable that is defined again with
// the same type keeps its slot, so that earlier functions see the new one.
func (a *attempt) allot(c *Cell) {
	byName := map[string]*Symbol{}
	for _, d := range c.Defined {
		if old := a.s.symbols[d.Key]; old != nil && old.Kind == Var && types.Identical(old.Obj.Type(), d.Obj.Type()) {
			d.Slot = old.Slot
		} else {
			a.s.slots++
			d.Slot = a.s.slots
		}
		byName[d.Key] = d
		c.vars[d.Obj] = d
	}
	for _, sym := range a.s.symbols {
		if sym.Kind == Var {
			c.vars[sym.Obj] = sym
			if v := a.moved[sym.Key]; v != nil {
				c.vars[v] = sym
			}
		}
	}
	for _, id := range topDefinitions(a.bodyList()) {
		if obj := a.info.Defs[id]; obj != nil && byName[id.Name] != nil {
			c.vars[obj] = byName[id.Name]
			c.local[obj] = true
		}
	}
}

// depend records which keys every unit uses.
func (a *attempt) depend(c *Cell) {
	if len(c.Units) == 0 {
		return
	}
	key := map[types.Object]string{}
	for k, sym := range a.s.symbols {
		if sym.Obj != nil {
			key[sym.Obj] = k
		}
	}
	for _, name := range a.pkg.Scope().Names() {
		key[a.pkg.Scope().Lookup(name)] = name
	}
	for _, d := range c.Defined {
		key[d.Obj] = d.Key
	}
	for name, v := range a.moved {
		if v != nil {
			key[v] = name
		}
	}
	for _, f := range a.files {
		for _, d := range f.AST.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				for _, spec := range g.Specs {
					a.dependNode(c, f, spec, key)
				}
				continue
			}
			a.dependNode(c, f, d, key)
		}
	}
}

func (a *attempt) dependNode(c *Cell, f *File, n ast.Node, key map[types.Object]string) {
	start, _ := f.span(a.s.fset, n)
	var unit *Unit
	for _, u := range c.Units {
		if u.Source != f.Source {
			continue
		}
		if r := u.Ranges[u.main]; start >= r[0] && start < r[1] {
			unit = u
		}
	}
	if unit == nil {
		return
	}
	deps := map[string]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		obj := a.info.Uses[id]
		if pkgName, ok := obj.(*types.PkgName); ok {
			deps[pkgName.Name()] = true
		}
		if k := key[obj]; k != "" {
			deps[k] = true
		} else if fn, ok := obj.(*types.Func); ok {
			if k := key[fn.Origin()]; k != "" {
				deps[k] = true
			}
		}
		return true
	})
	for _, k := range unit.Keys {
		delete(deps, k)
	}
	if unit.Deps == nil || unit.Kind != Const {
		unit.Deps = deps
		return
	}
	for k := range deps {
		unit.Deps[k] = true
	}
}

// decideShow says whether the last expression is shown: not when it has no
// value, and not the count and error of fmt.Print, fmt.Scan and their like.
func (a *attempt) decideShow(c *Cell) {
	if a.show == nil {
		return
	}
	if a.wrapped {
		a.show.X = a.show.X.(*ast.CallExpr).Args[0]
		c.Show, c.Quiet = a.show, !a.in.show
		return
	}
	if !a.in.show {
		return
	}
	tv := a.info.Types[a.show.X]
	if tv.IsVoid() || tv.Type == nil {
		return
	}
	if t, ok := tv.Type.(*types.Tuple); ok && t.Len() == 0 {
		return
	}
	if call, ok := ast.Unparen(a.show.X).(*ast.CallExpr); ok && a.isPrint(call) {
		return
	}
	c.Show = a.show
}

// isPrint recognizes a function of package fmt that returns (n int, err error).
func (a *attempt) isPrint(call *ast.CallExpr) bool {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	fn, ok := a.info.Uses[sel.Sel].(*types.Func)
	if !ok || fn.Pkg() == nil || fn.Pkg().Path() != "fmt" {
		return false
	}
	switch fn.Name() {
	case "Print", "Println", "Printf", "Fprint", "Fprintln", "Fprintf", "Scan", "Scanln", "Scanf", "Fscan", "Fscanln", "Fscanf":
		return true
	}
	return false
}

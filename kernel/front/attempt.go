package front

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// An attempt is one try at checking a cell together with the units that depend
// on what it declares anew.
type attempt struct {
	s       *Session
	in      *input
	broken  map[string]string // units that do not compile any more, by key
	changed map[string]bool   // variables that get another type
	// wrapCall says that the last expression, a call, may not be a statement: a
	// builtin or a conversion.
	wrapCall bool

	pkg       *types.Package        // of the declarations
	bodyPkg   *types.Package        // of the statements: sees earlier variables with their new types
	latePkg   *types.Package        // of postponed bodies: sees the variables that the statements define
	moved     map[string]*types.Var // earlier variables whose type has a new version; nil: cannot move
	info      *types.Info
	errs      []types.Error
	files     []*File // declarations, the cell's own first
	body      *File
	affected  []*Unit
	declared  map[string]bool // package-level names of this package
	late      []*lateFunc
	show      *ast.ExprStmt
	wrapped   bool
	wrappings []*ast.TypeSpec // see parenthesize
	defined   []*Symbol
	inits     []*types.Initializer
	unused    map[token.Pos]bool
}

func (a *attempt) run() {
	s := a.s
	s.cells++
	a.pkg = types.NewPackage("main", "main")
	a.info = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
		Instances: map[*ast.Ident]types.Instance{}, Scopes: map[ast.Node]*types.Scope{},
	}
	a.unused = map[token.Pos]bool{}
	a.collect()
	a.parse()
	a.seed()
	a.postpone()
	var asts []*ast.File
	for _, f := range a.files {
		asts = append(asts, f.AST)
	}
	a.check(a.pkg, asts)
	a.inits = slices.Clone(a.info.InitOrder) // the checks that follow start it again
	a.unwrap()
	a.move()
	if a.body != nil {
		a.bodyPkg = a.extend(a.pkg, a.moved)
		a.check(a.bodyPkg, []*ast.File{a.body.AST})
	}
	a.findDefined()
	a.checkLate()
}

// extend makes a package that sees what base sees, with some variables replaced.
func (a *attempt) extend(base *types.Package, replaced map[string]*types.Var) *types.Package {
	pkg := types.NewPackage("main", "main")
	scope := pkg.Scope()
	for _, v := range replaced {
		if v != nil {
			scope.Insert(v)
		}
	}
	for _, name := range base.Scope().Names() {
		if _, gone := replaced[name]; !gone {
			scope.Insert(base.Scope().Lookup(name))
		}
	}
	return pkg
}

// move finds the earlier variables whose types this cell gives a new version. A
// variable that cannot take the new type (nil in moved) is not seen any more.
func (a *attempt) move() {
	a.moved = map[string]*types.Var{}
	for sym, t := range a.migrate() {
		a.moved[sym.Key] = nil
		if t != nil {
			a.moved[sym.Key] = types.NewVar(sym.Obj.Pos(), a.pkg, sym.Key, t)
		}
	}
}

// collect decides which units are checked: the cell's own and those affected.
func (a *attempt) collect() {
	keys := map[string]bool{}
	for k := range a.changed {
		keys[k] = true
	}
	own := map[string]bool{}
	replaced := map[string]*Unit{} // types declared again by this cell: their old units
	for _, u := range a.in.units {
		for _, k := range u.Keys {
			keys[k], own[k] = true, true
			if old := a.s.symbols[k]; u.Kind == Type && old != nil {
				replaced[k] = old.Unit
			}
		}
		if u.Base != "" {
			keys[u.Base] = true
		}
	}
	if a.in.declOnly {
		for _, name := range a.varNames() {
			own[name] = true
			if a.changed[name] {
				keys[name] = true
			}
		}
	}
	for name, path := range a.in.imports {
		if _, isName := a.s.symbols[name]; isName || a.s.imports[name] != "" && a.s.imports[name] != path {
			own[name] = true
		}
	}
	a.affected = a.s.dependants(keys, func(u *Unit) bool {
		if old := replaced[u.Base]; old != nil && old.Source == u.Source {
			return true
		}
		return slices.ContainsFunc(u.Keys, func(k string) bool { return own[k] || a.broken[k] != "" })
	})
	a.declared = own
	for _, u := range a.affected {
		for _, k := range u.Keys {
			a.declared[k] = true
		}
	}
}

// varNames lists the variables that a cell of declarations declares.
func (a *attempt) varNames() []string {
	src := a.in.src
	f, err := a.s.parseDecls(src, blank(src.Text, a.in.chunks, func(_ int, c Chunk) bool { return c.Kind == Var }))
	if err != nil {
		return nil
	}
	var names []string
	for _, d := range f.AST.Decls {
		for _, spec := range d.(*ast.GenDecl).Specs {
			for _, id := range spec.(*ast.ValueSpec).Names {
				names = append(names, id.Name)
			}
		}
	}
	return names
}

// parse makes the files: one for the cell's declarations, one for every earlier
// cell with affected units, and the statements.
func (a *attempt) parse() {
	bySource := map[*Source][]*Unit{a.in.src: a.in.units}
	order := []*Source{a.in.src}
	for _, u := range a.affected {
		if bySource[u.Source] == nil {
			order = append(order, u.Source)
		}
		bySource[u.Source] = append(bySource[u.Source], u)
	}
	for _, src := range order {
		var ranges [][2]int
		for _, u := range bySource[src] {
			ranges = append(ranges, u.Ranges...)
		}
		if src == a.in.src && a.in.declOnly {
			for _, c := range a.in.chunks {
				if c.Kind == Var {
					ranges = append(ranges, [2]int{c.Start, c.End})
				}
			}
		}
		if len(ranges) == 0 {
			continue
		}
		f, err := a.s.parseDecls(src, overlay(src.Text, ranges))
		if err != nil { // it parsed before
			a.errs = append(a.errs, types.Error{Fset: a.s.fset, Msg: err.Error()})
			continue
		}
		a.files = append(a.files, f)
	}
	if !a.in.declOnly {
		if a.body, a.in.body = a.in.body, nil; a.body == nil { // it parsed before
			a.body, _ = a.s.parseBody(a.in.src, a.in.bodyText())
		}
		a.wrapShow()
	}
}

func (a *attempt) bodyList() []ast.Stmt {
	if a.body == nil {
		return nil
	}
	return a.body.AST.Decls[len(a.body.AST.Decls)-1].(*ast.FuncDecl).Body.List
}

// wrapShow makes the last expression an argument, so that it counts as used. A
// call stays as it is: whether it has a value is known only after the check.
func (a *attempt) wrapShow() {
	list := a.bodyList()
	if !a.in.last || len(list) == 0 {
		return
	}
	for len(list) > 1 {
		if _, empty := list[len(list)-1].(*ast.EmptyStmt); !empty {
			break
		}
		list = list[:len(list)-1]
	}
	st, ok := list[len(list)-1].(*ast.ExprStmt)
	if !ok {
		return
	}
	a.show = st
	x := ast.Unparen(st.X)
	_, call := x.(*ast.CallExpr)
	if un, ok := x.(*ast.UnaryExpr); ok && un.Op == token.ARROW {
		call = true
	}
	if !call || a.wrapCall {
		a.wrapped = true
		st.X = &ast.CallExpr{Fun: &ast.Ident{Name: showName, NamePos: st.X.Pos()}, Lparen: st.X.Pos(), Args: []ast.Expr{st.X}, Rparen: st.X.End()}
	}
}

func (a *attempt) check(pkg *types.Package, files []*ast.File) {
	conf := types.Config{
		GoVersion:                "go1.26",
		Importer:                 a.s.importer,
		DisableUnusedImportCheck: true,
		Sizes:                    types.SizesFor("gc", "amd64"),
		Error: func(err error) {
			e, ok := err.(types.Error)
			if !ok {
				e = types.Error{Fset: a.s.fset, Msg: err.Error()}
			}
			if strings.HasPrefix(e.Msg, "declared and not used: ") {
				a.unused[e.Pos] = true
				return
			}
			if strings.HasPrefix(e.Msg, "implicit assignment to unexported field ") && strings.Contains(e.Msg, "of type main.") {
				return // go/types compares packages here, and a session is many with one path
			}
			a.errs = append(a.errs, e)
		},
	}
	_ = types.NewChecker(&conf, a.s.fset, pkg, a.info).Files(files)
}

// cyclic says that a variable depends on itself, as the variables of a package
// must not.
func (a *attempt) cyclic() bool {
	return slices.ContainsFunc(a.errs, func(e types.Error) bool { return strings.HasPrefix(e.Msg, "initialization cycle") })
}

// needsWrap says that Go calls the last expression unused.
func (a *attempt) needsWrap() bool {
	return a.show != nil && !a.wrapped && slices.ContainsFunc(a.errs, func(e types.Error) bool {
		return strings.HasSuffix(e.Msg, " is not used") && e.Pos >= a.show.Pos() && e.Pos < a.show.End()
	})
}

// brokenUnits takes the errors that are in earlier cells' units out of the
// check: those units are excluded from the next attempt, and the user is told.
func (a *attempt) brokenUnits() []Diagnostic {
	var out []Diagnostic
	for _, e := range a.errs {
		p := a.s.fset.Position(e.Pos)
		u := a.unitAt(e.Pos)
		if u == nil || strings.HasPrefix(e.Msg, "\t") {
			continue
		}
		for _, k := range u.Keys {
			if a.broken[k] == "" {
				known := a.s.symbols[k] != nil && a.s.symbols[k].Broken != ""
				a.broken[k] = fmt.Sprintf("%s (cell [%d]) does not compile any more since cell [%d] changed what it uses: %s (line %d)",
					k, u.Source.Count, a.in.src.Count, strings.ReplaceAll(e.Msg, "main.", ""), p.Line)
				out = append(out, Diagnostic{Cell: p.Filename, Line: p.Line, Col: p.Column, Msg: a.broken[k], known: known})
			}
		}
	}
	return out
}

// unitAt finds the affected unit that a position lies in.
func (a *attempt) unitAt(pos token.Pos) *Unit {
	for _, f := range a.files {
		tf := a.s.fset.File(pos)
		if f.Source == a.in.src || tf != a.s.fset.File(f.AST.Name.Pos()) {
			continue
		}
		off := tf.Offset(pos) - f.Offset
		for _, u := range a.affected {
			if r := u.Ranges[u.main]; u.Source == f.Source && off >= r[0] && off < r[1] {
				return u
			}
		}
	}
	return nil
}

// moreChanged looks for variables that get another type although earlier
// functions use them; those functions join the next attempt.
func (a *attempt) moreChanged() bool {
	more := false
	for _, d := range a.defined {
		old := a.s.symbols[d.Key]
		if old == nil || a.changed[d.Key] {
			continue
		}
		if old.Kind == Var && types.Identical(old.Obj.Type(), d.Obj.Type()) {
			continue
		}
		a.changed[d.Key] = true
		if len(a.s.dependants(map[string]bool{d.Key: true}, func(*Unit) bool { return false })) > 0 {
			more = true
		}
	}
	return more
}

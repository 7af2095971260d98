package front

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
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
	unused    map[token.Pos]bool
}

// A lateFunc mentions variables that the cell's statements define: its body is
// checked when their types are known.
type lateFunc struct {
	decl *ast.FuncDecl
	body *ast.BlockStmt
	file *File
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
		a.body, _ = a.s.parseBody(a.in.src, a.in.bodyText())
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

// postpone takes out the bodies of functions that mention what the statements
// define, or variables whose types get a new version.
func (a *attempt) postpone() {
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

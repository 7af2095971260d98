package assist

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/warpbook/warpbook/kernel/front"
	"github.com/warpbook/warpbook/kernel/gotool"
)

// A view is one cell's source, checked tolerantly against the session. Offsets
// are bytes of src.
type view struct {
	src    string
	chunks []front.Chunk
	fset   *token.FileSet
	decls  half
	body   half
	info   *types.Info
	pkg    *types.Package
}

// half is one of the two files that a cell becomes: base is the position of
// the cell's first byte in it.
type half struct {
	ast  *ast.File
	base token.Pos
}

const (
	declsPrefix = "package main;"
	bodyPrefix  = "package main;func _(){"
)

// look reads src, in which magics are blanked out.
func (a *Assistant) look(src string) *view {
	v := &view{src: src, chunks: front.Split([]byte(src)), fset: token.NewFileSet()}
	toks, _ := scan(src)
	closing := closers(toks)
	declOpen := len(v.chunks) > 0 && isDecl(v.chunks[len(v.chunks)-1].Kind)
	declTail, bodyTail := "\n", "\n"+closing
	if declOpen {
		declTail, bodyTail = "\n"+closing, "\n"
	}
	v.decls = v.parse(declsPrefix, v.keep(isDecl)+declTail)
	v.body = v.parse(bodyPrefix, v.keep(func(k front.Kind) bool { return k == front.Stmt || k == front.Var })+bodyTail+"\n}")
	scope := a.seed(v)
	v.check(scope)
	if vars := v.bodyVars(); len(vars) > 0 && len(v.decls.ast.Decls) > 0 {
		// Declarations may use variables that the statements define.
		for _, obj := range vars {
			scope = append(scope, types.NewVar(obj.Pos(), v.pkg, obj.Name(), obj.Type()))
		}
		v.check(scope)
	}
	return v
}

func isDecl(k front.Kind) bool {
	return k == front.Func || k == front.Type || k == front.Const
}

// keep blanks everything but the chunks of some kinds.
func (v *view) keep(want func(front.Kind) bool) string {
	out := []byte(spaces(v.src, 0, len(v.src)))
	for _, c := range v.chunks {
		if want(c.Kind) {
			copy(out[c.Start:c.End], v.src[c.Start:c.End])
		}
	}
	return string(out)
}

// parse never fails: go/parser returns what it understood.
func (v *view) parse(prefix, text string) half {
	size := v.fset.Base()
	f, _ := parser.ParseFile(v.fset, "", prefix+text, parser.SkipObjectResolution|parser.ParseComments|parser.AllErrors)
	return half{f, token.Pos(size + len(prefix))}
}

// pos is the position of an offset, in the file of the chunk that holds it.
func (v *view) pos(offset int) (token.Pos, *ast.File) {
	for _, c := range v.chunks {
		if c.Start <= offset && offset <= c.End && isDecl(c.Kind) {
			return v.decls.base + token.Pos(offset), v.decls.ast
		}
	}
	return v.body.base + token.Pos(offset), v.body.ast
}

// offset is where in the cell a position is; -1 when it is elsewhere.
func (v *view) offset(p token.Pos) int {
	for _, h := range []half{v.decls, v.body} {
		if o := int(p - h.base); o >= 0 && o <= len(v.src) {
			return o
		}
	}
	return -1
}

// check fills in types; every error is ignored.
func (v *view) check(scope []types.Object) {
	v.info = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}, Scopes: map[ast.Node]*types.Scope{},
	}
	v.pkg = types.NewPackage(ownPath, "main")
	for _, obj := range scope {
		if p, ok := obj.(*types.PkgName); ok { // go/types wants them to be of the package
			obj = types.NewPkgName(token.NoPos, v.pkg, p.Name(), p.Imported())
		}
		v.pkg.Scope().Insert(obj)
	}
	conf := types.Config{Error: func(error) {}, Importer: noImporter{}, DisableUnusedImportCheck: true}
	checker := types.NewChecker(&conf, v.fset, v.pkg, v.info)
	_ = checker.Files([]*ast.File{v.decls.ast, v.body.ast}) // told to Error already
}

// noImporter: the files have no import declarations, the scope is seeded instead.
type noImporter struct{}

func (noImporter) Import(path string) (*types.Package, error) {
	return nil, &importError{path}
}

type importError struct{ path string }

func (e *importError) Error() string { return "cannot import " + e.path }

// bodyVars are the variables that the statements define at their top level.
func (v *view) bodyVars() []types.Object {
	var vars []types.Object
	for _, d := range v.body.ast.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		scope := v.info.Scopes[f.Type]
		if scope == nil {
			continue
		}
		for _, name := range scope.Names() {
			if obj, ok := scope.Lookup(name).(*types.Var); ok && name != "_" && v.pkg.Scope().Lookup(name) == nil {
				vars = append(vars, obj)
			}
		}
	}
	return vars
}

// seed returns what the names in the cell mean outside it: objects of the
// session, then the cell's imports, the session's, and packages that would be
// imported without being asked for. Only names that occur are looked up, so
// the cost does not grow with the session.
func (a *Assistant) seed(v *view) []types.Object {
	declared := v.declared()
	imports := a.imports(v)
	var scope []types.Object
	seen := map[string]bool{}
	toks, _ := scan(v.src)
	for i, t := range toks {
		if t.tok != token.IDENT || seen[t.lit] || declared[t.lit] {
			continue
		}
		selector := i > 0 && toks[i-1].tok == token.PERIOD
		if selector {
			continue
		}
		seen[t.lit] = true
		qualifies := i+1 < len(toks) && toks[i+1].tok == token.PERIOD
		if obj := a.outside(t.lit, qualifies, imports); obj != nil {
			scope = append(scope, obj)
		}
	}
	return scope
}

// outside resolves a name that the cell does not declare. Only a name before a
// dot is taken for a package that nobody has imported.
func (a *Assistant) outside(name string, qualifies bool, imports map[string]string) types.Object {
	path, imported := imports[name]
	if !imported {
		if obj := a.session.Object(name); obj != nil {
			return obj
		}
		if path, imported = a.session.Imports()[name]; !imported {
			if !qualifies || types.Universe.Lookup(name) != nil {
				return nil
			}
			paths := a.session.PathsOf(name)
			if len(paths) == 0 {
				return nil
			}
			path = paths[0]
		}
	}
	pkg := a.load(path)
	if pkg == nil {
		return nil
	}
	return types.NewPkgName(token.NoPos, nil, name, pkg)
}

// load returns a package that the session brings or has imported, or nil. Other
// paths may be half typed, and to look for those at each key would be slow.
func (a *Assistant) load(path string) *types.Package {
	if path != "unsafe" && !a.brings(path) && !slices.Contains(slices.Collect(maps.Values(a.session.Imports())), path) {
		return nil
	}
	pkg, err := a.session.Import(path)
	if err != nil {
		return nil
	}
	return pkg
}

func (a *Assistant) brings(path string) bool {
	return slices.ContainsFunc(a.session.Packages(), func(p gotool.Package) bool { return p.Path == path })
}

// declared are the package-level names of the cell's declarations.
func (v *view) declared() map[string]bool {
	names := map[string]bool{}
	for _, d := range v.decls.ast.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names[d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					names[s.Name.Name] = true
				case *ast.ValueSpec:
					for _, n := range s.Names {
						names[n.Name] = true
					}
				}
			}
		}
	}
	return names
}

// imports reads the cell's import declarations: name to path.
func (a *Assistant) imports(v *view) map[string]string {
	imports := map[string]string{}
	for _, c := range v.chunks {
		if c.Kind != front.Import {
			continue
		}
		f, _ := parser.ParseFile(token.NewFileSet(), "", "package main;"+v.src[c.Start:c.End], parser.ImportsOnly)
		if f == nil {
			continue
		}
		for _, spec := range f.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				continue
			}
			if spec.Name != nil {
				imports[spec.Name.Name] = path
			} else {
				imports[a.nameOf(path)] = path
			}
		}
	}
	return imports
}

func (a *Assistant) nameOf(path string) string {
	packages := a.session.Packages()
	if i := slices.IndexFunc(packages, func(p gotool.Package) bool { return p.Path == path }); i >= 0 {
		return packages[i].Name
	}
	if pkg := a.load(path); pkg != nil {
		return pkg.Name()
	}
	return path[strings.LastIndexByte(path, '/')+1:]
}

// path returns the nodes of a file around a position, outermost first. A node
// that ends at the position still holds it.
func path(f *ast.File, pos token.Pos) []ast.Node {
	var nodes []ast.Node
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil || pos < n.Pos() || pos > n.End() {
			return false
		}
		nodes = append(nodes, n)
		return true
	})
	return nodes
}

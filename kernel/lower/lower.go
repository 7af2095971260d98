// Package lower turns a checked cell into what the engines run: a script for
// yaegi where every construct in it is known to be exact there, and Go source
// for a plugin otherwise.
//
// The model: the compiled form is the user's own text with small edits, none of
// which adds a line, so that //line directives keep positions exact. The edits
// are of four kinds: session variables become loads from their slots; functions
// become methods of the package's type WbX, and other cells' declarations are
// reached through the packages that hold them; unexported fields of other
// cells' types are reached through a struct of the same layout; guards make
// loops, waits and goroutines interruptible.
package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/warpbook/warpbook/kernel/engine"
	"github.com/warpbook/warpbook/kernel/front"
)

// RuntimePath is the package that compiled cells call.
const RuntimePath = "github.com/warpbook/warpbook/kernel/rt"

// Unit is Go source to compile into one package.
type Unit struct {
	Path    string            // package path
	Files   map[string][]byte // by file name
	Imports []string          // direct imports, other cells' packages included
	Entry   bool              // there is something to run
	Embeds  []string          // patterns of //go:embed directives
}

// Compiled lowers a cell to Go source.
func Compiled(c *front.Cell) (unit Unit, err error) {
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(failure)
			if !ok {
				panic(r)
			}
			err = f.err
		}
	}()
	p := newPackage(c)
	for i, f := range c.Decls {
		body, nodes := p.decls(f)
		p.file(fmt.Sprintf("decl%d.go", i), nodes, body)
	}
	p.entry()
	p.embeds()
	p.glue()
	unit = Unit{Path: c.Package, Files: p.files, Entry: true, Embeds: p.patterns}
	for path := range p.paths {
		unit.Imports = append(unit.Imports, path)
	}
	sort.Strings(unit.Imports)
	return unit, nil
}

// A failure is an error that ends the lowering of a cell.
type failure struct{ err error }

func (p *pkg) fail(n ast.Node, format string, args ...any) {
	pos := p.c.Fset.Position(n.Pos())
	panic(failure{fmt.Errorf("%s: %s", front.Readable(pos.String()), fmt.Sprintf(format, args...))})
}

// pkg is the package being written.
type pkg struct {
	c        *front.Cell
	files    map[string][]byte
	paths    map[string]bool         // imports of all files
	aliases  map[string]types.Object // session types and constants of other cells, by name
	slots    map[*front.Symbol]bool  // variables that the code refers to
	spelled  map[string]string       // import path to alias, of the file being written
	patterns []string
	loops    int                        // counters so far
	inits    int                        // func init seen
	symbols  []string                   // what the engine is told of: Go expressions by name
	written  map[*ast.SelectorExpr]bool // package variables that are assigned to, or whose address is taken
}

func newPackage(c *front.Cell) *pkg {
	p := &pkg{c: c, files: map[string][]byte{}, paths: map[string]bool{}, aliases: map[string]types.Object{}, slots: map[*front.Symbol]bool{}}
	p.written = map[*ast.SelectorExpr]bool{}
	for _, f := range append(c.Decls[:len(c.Decls):len(c.Decls)], c.Body) {
		if f != nil {
			findWritten(f.AST, p.written)
		}
	}
	p.reset()
	return p
}

// findWritten collects the qualified identifiers that are written to.
func findWritten(f *ast.File, out map[*ast.SelectorExpr]bool) {
	mark := func(x ast.Expr) {
		if sel, ok := ast.Unparen(x).(*ast.SelectorExpr); ok {
			out[sel] = true
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				mark(x)
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				mark(n.X)
			}
		}
		return true
	})
}

// reset starts a new file.
func (p *pkg) reset() { p.spelled = map[string]string{} }

// importAs returns the name under which the file being written imports a path.
func (p *pkg) importAs(path string) string {
	if name, ok := p.spelled[path]; ok {
		return name
	}
	name := fmt.Sprintf("wbi%d", len(p.spelled))
	switch path {
	case RuntimePath:
		name = "wbrt"
	case "unsafe":
		name = "wbunsafe"
	case "reflect":
		name = "wbreflect"
	}
	p.spelled[path] = name
	return name
}

func (p *pkg) rt() string        { return p.importAs(RuntimePath) }
func (p *pkg) unsafePtr() string { return p.importAs("unsafe") + ".Pointer" }
func (p *pkg) home(obj types.Object) string {
	home := p.c.Home(obj)
	if home == p.c.Package {
		return ""
	}
	return home
}

// file writes one file: the imports that the nodes in it mention, then body.
func (p *pkg) file(name string, nodes []ast.Node, body string) {
	var b strings.Builder
	b.WriteString("package main\n")
	p.writeImports(&b, nodes)
	paths := make([]string, 0, len(p.spelled))
	for path := range p.spelled {
		paths = append(paths, path)
	}
	sort.Strings(paths)
	for _, path := range paths {
		name := p.spelled[path]
		if name != "_" && !strings.Contains(body, name+".") {
			continue // asked for by text that was then written otherwise
		}
		fmt.Fprintf(&b, "import %s %q\n", name, path)
		p.paths[path] = true
	}
	b.WriteString(body)
	p.files[name] = []byte(b.String())
	p.reset()
}

// writeImports repeats the user's imports that the nodes still mention: those
// whose every use became a call of the run time are left out.
func (p *pkg) writeImports(b *strings.Builder, nodes []ast.Node) {
	used := map[string]string{}
	for _, n := range nodes {
		ast.Inspect(n, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if id, ok := sel.X.(*ast.Ident); ok {
				if pn, ok := p.c.Info.Uses[id].(*types.PkgName); ok && p.guarded(sel) == "" {
					used[pn.Name()] = pn.Imported().Path()
				}
			}
			return true
		})
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		fmt.Fprintf(b, "import %s %q\n", name, used[name])
		p.paths[used[name]] = true
	}
}

// entry writes the function that runs the cell.
func (p *pkg) entry() {
	c := p.c
	var b strings.Builder
	body := ""
	if c.Body != nil {
		r := &renderer{p: p, f: c.Body, body: true, bound: map[*front.Symbol]bool{}}
		body = r.statements()
		b.WriteString("func wb_entry() {\n")
		for _, sym := range sortedSymbols(r.bound) {
			fmt.Fprintf(&b, "wb_p%d := *wb_s%d\n", sym.Slot, sym.Slot)
			p.slots[sym] = true
		}
	} else {
		b.WriteString("func wb_entry() {\n")
	}
	if c.Body == nil {
		p.writeInits(&b)
	}
	for i := range p.inits {
		fmt.Fprintf(&b, "(WbX{}).I_%d()\n", i)
	}
	if c.Body != nil {
		fmt.Fprintf(&b, "//line %s:1:1\n%s\n", front.FileName(c.Count), body)
	}
	if c.HasMain {
		fmt.Fprintf(&b, "(WbX{}).F_main()\n")
	}
	b.WriteString("}\n")
	var nodes []ast.Node
	if c.Body != nil {
		nodes = []ast.Node{c.Body.AST}
	}
	for _, in := range c.Inits {
		nodes = append(nodes, in.Rhs)
	}
	for _, path := range c.Blank {
		p.spelled[path] = "_"
	}
	p.file("entry.go", nodes, b.String())
}

func sortedSymbols(set map[*front.Symbol]bool) []*front.Symbol {
	var out []*front.Symbol
	for s := range set {
		out = append(out, s)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Slot < out[j].Slot })
	return out
}

// writeInits runs the initializers of a cell of declarations in Go's order. The
// variables without one get their zero values first.
func (p *pkg) writeInits(b *strings.Builder) {
	c := p.c
	for _, sym := range c.Uninitialized() {
		p.slots[sym] = true
		value := fmt.Sprintf("%s.New[%s]()", p.rt(), p.typeString(sym.Obj.Type()))
		if len(c.Embeds[sym]) > 0 {
			value = fmt.Sprintf("&wb_e%d", sym.Slot)
		}
		fmt.Fprintf(b, "*wb_s%d = %s; %s.Define(%d)\n", sym.Slot, value, p.rt(), sym.Slot)
	}
	for i, in := range c.Inits {
		p.writeInit(b, i, in)
	}
}

func (p *pkg) writeInit(b *strings.Builder, i int, in *types.Initializer) {
	c := p.c
	f := p.fileOf(in.Rhs)
	r := &renderer{p: p, f: f}
	pos := c.Fset.Position(in.Rhs.Pos())
	line := fmt.Sprintf("//line %s:%d:%d\n", pos.Filename, pos.Line, pos.Column)
	rhs := r.node(in.Rhs)
	if len(in.Lhs) == 1 {
		v := in.Lhs[0]
		sym, _ := c.Variable(v)
		if sym == nil {
			fmt.Fprintf(b, "_ =\n%s%s\n", line, rhs)
			return
		}
		p.slots[sym] = true
		declared := ""
		if f.HasType(in.Rhs) {
			declared = p.typeString(v.Type())
		}
		fmt.Fprintf(b, "var wb_t%d %s =\n%s%s; *wb_s%d = &wb_t%d; %s.Define(%d)\n", i, declared, line, rhs, sym.Slot, i, p.rt(), sym.Slot)
		return
	}
	var names, sets []string
	for j, v := range in.Lhs {
		sym, _ := c.Variable(v)
		if sym == nil {
			names = append(names, "_")
			continue
		}
		p.slots[sym] = true
		name := fmt.Sprintf("wb_t%d_%d", i, j)
		names = append(names, name)
		sets = append(sets, fmt.Sprintf("{ wb_v := %s.New[%s](); *wb_v = %s; *wb_s%d = wb_v; %s.Define(%d) }", p.rt(), p.typeString(v.Type()), name, sym.Slot, p.rt(), sym.Slot))
	}
	fmt.Fprintf(b, "var %s =\n%s%s; %s\n", strings.Join(names, ", "), line, rhs, strings.Join(sets, "; "))
}

func (p *pkg) fileOf(n ast.Node) *front.File {
	tf := p.c.Fset.File(n.Pos())
	for _, f := range p.c.Decls {
		if p.c.Fset.File(f.AST.Name.Pos()) == tf {
			return f
		}
	}
	panic(failure{fmt.Errorf("an initializer belongs to no file")})
}

// embeds writes the variables that the compiler fills with files.
func (p *pkg) embeds() {
	if len(p.c.Embeds) == 0 {
		return
	}
	var b strings.Builder
	for _, sym := range p.c.Defined {
		patterns := p.c.Embeds[sym]
		if patterns == nil {
			continue
		}
		b.WriteString("//go:embed")
		for _, pattern := range patterns {
			fmt.Fprintf(&b, " %q", pattern)
		}
		p.importAs("embed")
		fmt.Fprintf(&b, "\nvar wb_e%d %s\n", sym.Slot, p.typeString(sym.Obj.Type()))
		p.patterns = append(p.patterns, patterns...)
	}
	fmt.Fprintf(&b, "var _ %s.FS\n", p.importAs("embed"))
	p.file("embed.go", nil, b.String())
}

// glue writes what ties the package to the session: slots, aliases for other
// cells' types and constants, exports for later cells, and the registration.
func (p *pkg) glue() {
	var b strings.Builder
	bySlot := map[int]*front.Symbol{}
	for sym := range p.slots {
		bySlot[sym.Slot] = sym
	}
	for _, sym := range p.c.Defined { // a variable that is defined again is one slot with the old one
		bySlot[sym.Slot] = sym
	}
	b.WriteString("type WbX struct{}\nfunc main() {}\n")
	for _, slot := range slices.Sorted(maps.Keys(bySlot)) {
		t := p.typeString(p.c.TypeOf(bySlot[slot]))
		fmt.Fprintf(&b, "var wb_s%d = (**%s)(%s(%s.Slot(%d)))\n", slot, t, p.unsafePtr(), p.rt(), slot)
	}
	p.exports(&b)
	p.writeAliases(&b) // last: all of the above may have asked for more
	refl := p.importAs("reflect")
	fmt.Fprintf(&b, "func init() {\n")
	for _, sym := range p.c.Defined {
		fmt.Fprintf(&b, "%s.Zero[%s](%d)\n", p.rt(), p.typeString(sym.Obj.Type()), sym.Slot)
	}
	fmt.Fprintf(&b, "%s.Register(%q, wb_entry, %s.Symbols{\n", p.rt(), p.c.Package, p.rt())
	for _, s := range p.symbols {
		b.WriteString(strings.ReplaceAll(s, "§", refl))
	}
	b.WriteString("})\n}\n")
	p.file("glue.go", nil, b.String())
}

// exports makes the package's types and constants reachable from other cells.
func (p *pkg) exports(b *strings.Builder) {
	scope := p.c.Pkg.Scope()
	for _, name := range scope.Names() {
		obj := scope.Lookup(name)
		if obj.Pkg() != p.c.Pkg || name == "_" {
			continue
		}
		switch obj := obj.(type) {
		case *types.TypeName:
			params, args := p.typeParams(obj)
			fmt.Fprintf(b, "type WbT_%s%s = %s%s\n", name, params, name, args)
			if params == "" && !isConstraint(obj.Type()) {
				// A nil pointer without a name that the cell may have given away, and
				// without making the type a type argument, which not every type can be.
				p.symbols = append(p.symbols, fmt.Sprintf("\t%q: §.ValueOf(func() *%s { var p *%s; return p }()),\n", "T_"+name, name, name))
			}
		case *types.Const:
			fmt.Fprintf(b, "const WbC_%s = %s\n", name, name)
		case *types.Func:
			sig := obj.Signature()
			if sig.TypeParams().Len() == 0 && !strings.HasPrefix(name, "wb_") && name != "init" {
				p.symbols = append(p.symbols, fmt.Sprintf("\t%q: §.ValueOf((WbX{}).F_%s),\n", "F_"+name, name))
			}
		}
	}
}

// isConstraint says that a type is an interface that only constrains.
func isConstraint(t types.Type) bool {
	iface, ok := t.Underlying().(*types.Interface)
	return ok && !iface.IsMethodSet()
}

func (p *pkg) writeAliases(b *strings.Builder) {
	done := map[string]bool{}
	for len(done) < len(p.aliases) {
		var names []string
		for name := range p.aliases {
			if !done[name] {
				names = append(names, name)
			}
		}
		sort.Strings(names)
		for _, name := range names {
			done[name] = true
			obj := p.aliases[name]
			from := p.importAs(p.home(obj))
			switch obj := obj.(type) {
			case *types.TypeName:
				params, args := p.typeParams(obj)
				fmt.Fprintf(b, "type %s%s = %s.WbT_%s%s\n", name, params, from, name, args)
			case *types.Const:
				fmt.Fprintf(b, "const %s = %s.WbC_%s\n", name, from, name)
			}
		}
	}
}

// typeParams spells a generic type's parameters, as declared and as used.
func (p *pkg) typeParams(tn *types.TypeName) (params, args string) {
	var list *types.TypeParamList
	switch t := tn.Type().(type) {
	case *types.Named:
		list = t.TypeParams()
	case *types.Alias:
		list = t.TypeParams()
	}
	if list.Len() == 0 {
		return "", ""
	}
	var ps, as []string
	for tp := range list.TypeParams() {
		name := tp.Obj().Name()
		if name == "_" {
			name = fmt.Sprintf("wb_T%d", tp.Index())
		}
		ps = append(ps, name+" "+p.typeString(tp.Constraint()))
		as = append(as, name)
	}
	return "[" + strings.Join(ps, ", ") + "]", "[" + strings.Join(as, ", ") + "]"
}

// typeString spells a type in the file being written.
func (p *pkg) typeString(t types.Type) string {
	p.need(t, map[types.Type]bool{})
	s := types.TypeString(spellable(t), func(other *types.Package) string {
		if other.Path() == "main" {
			return ""
		}
		return p.importAs(other.Path())
	})
	return s
}

// need asks for aliases of the other cells' types that t is spelled with.
func (p *pkg) need(t types.Type, seen map[types.Type]bool) {
	front.WalkNamed(t, seen, func(tn *types.TypeName) { p.refer(tn) })
}

// refer notes that the code mentions a session type or constant by its name.
func (p *pkg) refer(obj types.Object) {
	if obj.Pkg() == nil || obj.Pkg().Path() != "main" || p.c.Owns(obj) {
		return
	}
	if p.c.Home(obj) != "" {
		p.aliases[obj.Name()] = obj
	}
}

// Program is the part of engine.Program that depends on the cell alone.
func Program(c *front.Cell) engine.Program {
	return engine.Program{Count: c.Count, Name: front.FileName(c.Count)}
}

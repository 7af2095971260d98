// Package front is the typed front end of a session: it turns a cell's source
// into a checked cell, and knows everything that the cells so far declared.
//
// The model: a session is a scope of symbols. A cell is split into its top-level
// chunks: imports, declarations (types, functions, constants: order-free, as in
// a Go package) and statements, which form the body of one function; what those
// statements define at their top level become session variables. The cell is
// checked by go/types as a package of its own whose scope is seeded with the
// session's objects, so the cost does not grow with the session. All packages
// have the path "main", which makes unexported fields and methods visible from
// cell to cell.
//
// Declaring a name again gives it a new version, and every unit (one
// declaration) that depends on it is checked and compiled again with it. A
// check changes nothing; Commit does, after the cell has run.
package front

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Packages are what cells may import without saying so.
type Packages struct {
	Names  []string
	ByName map[string][]string // name to paths, best first
}

// Session is everything declared so far. Its methods may be called from
// several goroutines.
type Session struct {
	mu       sync.Mutex
	fset     *token.FileSet
	parsed   []*token.File // files of fset that the current check has added
	importer types.Importer
	packages atomic.Pointer[Packages]
	symbols  map[string]*Symbol
	imports  map[string]string // name to path
	dots     []string          // packages whose names are imported bare
	homes    map[types.Object]string
	cells    int // packages so far
	slots    int
	prefix   string // of package paths
}

// New returns an empty session. Cells are compiled into packages whose paths
// start with prefix.
func New(prefix string, fset *token.FileSet, importer types.Importer, packages Packages) *Session {
	s := &Session{
		fset:     fset,
		importer: importer,
		symbols:  map[string]*Symbol{},
		imports:  map[string]string{},
		homes:    map[types.Object]string{},
		prefix:   prefix,
	}
	s.SetPackages(packages)
	return s
}

// SetPackages changes what cells may import without saying so.
func (s *Session) SetPackages(p Packages) { s.packages.Store(&p) }

// A Symbol is one name of the session.
type Symbol struct {
	Key  string // the name, or "T.m" for a method
	Kind Kind   // Var, Func, Type or Const
	Obj  types.Object
	Cell int   // the n of "cell [n]" that declared it
	Unit *Unit // its declaration; nil for a variable
	Slot int   // where a variable lives
	// Stale says why a variable can no longer be used: its type is gone.
	Stale string
	// Broken says why a declaration does not compile any more; it is tried
	// again with every change to what it uses.
	Broken string
}

// Home is the path of the package that holds the symbol's code.
func (s *Symbol) Home() string {
	if s.Unit == nil {
		return ""
	}
	return s.Unit.Home
}

// A Source is the text of one cell and the imports that it was compiled with.
type Source struct {
	Count   int
	Text    []byte
	Imports map[string]string // name to path, only those mentioned
}

// A Unit is one declaration of a cell: a function, a method, one type, or a
// group of constants.
type Unit struct {
	Kind   Kind
	Source *Source
	Ranges [][2]int // bytes of Source.Text that make it up
	main   int      // the range that is its own: the others are the type keyword and parentheses
	Keys   []string
	Base   string          // for a method: the receiver's type
	Deps   map[string]bool // keys that it uses
	Home   string          // package that holds its code
	own    bool            // declared by the cell being checked
}

func (u *Unit) text() string {
	var s string
	for _, r := range u.Ranges {
		s += string(u.Source.Text[r[0]:r[1]]) + "\x00"
	}
	return s
}

// Text is the declaration's source.
func (u *Unit) Text() string {
	r := u.Ranges[u.main]
	text := string(u.Source.Text[r[0]:r[1]])
	if u.Kind == Type {
		return "type " + text
	}
	return text
}

// Fset resolves positions of the session's objects; files are named "cell[n]".
func (s *Session) Fset() *token.FileSet { return s.fset }

// Symbols returns the names of the session in order, without methods.
func (s *Session) Symbols() []*Symbol {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*Symbol
	for _, key := range slices.Sorted(maps.Keys(s.symbols)) {
		if sym := s.symbols[key]; sym.Obj != nil && sym.Broken == "" && sym.Key == sym.Obj.Name() {
			out = append(out, sym)
		}
	}
	return out
}

// Lookup returns the session's symbol of a name, or nil.
func (s *Session) Lookup(name string) *Symbol {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sym := s.symbols[name]; sym != nil && sym.Broken == "" {
		return sym
	}
	return nil
}

// Home returns the package that holds a session object of any version, or "".
func (s *Session) Home(obj types.Object) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.homes[obj]
}

// Imports returns the session's imports, name to path.
func (s *Session) Imports() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.imports)
}

// Import gives the types of a package.
func (s *Session) Import(path string) (*types.Package, error) { return s.importer.Import(path) }

// PathsOf says which packages have a name, best first.
func (s *Session) PathsOf(name string) []string { return s.packages.Load().ByName[name] }

// A Cell is a checked cell: what lower turns into a program.
type Cell struct {
	Count   int
	Package string // path of the package to compile it into
	Pkg     *types.Package
	Fset    *token.FileSet
	Info    *types.Info

	Decls []*File // declarations to compile: this cell's, and those that depend on what it declares anew
	Body  *File   // statements, in the body of the only function; nil when there are none

	Defined  []*Symbol            // variables that the cell defines, with slots
	Units    []*Unit              // all units that Decls hold
	Inits    []*types.Initializer // for a cell of declarations: its variables in Go's order
	Unused   map[*ast.Ident]bool  // variables that nothing uses: Go would refuse
	Show     *ast.ExprStmt        // the last expression, when it is to be shown
	Quiet    bool                 // Show ends in a semicolon: it is evaluated and not shown
	HasMain  bool                 // declares func main: call it at the end
	Blank    []string             // paths imported for their effects
	Embeds   map[*Symbol][]string // patterns of the variables that are files
	Warnings []Diagnostic         // earlier declarations that no longer compile

	session  *Session
	parsed   []*token.File
	pkgs     []*types.Package // those that its code was checked in
	imports  map[string]string
	dots     []string
	broken   map[string]string
	migrated map[string]*types.Var    // earlier variables that move to the new version of their type; nil: they cannot
	vars     map[types.Object]*Symbol // variables as this cell's code sees them
	local    map[types.Object]bool    // variables that are locals of Body
}

// A File is parsed source whose positions are those of the cell.
type File struct {
	Source *Source
	AST    *ast.File
	Text   []byte // what was parsed
	Offset int    // bytes of Text before the cell's own
}

// Variable returns the session variable that obj is, or nil. Local says that
// in the cell's own statements it is an ordinary local variable.
func (c *Cell) Variable(obj types.Object) (sym *Symbol, local bool) {
	return c.vars[obj], c.local[obj]
}

// Uninitialized lists the variables of a cell of declarations that no
// initializer gives a value.
func (c *Cell) Uninitialized() []*Symbol {
	initialized := map[types.Object]bool{}
	for _, in := range c.Inits {
		for _, v := range in.Lhs {
			initialized[v] = true
		}
	}
	var out []*Symbol
	for _, sym := range c.Defined {
		if !initialized[sym.Obj] {
			out = append(out, sym)
		}
	}
	return out
}

// TypeOf is the type of a session variable in the code that c compiles.
func (c *Cell) TypeOf(sym *Symbol) types.Type {
	if v := c.migrated[sym.Key]; v != nil && c.vars[v] == sym {
		return v.Type()
	}
	return sym.Obj.Type()
}

// Home returns the package that holds obj's code: this cell's or an earlier
// one's; "" for what is not of the session.
func (c *Cell) Home(obj types.Object) string {
	if c.Owns(obj) {
		return c.Package
	}
	return c.session.homes[obj]
}

// Owns says whether obj was declared in the code that c compiles.
func (c *Cell) Owns(obj types.Object) bool {
	return obj.Pkg() != nil && slices.Contains(c.pkgs, obj.Pkg())
}

// HasType says whether the declaration of a variable with this initializer
// names the type.
func (f *File) HasType(rhs ast.Expr) bool {
	found := false
	ast.Inspect(f.AST, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && spec.Type != nil {
			for _, v := range spec.Values {
				found = found || v == rhs
			}
		}
		return !found
	})
	return found
}

// Owner finds the symbol that declared an object of the session, or nil.
func (s *Session) Owner(obj types.Object) *Symbol {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sym := range s.symbols {
		if sym.Obj == obj {
			return sym
		}
	}
	return nil
}

// Doc is the comment right above the declaration.
func (u *Unit) Doc() string {
	start := u.Ranges[0][0]
	if u.main > 1 {
		start = u.Ranges[u.main][0]
	}
	lines := strings.Split(string(u.Source.Text[:start]), "\n")
	var doc []string
	for i := len(lines) - 2; i >= 0; i-- {
		text, ok := strings.CutPrefix(strings.TrimSpace(lines[i]), "//")
		if !ok {
			break
		}
		doc = append([]string{strings.TrimPrefix(text, " ")}, doc...)
	}
	return strings.Join(doc, "\n")
}

// Forget drops the positions of a cell that declares nothing: a long session
// must not keep the files of every cell. It is called when the cell has run and
// its errors are told.
func (s *Session) Forget(c *Cell) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(c.Units) > 0 || len(c.Defined) > 0 {
		return
	}
	for _, f := range c.parsed {
		s.fset.RemoveFile(f)
	}
}

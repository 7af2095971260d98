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

// showName is the function that the last expression of a cell is an argument
// of while it is checked, so that Go does not call it unused.
const showName = "wb_show"

// Check parses and checks a cell against the session. It changes nothing; the
// diagnostics are all that is wrong with the cell, in order.
func (s *Session) Check(count int, code string) (*Cell, []Diagnostic) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parsed = nil
	cell, diags := s.check(count, code)
	if cell != nil {
		cell.parsed = s.parsed
		return cell, nil
	}
	for _, f := range s.parsed { // the diagnostics hold their positions as text
		s.fset.RemoveFile(f)
	}
	return nil, diags
}

func (s *Session) check(count int, code string) (*Cell, []Diagnostic) {
	in, diags := s.read(count, code)
	if len(diags) > 0 {
		return nil, sortDiagnostics(diags)
	}
	in.keepUnchanged(s)
	broken := map[string]string{}
	var warnings []Diagnostic
	changed := map[string]bool{}
	wrapCall := false
	for range 20 { // each round excludes a unit or adds a changed variable
		a := &attempt{s: s, in: in, broken: broken, changed: changed, wrapCall: wrapCall}
		a.run()
		if a.needsWrap() {
			wrapCall = true
			continue
		}
		if d := a.brokenUnits(); len(d) > 0 {
			warnings = append(warnings, slices.DeleteFunc(d, func(d Diagnostic) bool { return d.known })...)
			continue
		}
		if a.moreChanged() {
			continue
		}
		if in.declOnly && a.cyclic() { // "var x = x + 1" means an earlier x
			in.declOnly = false
			continue
		}
		if len(a.errs) > 0 {
			return nil, sortDiagnostics(s.explain(a, typeDiagnostics(s.fset, a.errs)))
		}
		cell := a.finish()
		cell.Warnings = warnings
		return cell, nil
	}
	return nil, []Diagnostic{{Cell: FileName(count), Line: 1, Col: 1, Msg: "the declarations that depend on this cell cannot be put in order"}}
}

// input is a cell as read: split and parsed, nothing resolved.
type input struct {
	src      *Source
	chunks   []Chunk
	declOnly bool
	body     *File   // the statements, for the first attempt; nil afterwards
	units    []*Unit // own declarations, less those that are kept
	imports  map[string]string
	blanks   []string
	dots     []string // packages whose names are imported bare
	last     bool     // the last chunk is a statement
	show     bool     // and has no semicolon
	hasMain  bool
	embeds   map[string][]string // patterns of //go:embed, by variable
}

func (s *Session) read(count int, code string) (*input, []Diagnostic) {
	src := &Source{Count: count, Text: []byte(code)}
	in := &input{src: src, chunks: Split(src.Text), declOnly: true}
	for _, c := range in.chunks {
		if c.Kind == Stmt {
			in.declOnly = false
		}
	}
	if n := len(in.chunks); n > 0 {
		last := in.chunks[n-1]
		in.last = last.Kind == Stmt
		in.show = in.last && !last.Semicolon
	}
	var diags []Diagnostic
	in.imports, in.blanks, in.dots, diags = s.parseImports(src, in.chunks)
	var err error
	if !in.declOnly {
		in.body, err = s.parseBody(src, in.bodyText())
		diags = append(diags, syntaxDiagnostics(src, err)...)
	}
	if !slices.ContainsFunc(in.chunks, in.isDecl) {
		if len(diags) > 0 {
			return nil, diags
		}
		return in, nil
	}
	decls, err := s.parseDecls(src, blank(src.Text, in.chunks, func(_ int, c Chunk) bool { return in.isDecl(c) }))
	diags = append(diags, syntaxDiagnostics(src, err)...)
	if len(diags) > 0 {
		return nil, diags
	}
	in.units = units(src, in.chunks, s.fset, decls)
	for _, u := range in.units {
		in.hasMain = in.hasMain || u.Kind == Func && u.Base == "" && u.Keys[0] == "main"
	}
	return in, append(in.readEmbeds(s, decls), duplicates(s, decls)...)
}

// isDecl says which chunks are declarations of the package. In a cell of
// declarations alone variables are, too, so that they may depend on each other
// in any order; in a cell with statements they take their turn among those.
func (in *input) isDecl(c Chunk) bool {
	switch c.Kind {
	case Func, Type, Const:
		return true
	case Var:
		return in.declOnly
	}
	return false
}

func (in *input) bodyText() []byte {
	return blank(in.src.Text, in.chunks, func(_ int, c Chunk) bool {
		return c.Kind == Stmt || c.Kind == Var && !in.declOnly
	})
}

// duplicates refuses a method or function that one cell declares twice, which
// go/types would say with names that the user never wrote.
func duplicates(s *Session, f *File) []Diagnostic {
	seen := map[string]token.Pos{}
	var out []Diagnostic
	for _, d := range f.AST.Decls {
		fd, ok := d.(*ast.FuncDecl)
		if !ok || fd.Recv != nil || fd.Name.Name == "init" || fd.Name.Name == "_" {
			continue
		}
		if first, dup := seen[fd.Name.Name]; dup {
			diag := diagnostic(s.fset, fd.Name.Pos(), fd.Name.Name+" redeclared in this cell")
			diag.Notes = []string{fmt.Sprintf("line %d: other declaration of %s", s.fset.Position(first).Line, fd.Name.Name)}
			out = append(out, diag)
		}
		seen[fd.Name.Name] = fd.Name.Pos()
	}
	return out
}

// keepUnchanged drops from the input the declarations that the session has
// already, word for word, and whose dependencies do not change either: running
// a cell again keeps its types, and so the variables of those types.
func (in *input) keepUnchanged(s *Session) {
	kept := map[*Unit]bool{}
	for _, u := range in.units {
		kept[u] = s.hasUnit(u)
	}
	for again := true; again; {
		again = false
		fresh := map[string]bool{}
		for _, u := range in.units {
			if !kept[u] {
				for _, k := range u.Keys {
					fresh[k] = true
				}
				if u.Base != "" {
					fresh[u.Base] = true
				}
			}
		}
		for name := range in.imports {
			if s.imports[name] != in.imports[name] {
				fresh[name] = true
			}
		}
		for _, u := range in.units {
			if !kept[u] {
				continue
			}
			old := s.symbols[u.Keys[0]].Unit
			for k := range fresh {
				if old.Deps[k] || u.Base == k || slices.Contains(u.Keys, k) {
					kept[u], again = false, true
				}
			}
		}
	}
	in.units = slices.DeleteFunc(in.units, func(u *Unit) bool { return kept[u] })
}

func (s *Session) hasUnit(u *Unit) bool {
	if u.Kind == Func && u.Base == "" && (u.Keys[0] == "init" || u.Keys[0] == "main" || u.Keys[0] == "_") {
		return false
	}
	for _, k := range u.Keys {
		sym := s.symbols[k]
		if sym == nil || sym.Unit == nil || sym.Unit.text() != u.text() {
			return false
		}
	}
	return true
}

// dependants returns the units of the session that use any of the keys, and
// the units that use those, without the ones that skip refuses.
func (s *Session) dependants(keys map[string]bool, skip func(*Unit) bool) []*Unit {
	dirty := maps.Clone(keys)
	in := map[*Unit]bool{}
	for again := true; again; {
		again = false
		for key, sym := range s.symbols {
			if sym.Kind == Var {
				if !dirty[key] && typeMentions(sym.Obj.Type(), dirty) {
					dirty[key], again = true, true
				}
				continue
			}
			u := sym.Unit
			if u == nil || in[u] || skip(u) {
				continue
			}
			if u.Base != "" && dirty[u.Base] || slices.ContainsFunc(u.Keys, func(k string) bool { return dirty[k] }) || intersects(u.Deps, dirty) {
				in[u], again = true, true
				for _, k := range u.Keys {
					dirty[k] = true
				}
				if u.Base != "" { // a method makes its type new
					dirty[u.Base] = true
				}
			}
		}
	}
	out := slices.Collect(maps.Keys(in))
	slices.SortFunc(out, func(a, b *Unit) int {
		if a.Source.Count != b.Source.Count {
			return a.Source.Count - b.Source.Count
		}
		return a.Ranges[0][0] - b.Ranges[0][0]
	})
	return out
}

func intersects(a, b map[string]bool) bool {
	for k := range a {
		if b[k] {
			return true
		}
	}
	return false
}

// explain makes the checker's messages better: names that are gone say why, and
// names that are nearly right are suggested.
func (s *Session) explain(a *attempt, ds []Diagnostic) []Diagnostic {
	for i := range ds {
		name, ok := strings.CutPrefix(ds[i].Msg, "undefined: ")
		if !ok {
			continue
		}
		if sym := s.symbols[name]; sym != nil && sym.Broken != "" {
			ds[i].Msg = sym.Broken
			continue
		}
		if sym := s.symbols[name]; sym != nil && sym.Stale != "" {
			ds[i].Msg = sym.Stale
			continue
		}
		if v, ok := a.moved[name]; ok && v == nil {
			ds[i].Msg = staleReason(a.in.src.Count, name)
			continue
		}
		if why := a.broken[name]; why != "" {
			ds[i].Msg = why
			continue
		}
		if near := s.nearest(name, a); near != "" {
			ds[i].Notes = append(ds[i].Notes, "did you mean "+near+"?")
		}
	}
	return ds
}

// nearest finds a known name within an edit or two.
func (s *Session) nearest(name string, a *attempt) string {
	best, dist := "", 3
	switch {
	case len(name) < 3:
		return ""
	case len(name) < 5:
		dist = 2
	}
	consider := func(candidate string) {
		if d := distance(name, candidate); d < dist && candidate != name {
			best, dist = candidate, d
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.symbols)) {
		consider(key)
	}
	for _, n := range slices.Sorted(maps.Keys(a.declared)) {
		consider(n)
	}
	for _, n := range types.Universe.Names() {
		consider(n)
	}
	for _, n := range slices.Sorted(maps.Keys(s.imports)) {
		consider(n)
	}
	dist = min(dist, 2) // a package that nobody has spoken of must be nearer
	for _, n := range s.packages.Load().Names {
		consider(n)
	}
	return best
}

// distance is the number of letters to insert, drop, replace or swap with their
// neighbours; case does not count.
func distance(a, b string) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
	if max(len(a), len(b)) > min(len(a), len(b))+2 {
		return 3
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}

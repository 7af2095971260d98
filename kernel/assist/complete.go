package assist

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// placeholder stands for the name that is not typed yet. It is no name that
// anyone uses.
const placeholder = "wbʹcursor"

// ranks order completions: what is nearest comes first.
const (
	rankField = iota // keys of the literal that is being typed
	rankLocal
	rankSession
	rankPackage
	rankUniverse
	rankKeyword
	rankImport // packages that are not imported yet
)

// A candidate is a completion before it is sorted.
type candidate struct {
	Item
	rank  int
	depth int // of embedding, for members
}

// Complete returns what may stand at a cursor, which counts code points.
func (a *Assistant) Complete(code string, cursor int) Completion {
	m := NewMapper(code)
	offset := m.Byte(cursor)
	start, items := a.complete(code, offset)
	c := Completion{Start: m.Point(start), End: m.Point(offset)}
	sortCandidates(items, code[start:offset])
	for _, it := range items {
		if n := len(c.Items); n == 0 || c.Items[n-1].Text != it.Text {
			c.Items = append(c.Items, it.Item)
		}
	}
	return c
}

// complete finds the candidates and where the text begins that they replace.
func (a *Assistant) complete(code string, offset int) (int, []candidate) {
	if start, items, ok := a.completeMagic(code, offset); ok {
		return start, items
	}
	src, magics := blankMagics(code)
	if slices.ContainsFunc(magics, func(m span) bool { return m.start < offset && offset <= m.end }) {
		return offset, nil
	}
	toks, _ := scan(src)
	if t, inside := at(toks, offset); t.tok == token.STRING && (inside || !closed(t.lit)) {
		return a.completeImport(src, toks, t, offset)
	} else if unfit(t, inside) {
		return offset, nil
	}
	start := wordStart(src, offset)
	prev := before(toks, start)
	if prev >= 0 && toks[prev].tok == token.PERIOD {
		return start, match(a.members(src, start, offset), src[start:offset])
	}
	if prev >= 0 && names(toks, prev) {
		return offset, nil
	}
	return start, match(a.inScope(src, toks, prev, start, offset), src[start:offset])
}

// closed tells whether a string literal has its closing quote.
func closed(lit string) bool { return len(lit) > 1 && lit[len(lit)-1] == lit[0] }

// unfit tells whether nothing can be completed at a token: in a comment, behind
// a literal.
func unfit(t tok, inside bool) bool {
	switch t.tok {
	case token.COMMENT:
		return inside || strings.HasPrefix(t.lit, "//") || !strings.HasSuffix(t.lit, "*/")
	case token.STRING, token.INT, token.FLOAT, token.IMAG, token.CHAR:
		return true
	}
	return false
}

// names tells whether what follows token i is a new name, or a number of dots.
func names(toks []tok, i int) bool {
	switch toks[i].tok {
	case token.FUNC, token.TYPE, token.VAR, token.CONST, token.PACKAGE, token.GOTO, token.IMPORT:
		return toks[i].tok != token.FUNC || !expression(toks, i)
	}
	return false
}

// expression tells whether token i stands where an expression goes on, so that
// func begins a literal or a type.
func expression(toks []tok, i int) bool {
	return i > 0 && toks[i-1].tok != token.SEMICOLON && toks[i-1].tok != token.LBRACE
}

func wordStart(src string, offset int) int {
	for offset > 0 {
		r, n := utf8.DecodeLastRuneInString(src[:offset])
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		offset -= n
	}
	return offset
}

// inScope returns all names that the cursor sees.
func (a *Assistant) inScope(src string, toks []tok, prev, start, offset int) []candidate {
	v, pos, file := a.lookAt(src, start, offset)
	items, only := keys(v, path(file, pos), pos)
	if only {
		return items
	}
	items = append(items, v.locals(pos)...)
	declared := map[string]bool{}
	for _, it := range items {
		declared[it.Text] = true
	}
	for name := range v.declared() {
		if obj := v.pkg.Scope().Lookup(name); obj != nil && !declared[name] {
			declared[name] = true
			items = append(items, describe(obj, rankSession))
		}
	}
	for _, name := range a.session.Names() {
		if declared[name] || !begins(name, src[start:offset]) {
			continue
		}
		if obj := a.session.Object(name); obj != nil {
			declared[name] = true
			items = append(items, describe(obj, rankSession))
		}
	}
	for _, name := range types.Universe.Names() {
		if !declared[name] {
			items = append(items, describe(types.Universe.Lookup(name), rankUniverse))
		}
	}
	items = append(items, a.packages(v, declared, start < offset)...)
	for _, k := range keywords(toks, prev) {
		items = append(items, candidate{Item: Item{Text: k, Type: "keyword"}, rank: rankKeyword})
	}
	return items
}

// lookAt reads the cell with a name at the cursor: the one typed so far, or the
// placeholder. When the brackets of the cell do not fit, what follows the
// cursor is left out.
func (a *Assistant) lookAt(src string, start, offset int) (*view, token.Pos, *ast.File) {
	name := ""
	if start == offset {
		name = placeholder
	}
	text := src[:offset] + name + src[offset:]
	if toks, errs := scan(text); closers(toks) != "" || len(errs) > 0 {
		text = src[:offset] + name
	}
	v := a.look(text)
	pos, file := v.pos(start)
	return v, pos, file
}

// locals are the variables, constants and types of the functions around pos
// that are declared before it.
func (v *view) locals(pos token.Pos) []candidate {
	var items []candidate
	seen := map[string]bool{}
	innermost := v.pkg.Scope().Innermost(pos)
	for scope := innermost; scope != nil && scope != v.pkg.Scope() && scope != types.Universe; scope = scope.Parent() {
		for _, name := range scope.Names() {
			obj := scope.Lookup(name)
			// LookupParent knows where the scope of a name begins: behind its declaration.
			if _, visible := innermost.LookupParent(name, pos); visible != obj || seen[name] || name == placeholder {
				continue
			}
			seen[name] = true
			items = append(items, describe(obj, rankLocal))
		}
	}
	return items
}

// packages are the names of packages: imported ones, and when something is
// typed already, those that would be imported by being used.
func (a *Assistant) packages(v *view, declared map[string]bool, typed bool) []candidate {
	var items []candidate
	seen := map[string]bool{}
	add := func(name, path string, rank int) {
		if !declared[name] && !seen[name] && name != "_" && name != "." {
			seen[name] = true
			items = append(items, candidate{Item: Item{Text: name, Type: "package", Signature: path}, rank: rank})
		}
	}
	for name, path := range a.imports(v) {
		add(name, path, rankPackage)
	}
	for name, path := range a.session.Imports() {
		add(name, path, rankPackage)
	}
	if typed {
		for _, p := range a.session.Packages() {
			if paths := a.session.PathsOf(p.Name); len(paths) > 0 && paths[0] == p.Path {
				add(p.Name, p.Path, rankImport)
			}
		}
	}
	return items
}

// starters begin a statement; inner ones may stand inside an expression.
var (
	starters = []string{"break", "case", "const", "continue", "default", "defer", "fallthrough", "for", "func", "go", "goto", "if", "import", "return", "select", "switch", "type", "var"}
	inner    = []string{"chan", "func", "interface", "map", "struct"}
)

// keywords are those that fit behind a token.
func keywords(toks []tok, prev int) []string {
	if prev < 0 {
		return starters
	}
	switch toks[prev].tok {
	case token.SEMICOLON, token.LBRACE, token.COLON:
		return starters
	case token.RBRACE:
		return []string{"else"}
	case token.ELSE:
		return []string{"if"}
	case token.FOR, token.DEFINE, token.ASSIGN:
		return append([]string{"range"}, inner...)
	}
	return inner
}

// completeMagic completes the name of a magic at the start of a line.
func (a *Assistant) completeMagic(code string, offset int) (int, []candidate, bool) {
	from := strings.LastIndexByte(code[:offset], '\n') + 1
	word := strings.TrimLeft(code[from:offset], " \t")
	if !strings.HasPrefix(word, "%") || strings.ContainsAny(word, " \t") {
		return 0, nil, false
	}
	start := offset - len(word)
	// A line of Go may begin with % only inside a raw string or a comment.
	toks, _ := scan(code[:start])
	if n := len(toks); n > 0 && (toks[n-1].tok == token.STRING || toks[n-1].tok == token.COMMENT) && toks[n-1].end == start {
		return 0, nil, false
	}
	first := strings.TrimSpace(code[:start]) == ""
	var items []candidate
	for _, m := range a.magics {
		if strings.HasPrefix(m.Name, word) && (first || !strings.HasPrefix(m.Name, "%%")) {
			items = append(items, candidate{Item: Item{Text: m.Name, Type: "magic", Signature: m.Help}})
		}
	}
	return start, items, true
}

// completeImport completes a path inside the string of an import declaration.
func (a *Assistant) completeImport(src string, toks []tok, t tok, offset int) (int, []candidate) {
	if !importing(toks, t) {
		return offset, nil
	}
	typed := src[t.start+1 : offset]
	var items []candidate
	for _, p := range a.session.Packages() {
		if strings.HasPrefix(p.Path, typed) {
			items = append(items, candidate{Item: Item{Text: p.Path, Type: "package", Signature: p.Name}})
		}
	}
	return t.start + 1, items
}

// importing tells whether a string is the path of an import: only names,
// strings and parentheses lie between it and the keyword.
func importing(toks []tok, str tok) bool {
	for i := slices.Index(toks, str) - 1; i >= 0; i-- {
		switch toks[i].tok {
		case token.IMPORT:
			return true
		case token.IDENT, token.STRING, token.LPAREN, token.SEMICOLON, token.PERIOD, token.COMMENT:
		default:
			return false
		}
	}
	return false
}

// match keeps the candidates that begin with what is typed, in any case.
func match(items []candidate, typed string) []candidate {
	return slices.DeleteFunc(items, func(c candidate) bool {
		return !begins(c.Text, typed) || strings.HasPrefix(c.Text, placeholder)
	})
}

func begins(name, typed string) bool {
	return len(name) >= len(typed) && strings.EqualFold(name[:len(typed)], typed)
}

// sortCandidates puts those in the exact case first, then goes by rank and name.
func sortCandidates(items []candidate, typed string) {
	exact := func(c candidate) int {
		if strings.HasPrefix(c.Text, typed) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(items, func(x, y candidate) int {
		if d := exact(x) - exact(y); d != 0 {
			return d
		}
		if d := x.rank - y.rank; d != 0 {
			return d
		}
		if d := x.depth - y.depth; d != 0 {
			return d
		}
		return strings.Compare(x.Text, y.Text)
	})
}

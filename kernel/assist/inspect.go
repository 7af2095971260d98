package assist

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

// Inspection is what is known about what is under a cursor, as plain text and
// as Markdown.
type Inspection struct {
	Found    bool
	Plain    string
	Markdown string
}

// A description is what is known of a thing, before it is laid out.
type description struct {
	code   string // declaration or signature, in Go
	doc    string // doc comment
	source string
	// missing says why there is no source
	missing string
	where   string // a sentence
	home    string // package whose doc links it has
}

// Inspect describes what is at a cursor, which counts code points: the name
// there, or else the function whose call surrounds it. Detail 1 adds source.
func (a *Assistant) Inspect(code string, cursor, detail int) Inspection {
	offset := NewMapper(code).Byte(cursor)
	d, ok := a.inspect(code, offset, detail)
	if !ok {
		return Inspection{}
	}
	if detail < 1 {
		d.source, d.missing = "", ""
	}
	return Inspection{Found: true, Plain: a.plain(d), Markdown: a.markdown(d)}
}

func (a *Assistant) inspect(code string, offset, detail int) (description, bool) {
	src, magics := blankMagics(code)
	for _, l := range magics {
		if l.start <= offset && offset <= l.end {
			return a.describeMagic(code[l.start:l.end])
		}
	}
	toks, _ := scan(src)
	for _, t := range touching(toks, offset) {
		switch {
		case t.tok == token.COMMENT:
			return description{}, false
		case t.tok == token.STRING && importing(toks, t):
			path, err := strconv.Unquote(t.lit)
			if err != nil {
				return description{}, false
			}
			return a.describePackage(path, detail)
		case t.tok.IsKeyword():
			return description{code: t.tok.String(), doc: keywordHelp[t.tok]}, true
		case t.tok == token.IDENT:
			if d, ok := a.describeName(src, t, detail); ok {
				return d, true
			}
		}
	}
	if t, ok := callee(toks, offset); ok {
		return a.describeName(src, t, detail)
	}
	return description{}, false
}

// touching are the tokens at a cursor: the one that it is in or before, then
// the one that ends there.
func touching(toks []tok, offset int) []tok {
	var found []tok
	for _, t := range toks {
		if t.start <= offset && offset < t.end {
			found = append([]tok{t}, found...)
		} else if t.end == offset && t.start < t.end && !(t.tok == token.COMMENT && strings.HasPrefix(t.lit, "/*")) {
			found = append(found, t)
		}
	}
	return found
}

// callee is the name of the function whose argument list holds the cursor.
func callee(toks []tok, offset int) (tok, bool) {
	depth := 0
	for i := before(toks, offset); i > 0; i-- {
		switch toks[i].tok {
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth++
		case token.LBRACK, token.LBRACE:
			depth--
		case token.LPAREN:
			if depth--; depth < 0 {
				j := beforeBrackets(toks, i-1)
				if j >= 0 && toks[j].tok == token.IDENT && (j == 0 || toks[j-1].tok != token.FUNC) {
					return toks[j], true
				}
				depth = 0 // parentheses of an expression: look further out
			}
		}
		if depth < 0 {
			depth = 0
		}
	}
	return tok{}, false
}

// beforeBrackets steps over type arguments that end at token i.
func beforeBrackets(toks []tok, i int) int {
	depth := 0
	for ; i >= 0; i-- {
		switch toks[i].tok {
		case token.RBRACK:
			depth++
		case token.LBRACK:
			depth--
			continue
		}
		if depth == 0 {
			return i
		}
	}
	return -1
}

// describeName describes what an identifier means.
func (a *Assistant) describeName(src string, t tok, detail int) (description, bool) {
	v := a.look(src)
	obj := v.object(t)
	if obj == nil { // what follows may have confused the parser
		v = a.look(src[:t.end])
		obj = v.object(t)
	}
	if obj == nil && !strings.HasSuffix(strings.TrimRight(src[:t.start], " \t\n"), ".") {
		obj = a.outside(t.lit, true, a.imports(v))
		if obj == nil {
			obj = types.Universe.Lookup(t.lit)
		}
	}
	if obj == nil {
		return description{}, false
	}
	return a.describe(v, obj, detail)
}

// object is what the identifier of a token stands for, or nil.
func (v *view) object(t tok) types.Object {
	pos, file := v.pos(t.start)
	for _, n := range path(file, pos) {
		id, ok := n.(*ast.Ident)
		if !ok || id.Pos() != pos || id.Name != t.lit {
			continue
		}
		if obj := v.info.ObjectOf(id); obj != nil {
			return obj
		}
	}
	return nil
}

func (a *Assistant) describe(v *view, obj types.Object, detail int) (description, bool) {
	if p, ok := obj.(*types.PkgName); ok {
		return a.describePackage(p.Imported().Path(), detail)
	}
	d := description{code: declaration(obj)}
	switch {
	case obj.Pkg() == nil:
		a.documented(&d, "builtin", obj, detail)
	case obj.Pkg() == v.pkg:
		v.local(&d, obj)
	case own(obj):
		var where string
		d.doc, d.source, where = a.session.DocOf(origin(obj))
		if where != "" {
			d.where = "Declared in " + where + "."
		}
	default:
		d.home = obj.Pkg().Path()
		d.where = "From package " + obj.Pkg().Path() + "."
		a.documented(&d, obj.Pkg().Path(), obj, detail)
	}
	return d, true
}

// local describes what the cell itself declares.
func (v *view) local(d *description, obj types.Object) {
	offset := v.offset(obj.Pos())
	if offset < 0 {
		return
	}
	d.where = "Declared in this cell, line " + strconv.Itoa(1+strings.Count(v.src[:offset], "\n")) + "."
	for _, c := range v.chunks {
		if c.Start <= offset && offset < c.End && isDecl(c.Kind) {
			d.source = v.src[c.Start:c.End]
			d.doc = commentBefore(v.src, c.Start)
		}
	}
}

// commentBefore is the text of the line comments right above a declaration.
func commentBefore(src string, start int) string {
	lines := strings.Split(strings.TrimRight(src[:start], " \t"), "\n")
	lines = lines[:len(lines)-1]
	first := len(lines)
	for first > 0 && strings.HasPrefix(strings.TrimSpace(lines[first-1]), "//") {
		first--
	}
	var text []string
	for _, l := range lines[first:] {
		text = append(text, strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(l), "//"), " "))
	}
	return strings.Join(text, "\n")
}

// declaration is an object as Go would declare it, on one line.
func declaration(obj types.Object) string {
	switch obj := obj.(type) {
	case *types.Nil, *types.Builtin:
		return obj.Name()
	case *types.Const:
		return types.ObjectString(obj, qualifier) + " = " + obj.Val().String()
	}
	return types.ObjectString(obj, qualifier)
}

// origin is the object that an instance of a generic one was made from.
func origin(obj types.Object) types.Object {
	switch obj := obj.(type) {
	case *types.Func:
		return obj.Origin()
	case *types.Var:
		return obj.Origin()
	}
	return obj
}

func (a *Assistant) describePackage(path string, detail int) (description, bool) {
	pkg := a.load(path)
	if pkg == nil {
		return description{}, false
	}
	docs, err := a.session.Doc(path)
	if err != nil {
		return description{code: "package " + pkg.Name() + " // import " + strconv.Quote(path)}, true
	}
	d := description{code: "package " + docs.Name + " // import " + strconv.Quote(path), home: path, doc: docs.Package.Doc}
	if detail < 1 {
		d.doc = docs.Synopsis(d.doc)
	}
	return d, true
}

func (a *Assistant) describeMagic(text string) (description, bool) {
	word := strings.Fields(text)[0]
	for _, m := range a.magics {
		if m.Name == word {
			return description{code: m.Name, doc: m.Help}, true
		}
	}
	return description{}, false
}

// keywordHelp is one line for each keyword.
var keywordHelp = map[token.Token]string{
	token.BREAK:       "Ends the innermost for, switch or select, or the one that is labelled.",
	token.CASE:        "Begins a branch of a switch or select.",
	token.CHAN:        "Begins the type of a channel: chan T, <-chan T to receive only, chan<- T to send only.",
	token.CONST:       "Declares constants.",
	token.CONTINUE:    "Goes on with the next round of the innermost loop, or of the one that is labelled.",
	token.DEFAULT:     "Begins the branch of a switch or select that is taken when no other is.",
	token.DEFER:       "Calls a function when the surrounding function returns. Its arguments are evaluated now.",
	token.ELSE:        "Begins what is done when the condition of an if does not hold.",
	token.FALLTHROUGH: "Goes on with the body of the next case of a switch.",
	token.FOR:         "Repeats: for {}, for condition {}, for init; condition; post {}, for k, v := range x {}.",
	token.FUNC:        "Declares a function or a method, or begins a function literal or the type of a function.",
	token.GO:          "Calls a function in a new goroutine.",
	token.GOTO:        "Jumps to a label in the same function.",
	token.IF:          "Does something when a condition holds: if condition {}, if init; condition {}.",
	token.IMPORT:      "Makes packages available under their names.",
	token.INTERFACE:   "Begins an interface type: a set of methods, or of types.",
	token.MAP:         "Begins the type of a map: map[K]V.",
	token.PACKAGE:     "Names the package of a file. A cell needs none.",
	token.RANGE:       "Goes over a slice, array, string, map, channel, integer or iterator function in a for.",
	token.RETURN:      "Ends the function and gives its results.",
	token.SELECT:      "Waits for the first of several channel operations that can proceed.",
	token.STRUCT:      "Begins a struct type: a sequence of fields.",
	token.SWITCH:      "Chooses a branch by value, by condition or by type.",
	token.TYPE:        "Declares types.",
	token.VAR:         "Declares variables.",
}

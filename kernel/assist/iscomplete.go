package assist

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"

	"github.com/warpbook/warpbook/kernel/front"
)

// What IsComplete answers, in the protocol's words.
const (
	complete   = "complete"
	incomplete = "incomplete"
	invalid    = "invalid"
)

// IsComplete tells whether a cell can run as it is, wants more, or can never
// become Go by typing on; and how far to indent what is typed next.
func IsComplete(code string) (status, indent string) {
	if _, ok := cellMagic(code); ok {
		lines := strings.Split(strings.TrimLeft(code, " \t\n"), "\n")
		if len(lines) > 1 && strings.TrimSpace(lines[len(lines)-1]) == "" {
			return complete, ""
		}
		return incomplete, ""
	}
	src, magics := blankMagics(code)
	for _, m := range magics { // with the argument, which cannot go on in the next line
		end := m.end + len(src[m.end:])
		if i := strings.IndexByte(src[m.end:], '\n'); i >= 0 {
			end = m.end + i
		}
		src = spaces(src, m.start, end)
	}
	src = blankHelp(src)
	toks, errs := scan(src)
	if status := broken(src, errs); status != complete {
		return status, ""
	}
	open, ok := brackets(src, toks)
	if !ok {
		return invalid, ""
	}
	if len(open) > 0 {
		return incomplete, strings.Repeat("\t", levels(open))
	}
	if goesOn(toks) {
		return incomplete, "\t"
	}
	return parses(src)
}

// blankHelp replaces lines that ask for help, such as strings.Split? or ?fmt, by
// spaces where a statement could start.
func blankHelp(src string) string {
	if !strings.Contains(src, "?") {
		return src
	}
	toks, _ := scan(src)
	prev := token.SEMICOLON
	for _, t := range toks {
		if t.tok == token.COMMENT {
			continue
		}
		if prev == token.SEMICOLON && lineStart(src, t.start) {
			line, _, _ := strings.Cut(src[t.start:], "\n")
			if asksHelp(strings.TrimSpace(line)) {
				src = spaces(src, t.start, t.start+len(line))
			}
		}
		prev = t.tok
	}
	return src
}

func asksHelp(line string) bool {
	name := strings.Trim(line, "?")
	return name != line && name != "" && !strings.ContainsAny(name, " ()\"'`{}/=")
}

// broken judges what the scanner complains about: a raw string or a comment
// that is not closed wants more, and so does a string on the last line.
func broken(src string, errs []scanError) string {
	lastLine := strings.LastIndexByte(strings.TrimRight(src, "\n"), '\n') + 1
	for _, e := range errs {
		switch e.msg {
		case "raw string literal not terminated", "comment not terminated":
			return incomplete
		case "string literal not terminated", "rune literal not terminated":
			if e.offset < lastLine {
				return invalid
			}
			return incomplete
		default:
			return invalid
		}
	}
	return complete
}

// brackets returns the line numbers of the brackets that are open at the end;
// ok is false when one closes that was not opened.
func brackets(src string, toks []tok) (lines []int, ok bool) {
	var open []token.Token
	line, from := 0, 0
	for _, t := range toks {
		line += strings.Count(src[from:t.start], "\n")
		from = t.start
		switch t.tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			open, lines = append(open, t.tok), append(lines, line)
		case token.RPAREN, token.RBRACK, token.RBRACE:
			n := len(open)
			if n == 0 || open[n-1] != opener[t.tok] {
				return nil, false
			}
			open, lines = open[:n-1], lines[:n-1]
		}
	}
	return lines, true
}

var opener = map[token.Token]token.Token{token.RPAREN: token.LPAREN, token.RBRACK: token.LBRACK, token.RBRACE: token.LBRACE}

// levels counts brackets as gofmt indents for them: once a line.
func levels(lines []int) int {
	n := 0
	for i, l := range lines {
		if i == 0 || l != lines[i-1] {
			n++
		}
	}
	return n
}

// goesOn tells whether the last token wants something behind it: the scanner
// ends every line that can end with a semicolon.
func goesOn(toks []tok) bool {
	i := len(toks) - 1
	for i >= 0 && toks[i].tok == token.COMMENT {
		i--
	}
	if i < 0 || toks[i].tok == token.SEMICOLON {
		return false
	}
	return toks[i].tok.IsOperator() || toks[i].tok.IsKeyword()
}

// parses asks the parser. An error behind the last token wants more.
func parses(src string) (status, indent string) {
	end := len(strings.TrimRight(src, " \t\n"))
	v := &view{src: src, chunks: front.Split([]byte(src)), fset: token.NewFileSet()}
	for _, part := range []struct {
		prefix, text, suffix string
	}{
		{declsPrefix, v.keep(func(k front.Kind) bool { return isDecl(k) }), "\n"},
		{bodyPrefix, v.keep(func(k front.Kind) bool { return k == front.Stmt || k == front.Var }), "\n}"},
		{declsPrefix, v.keep(func(k front.Kind) bool { return k == front.Import }), "\n"},
	} {
		f, err := parser.ParseFile(v.fset, "", part.prefix+part.text+part.suffix, parser.SkipObjectResolution)
		var list scanner.ErrorList
		if errors.As(err, &list) && len(list) > 0 {
			if list[0].Pos.Offset-len(part.prefix) >= end {
				return incomplete, ""
			}
			return invalid, ""
		}
		if bodiless(f) {
			return incomplete, ""
		}
	}
	return complete, ""
}

// bodiless tells whether a file declares a function without a body.
func bodiless(f *ast.File) bool {
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body == nil {
			return true
		}
	}
	return false
}

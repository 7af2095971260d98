package assist

import (
	"go/scanner"
	"go/token"
	"strings"
)

// A tok is one token of a cell. Automatic semicolons have the literal "\n".
type tok struct {
	tok        token.Token
	start, end int
	lit        string
}

// scanError is an error of the scanner at a byte offset.
type scanError struct {
	offset int
	msg    string
}

// scan returns the tokens of Go source, comments included.
func scan(src string) ([]tok, []scanError) {
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(src))
	var errs []scanError
	var s scanner.Scanner
	s.Init(file, []byte(src), func(p token.Position, msg string) {
		errs = append(errs, scanError{p.Offset, msg})
	}, scanner.ScanComments)
	var toks []tok
	for {
		pos, t, lit := s.Scan()
		if t == token.EOF {
			return toks, errs
		}
		start := file.Offset(pos)
		n := len(lit)
		switch {
		case t == token.SEMICOLON && lit == "\n":
			n = 0
		case lit == "":
			n = len(t.String())
		}
		toks = append(toks, tok{t, start, min(start+n, len(src)), lit})
	}
}

// A span is the part of a cell that belongs to a magic and is not Go.
type span struct {
	start, end int
}

// goBodies are the cell magics whose body is Go.
var goBodies = map[string]bool{"%%time": true, "%%timeit": true, "%%capture": true}

// goArguments are the line magics whose argument is Go.
var goArguments = map[string]bool{"%time": true, "%timeit": true}

// blankMagics replaces magics by spaces. A magic starts a line where no
// statement or token goes on: "%" could not start such a line in Go, and "!"
// only an expression that is of no use.
func blankMagics(code string) (string, []span) {
	var magics []span
	if l, ok := cellMagic(code); ok {
		if first := strings.Fields(code[l.start:l.end]); !goBodies[first[0]] {
			return spaces(code, 0, len(code)), []span{{l.start, len(code)}}
		}
		magics = append(magics, l)
		code = spaces(code, l.start, l.end)
	}
	for from := 0; ; {
		at := nextMagic(code, from)
		if at < 0 {
			return code, magics
		}
		end := at + len(code[at:])
		if i := strings.IndexByte(code[at:], '\n'); i >= 0 {
			end = at + i
		}
		if word := strings.Fields(code[at:end])[0]; goArguments[word] {
			end = at + len(word)
		}
		magics = append(magics, span{at, end})
		code = spaces(code, at, end)
		from = end
	}
}

func cellMagic(code string) (span, bool) {
	start := len(code) - len(strings.TrimLeft(code, " \t\n"))
	if !strings.HasPrefix(code[start:], "%%") {
		return span{}, false
	}
	end := len(code)
	if i := strings.IndexByte(code[start:], '\n'); i >= 0 {
		end = start + i
	}
	return span{start, end}, true
}

// nextMagic returns where the next magic starts, or -1. Whatever was before it
// is blanked already, so the tokens up to there are Go's.
func nextMagic(code string, from int) int {
	if !strings.ContainsAny(code[from:], "%!") {
		return -1
	}
	toks, _ := scan(code)
	prev := token.SEMICOLON
	for _, t := range toks {
		if t.tok == token.COMMENT {
			continue
		}
		starts := t.tok == token.REM || t.tok == token.NOT || t.tok == token.REM_ASSIGN || t.tok == token.NEQ
		if starts && t.start >= from && prev == token.SEMICOLON && lineStart(code, t.start) {
			return t.start
		}
		prev = t.tok
	}
	return -1
}

func lineStart(code string, at int) bool {
	before := code[strings.LastIndexByte(code[:at], '\n')+1 : at]
	return strings.TrimSpace(before) == ""
}

// spaces blanks a part of code; line ends stay, and so do all offsets.
func spaces(code string, from, to int) string {
	b := []byte(code)
	for i := from; i < to; i++ {
		if b[i] != '\n' {
			b[i] = ' '
		}
	}
	return string(b)
}

// at returns the token that a cursor at offset is in or behind, and whether it
// is strictly inside.
func at(toks []tok, offset int) (t tok, inside bool) {
	for _, t := range toks {
		if t.start < offset && offset <= t.end {
			return t, offset < t.end
		}
	}
	return tok{}, false
}

// before returns the index of the last token, comments left out, that ends at
// or before offset; -1 when there is none.
func before(toks []tok, offset int) int {
	last := -1
	for i, t := range toks {
		if t.end > offset {
			break
		}
		if t.tok != token.COMMENT {
			last = i
		}
	}
	return last
}

// closers returns the brackets that close what is open at the end of the
// tokens, innermost first. Brackets that do not match are passed over.
func closers(toks []tok) string {
	var open []byte
	for _, t := range toks {
		switch t.tok {
		case token.LPAREN:
			open = append(open, ')')
		case token.LBRACK:
			open = append(open, ']')
		case token.LBRACE:
			open = append(open, '}')
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if n := len(open); n > 0 && string(open[n-1]) == t.tok.String() {
				open = open[:n-1]
			}
		}
	}
	var b strings.Builder
	for i := len(open) - 1; i >= 0; i-- {
		b.WriteByte(open[i])
	}
	return b.String()
}

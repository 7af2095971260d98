package front

import (
	"go/scanner"
	"go/token"
)

// A Kind says what a chunk is at the top level of a cell.
type Kind int

const (
	Stmt Kind = iota
	Import
	Func // a named function or a method
	Type
	Const
	Var
	Package // a package clause, from a pasted program
)

// A Chunk is one top-level declaration or statement of a cell. Start and End
// are byte offsets; End is behind an explicit semicolon.
type Chunk struct {
	Kind       Kind
	Start, End int
	Semicolon  bool // ends in an explicit semicolon
}

// A header is the part of a for, if or switch statement before its block, where
// semicolons end nothing. It sees the tokens outside all brackets.
type header struct {
	open   bool
	braces int // opening braces to come that belong to types and literals
}

func (h *header) see(t token.Token) {
	switch t {
	case token.FOR, token.IF, token.SWITCH:
		h.open, h.braces = true, 0
	case token.STRUCT, token.INTERFACE, token.FUNC:
		h.braces++
	case token.LBRACE:
		if h.braces > 0 {
			h.braces--
		} else {
			h.open = false
		}
	}
}

type tok struct {
	tok token.Token
	off int
	end int
	lit string
}

// Split cuts a cell into its top-level chunks. It needs no well-formed source:
// brackets that do not match end up in a chunk of their own, and the parser
// says what is wrong with it.
func Split(src []byte) []Chunk {
	toks := scan(src)
	var chunks []Chunk
	depth, first := 0, -1
	var head header
	for i, t := range toks {
		if first < 0 {
			if t.tok == token.SEMICOLON {
				continue
			}
			first = i
		}
		if depth == 0 {
			head.see(t.tok)
		}
		switch t.tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth = max(depth-1, 0)
		case token.SEMICOLON:
			if depth > 0 || head.open && t.lit == ";" {
				continue
			}
			head = header{}
			explicit := t.lit == ";"
			end := t.off
			if explicit {
				end = t.end
			}
			chunks = append(chunks, Chunk{classify(toks[first:i]), toks[first].off, end, explicit})
			first = -1
		}
	}
	if first >= 0 { // unbalanced: everything to the end
		chunks = append(chunks, Chunk{classify(toks[first:]), toks[first].off, len(src), false})
	}
	return chunks
}

func scan(src []byte) []tok {
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(file, src, func(token.Position, string) {}, 0)
	var toks []tok
	for {
		pos, t, lit := s.Scan()
		off := file.Offset(pos)
		if t == token.EOF {
			return toks
		}
		n := len(lit)
		if lit == "" {
			n = len(t.String())
		}
		toks = append(toks, tok{t, off, off + n, lit})
	}
}

func classify(toks []tok) Kind {
	switch toks[0].tok {
	case token.PACKAGE:
		return Package
	case token.IMPORT:
		return Import
	case token.TYPE:
		return Type
	case token.CONST:
		return Const
	case token.VAR:
		return Var
	case token.FUNC:
		if isFuncDecl(toks) {
			return Func
		}
	}
	return Stmt
}

// isFuncDecl tells a declaration from a function literal that is called: only a
// method has a name and a parameter list behind its first parentheses.
func isFuncDecl(toks []tok) bool {
	if len(toks) < 2 {
		return false
	}
	if toks[1].tok == token.IDENT {
		return true
	}
	if toks[1].tok != token.LPAREN {
		return false
	}
	depth := 0
	for i := 1; i < len(toks); i++ {
		switch toks[i].tok {
		case token.LPAREN:
			depth++
		case token.RPAREN:
			depth--
		}
		if depth == 0 {
			return i+2 < len(toks) && toks[i+1].tok == token.IDENT && toks[i+2].tok == token.LPAREN
		}
	}
	return false
}

// blank returns src with every byte replaced by a space, except line ends and
// the chunks that keep says yes to, so that what is left stays in its place.
func blank(src []byte, chunks []Chunk, keep func(int, Chunk) bool) []byte {
	out := make([]byte, len(src))
	for i, b := range src {
		out[i] = ' '
		if b == '\n' {
			out[i] = '\n'
		}
	}
	for i, c := range chunks {
		if keep(i, c) {
			copy(out[c.Start:c.End], src[c.Start:c.End])
		}
	}
	return out
}

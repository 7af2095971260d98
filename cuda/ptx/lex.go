package ptx

import (
	"fmt"
	"strings"
)

// Kinds of tokens: a word (identifier, directive, opcode with its modifiers or
// register), a number, a string, or a punctuation character that is its own kind.
const (
	tEOF    = 0
	tWord   = 'w'
	tNumber = 'n'
	tString = 's'
)

type token struct {
	kind byte
	text string
	line int
	at   int // offset in the text
}

// Error is what is wrong with a PTX text, and where.
type Error struct {
	Line int
	Msg  string
}

func (e *Error) Error() string { return fmt.Sprintf("PTX line %d: %s", e.Line, e.Msg) }

// lexer cuts PTX into tokens. Words contain dots, so that "ld.global.f32" and
// "%tid.x" are one, and "::" ("shared::cta").
type lexer struct {
	text string
	at   int
	line int
}

func wordStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c == '%' || c == '.' || c >= 0x80
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func wordPart(c byte) bool { return wordStart(c) && c != '%' || digit(c) }

func (l *lexer) next() (token, error) {
	if err := l.space(); err != nil {
		return token{}, err
	}
	start := token{line: l.line, at: l.at}
	if l.at >= len(l.text) {
		return start, nil
	}
	c := l.text[l.at]
	switch {
	case wordStart(c) && (c != '%' || l.at+1 < len(l.text) && wordPart(l.text[l.at+1])): // a lone % is the operator
		start.kind = tWord
		l.at++
		for l.at < len(l.text) {
			switch c := l.text[l.at]; {
			case wordPart(c):
				l.at++
				continue
			case c == ':' && strings.HasPrefix(l.text[l.at:], "::"):
				l.at += 2
				continue
			}
			break
		}
	case digit(c):
		start.kind = tNumber
		l.number()
	case c == '"':
		start.kind = tString
		end := strings.IndexByte(l.text[l.at+1:], '"')
		if end < 0 {
			return start, &Error{l.line, "a string does not end"}
		}
		l.at += end + 2
		l.line += strings.Count(l.text[start.at:l.at], "\n")
	default:
		start.kind = c
		l.at++
		if l.at < len(l.text) {
			if kind := double(c, l.text[l.at]); kind != 0 {
				start.kind = kind
				l.at++
			}
		}
	}
	start.text = l.text[start.at:l.at]
	return start, nil
}

// number passes a literal: digits, a radix, a hexadecimal float or an exponent.
func (l *lexer) number() {
	exact := l.at+1 < len(l.text) && l.text[l.at] == '0' && strings.IndexByte("xXfFdD", l.text[l.at+1]) >= 0
	for l.at < len(l.text) {
		c := l.text[l.at]
		exponent := (c == '+' || c == '-') && (l.text[l.at-1] == 'e' || l.text[l.at-1] == 'E') && !exact
		if !digit(c) && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && c != '.' && !exponent {
			return
		}
		l.at++
	}
}

// space passes white space and comments.
func (l *lexer) space() error {
	for l.at < len(l.text) {
		switch c := l.text[l.at]; {
		case c == '\n':
			l.line++
			l.at++
		case c == ' ' || c == '\t' || c == '\r' || c == 0:
			l.at++
		case strings.HasPrefix(l.text[l.at:], "//"):
			end := strings.IndexByte(l.text[l.at:], '\n')
			if end < 0 {
				end = len(l.text) - l.at
			}
			l.at += end
		case strings.HasPrefix(l.text[l.at:], "/*"):
			end := strings.Index(l.text[l.at:], "*/")
			if end < 0 {
				return &Error{l.line, "a comment does not end"}
			}
			l.line += strings.Count(l.text[l.at:l.at+end], "\n")
			l.at += end + 2
		default:
			return nil
		}
	}
	return nil
}

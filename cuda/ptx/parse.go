package ptx

import (
	"fmt"
	"strconv"
	"strings"
)

// Bounds on what a text may declare, so that a hostile one is refused before it
// costs memory.
const (
	maxRegisters = 1 << 20 // a function
	maxNesting   = 64
	maxBytes     = 1 << 30 // a variable
)

// Parse reads a module. The error is an *Error.
func Parse(text string) (m *Module, err error) {
	p := &parser{lex: lexer{text: text, line: 1}, module: &Module{Files: map[int]string{}}}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *Error:
			m, err = nil, r
		default:
			panic(r)
		}
	}()
	p.advance()
	for p.tok.kind != tEOF {
		p.topLevel()
	}
	return p.module, nil
}

type parser struct {
	lex    lexer
	tok    token
	ahead  *token
	module *Module

	fn     *Function
	scopes []*scope
	pos    Pos            // of .loc
	fixups []fixup        // branches to labels that may come later
	unique map[string]int // names of variables in the function, to keep them apart
}

// scope is a pair of braces of a function.
type scope struct {
	regs   map[string]int      // exact names
	ranges map[string]regRange // %r<8> by "%r"
	vars   map[string]string   // variables to their unique names
	labels map[string]string
}

type regRange struct{ base, count int }

type fixup struct {
	inst  int
	label string
	line  int
}

// fail ends the parse. Parse turns the panic into its error.
func (p *parser) fail(format string, args ...any) {
	panic(&Error{p.tok.line, fmt.Sprintf(format, args...)})
}

func (p *parser) advance() {
	if p.ahead != nil {
		p.tok, p.ahead = *p.ahead, nil
		return
	}
	t, err := p.lex.next()
	if err != nil {
		panic(err)
	}
	p.tok = t
}

func (p *parser) peek() token {
	if p.ahead == nil {
		t, err := p.lex.next()
		if err != nil {
			panic(err)
		}
		p.ahead = &t
	}
	return *p.ahead
}

func (p *parser) is(kind byte) bool { return p.tok.kind == kind }

func (p *parser) word(s string) bool { return p.tok.kind == tWord && p.tok.text == s }

// accept passes the punctuation and says whether it was there.
func (p *parser) accept(kind byte) bool {
	if p.tok.kind == kind {
		p.advance()
		return true
	}
	return false
}

func (p *parser) expect(kind byte) {
	if !p.accept(kind) {
		p.fail("expected %q, found %s", string(kind), p.found())
	}
}

func (p *parser) found() string {
	if p.tok.kind == tEOF {
		return "the end of the text"
	}
	return strconv.Quote(p.tok.text)
}

func (p *parser) name() string {
	if !p.is(tWord) {
		p.fail("expected a name, found %s", p.found())
	}
	s := p.tok.text
	p.advance()
	return s
}

func (p *parser) number() literal {
	neg := p.accept('-')
	if !p.is(tNumber) {
		p.fail("expected a number, found %s", p.found())
	}
	l, ok := parseNumber(p.tok.text)
	if !ok {
		p.fail("%q is no number", p.tok.text)
	}
	p.advance()
	if neg {
		l = l.negate()
	}
	return l
}

// integer is a number that has to lie in [0, most].
func (p *parser) integer(most int) int {
	t := p.tok
	l := p.number()
	if l.float || l.bits > uint64(most) {
		panic(&Error{t.line, fmt.Sprintf("%s is out of range here (0 to %d)", t.text, most)})
	}
	return int(l.bits)
}

// list reads "a, b, c".
func (p *parser) integers(most int) (out []int) {
	for {
		out = append(out, p.integer(most))
		if !p.accept(',') {
			return out
		}
	}
}

func (p *parser) dims() (d [3]int) {
	d = [3]int{1, 1, 1}
	for i, n := range p.integers(1 << 30) {
		if i == 3 {
			p.fail("a geometry has three dimensions at most")
		}
		d[i] = n
	}
	return d
}

func (p *parser) topLevel() {
	if !p.is(tWord) {
		p.fail("expected a directive, found %s", p.found())
	}
	switch p.tok.text {
	case ".version":
		p.advance()
		p.module.Version = p.tok.text
		p.advance()
	case ".target":
		p.advance()
		p.module.Target = p.name()
		for p.accept(',') {
			p.name()
		}
	case ".address_size":
		p.advance()
		if n := p.integer(64); n != 64 {
			p.fail("only 64-bit addresses are supported, not %d", n)
		}
	case ".file":
		p.file()
	case ".loc":
		p.loc()
	case ".section":
		p.section()
	case ".pragma", ".alias":
		p.skipTo(';')
	case ".extern", ".visible", ".weak", ".common":
		linkage := p.tok.text
		p.advance()
		p.declaration(linkage)
	default:
		p.declaration("")
	}
}

func (p *parser) skipTo(kind byte) {
	for !p.is(kind) {
		if p.is(tEOF) {
			p.fail("expected %q before the end of the text", string(kind))
		}
		p.advance()
	}
	p.advance()
}

func (p *parser) file() {
	p.advance()
	n := p.integer(1 << 20)
	if !p.is(tString) {
		p.fail("expected the file's name, found %s", p.found())
	}
	p.module.Files[n] = p.tok.text[1 : len(p.tok.text)-1]
	p.advance()
	for p.accept(',') { // time stamp and size
		p.number()
	}
}

// loc sets the place in the source of what follows.
func (p *parser) loc() {
	p.advance()
	p.pos = Pos{File: p.integer(1 << 20), Line: p.integer(1 << 30), Col: p.integer(1 << 30)}
	for p.accept(',') {
		switch p.name() {
		case "function_name":
			p.pos.Function = p.name()
			if p.accept('+') {
				p.number()
			}
		case "inlined_at":
			at := Pos{File: p.integer(1 << 20), Line: p.integer(1 << 30), Col: p.integer(1 << 30)}
			p.pos.InlinedAt = &at
		default:
			p.fail("%q is not known in .loc", p.tok.text)
		}
	}
}

// section passes debugging information.
func (p *parser) section() {
	for !p.is('{') {
		if p.is(tEOF) {
			p.fail("a .section without a body")
		}
		p.advance()
	}
	p.skipTo('}')
}

func (p *parser) declaration(linkage string) {
	switch {
	case p.word(".entry"), p.word(".func"):
		p.function()
	case p.is(tWord) && (p.tok.text == ".global" || p.tok.text == ".const" || p.tok.text == ".shared" || p.tok.text == ".local"):
		for _, v := range p.variables(linkage == ".extern") {
			p.module.Variables = append(p.module.Variables, v)
		}
	default:
		p.fail("%s is not supported here", p.found())
	}
}

// variables reads a declaration up to its semicolon.
func (p *parser) variables(extern bool) (out []*Variable) {
	proto := Variable{Space: spaceNames[strings.TrimPrefix(p.name(), ".")], Vec: 1, Extern: extern}
	p.variableType(&proto)
	for {
		v := proto
		v.Name = p.name()
		p.extent(&v)
		if p.accept('=') {
			p.initializer(&v)
		}
		out = append(out, &v)
		if !p.accept(',') {
			break
		}
	}
	p.expect(';')
	return out
}

// variableType reads alignment, vector, pointer attributes and type.
func (p *parser) variableType(v *Variable) {
	for p.is(tWord) && strings.HasPrefix(p.tok.text, ".") {
		switch w := p.tok.text[1:]; w {
		case "align":
			p.advance()
			v.Align = p.integer(1 << 20)
			continue
		case "v2":
			v.Vec = 2
		case "v4":
			v.Vec = 4
		case "v8":
			v.Vec = 8
		case "ptr":
			v.Pointee = Generic
		case "attribute":
			p.advance()
			p.skipTo(')')
			continue
		case "managed":
		default:
			if s, ok := spaceNames[w]; ok {
				v.Pointee = s
			} else if t, ok := typesByName[w]; ok {
				v.Type = t
			} else {
				p.fail("%q is not supported in a declaration", p.tok.text)
			}
		}
		p.advance()
	}
	if v.Type == Untyped {
		p.fail("a declaration without a type")
	}
}

// extent reads the dimensions behind a name and computes the size.
func (p *parser) extent(v *Variable) {
	v.Count = 1
	for p.accept('[') {
		n := 0
		if !p.is(']') {
			n = p.integer(maxBytes)
		}
		p.expect(']')
		if v.Count *= n; v.Count > maxBytes {
			p.fail("%s is larger than %d bytes", v.Name, maxBytes)
		}
	}
	one := v.Type.Bytes() * v.Vec
	v.Bytes = one * v.Count
	if v.Bytes > maxBytes {
		p.fail("%s is larger than %d bytes", v.Name, maxBytes)
	}
	if v.Align == 0 {
		v.Align = max(one, 1)
	}
}

// initializer reads "= value" or "= {...}", nested for more dimensions.
func (p *parser) initializer(v *Variable) {
	at, depth := 0, 0
	size := v.Type.Bytes()
	for {
		switch {
		case p.accept('{'):
			if depth++; depth > maxNesting {
				p.fail("an initializer is nested too deeply")
			}
			continue
		case p.is('}') && depth > 0:
			p.advance()
			depth--
		default:
			v.Init = append(v.Init, p.initial(v, at))
			if at += size; v.Count > 0 && at > v.Bytes {
				p.fail("%s has more initial values than elements", v.Name)
			}
		}
		if depth == 0 {
			break
		}
		p.accept(',')
	}
	if v.Count == 0 { // [] takes its size from its values
		v.Count, v.Bytes = at/max(size, 1), at
	}
}

func (p *parser) initial(v *Variable, at int) Initial {
	init := Initial{At: at, Size: v.Type.Bytes()}
	if p.is(tWord) {
		init.Symbol = p.name()
		if init.Symbol == "generic" && p.accept('(') {
			init.Generic, init.Symbol = true, p.name()
			p.expect(')')
		}
		for p.is('+') || p.is('-') {
			neg := p.is('-')
			p.advance()
			n := int64(p.number().bits)
			if neg {
				n = -n
			}
			init.Offset += n
		}
		return init
	}
	l := p.number()
	o := Operand{Bits: l.bits, Float: l.float, F32: l.f32}
	bits := o.As(v.Type)
	for i := range init.Size {
		init.Bytes = append(init.Bytes, byte(bits>>(8*min(i, 7))))
	}
	return init
}

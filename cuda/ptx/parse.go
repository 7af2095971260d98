package ptx

import (
	"fmt"
	"strconv"
	"strings"
)

// Bounds on what a text may declare, so that a hostile one is refused before it
// costs memory.
const (
	maxRegisters = 1 << 20 // a module
	maxNesting   = 64
	maxBytes     = 1 << 30 // a variable
)

// Parse reads a module. The error is an *Error.
func Parse(text string) (m *Module, err error) {
	p := &parser{lex: lexer{text: text, line: 1}, module: &Module{Files: map[int]string{}}, registersLeft: maxRegisters, inlined: map[Pos]*Pos{}, debugNames: map[string]string{}, opcodes: map[string]Instruction{}}
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
	p.nameInlined()
	return p.module, nil
}

type parser struct {
	lex    lexer
	tok    token
	ahead  *token
	module *Module

	fn            *Function
	scopes        []*scope
	pos           Pos            // of .loc
	unique        map[string]int // names of variables in the function, to keep them apart
	registersLeft int
	inlined       map[Pos]*Pos // the last .loc of each place, for what is inlined there
	debugNames    map[string]string
	opcodes       map[string]Instruction
	operandBuffer []Operand
	noEstimate    bool
}

// scope is a pair of braces of a function.
type scope struct {
	regs   map[string]int      // exact names
	ranges map[string]regRange // %r<8> by "%r"
	vars   map[string]string   // variables to their unique names
	labels map[string]int
	fixups []fixup // branches, whose labels may come later
}

type regRange struct{ base, count int }

// fixup is a branch or an entry of a table that waits for its label.
type fixup struct {
	index int   // of the instruction, or of the entry
	table []int // nil for a branch
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
	next := Pos{File: p.integer(1 << 20), Line: p.integer(1 << 30), Col: p.integer(1 << 30)}
	for p.accept(',') {
		switch p.name() {
		case "function_name":
			next.Function = p.name()
			if p.accept('+') {
				next.Function += "+" + p.tok.text
				p.number()
			}
		case "inlined_at":
			next.InlinedAt = p.outer(Pos{File: p.integer(1 << 20), Line: p.integer(1 << 30), Col: p.integer(1 << 30)})
		default:
			p.fail("%q is not known in .loc", p.tok.text)
		}
	}
	if next.Line == 0 { // code of no line in particular, such as a constant: it counts to what was before
		return
	}
	p.pos = next
	p.inlined[Pos{File: next.File, Line: next.Line, Col: next.Col}] = &next
}

// outer is the place that something was inlined at: the .loc that named it, which
// may itself be inlined code.
func (p *parser) outer(at Pos) *Pos {
	if known := p.inlined[at]; known != nil && known.depth() < maxNesting {
		return known
	}
	return &at
}

func (p *Pos) depth() int {
	n := 0
	for ; p.InlinedAt != nil; p = p.InlinedAt {
		n++
	}
	return n
}

// section passes debugging information.
func (p *parser) section() {
	p.advance()
	strings := p.word(".debug_str")
	for !p.is('{') {
		if p.is(tEOF) {
			p.fail("a .section without a body")
		}
		p.advance()
	}
	if strings {
		p.strings()
		return
	}
	p.skipTo('}')
}

func (p *parser) declaration(linkage string) {
	switch {
	case p.word(".entry"), p.word(".func"):
		p.function()
	case p.is(tWord) && (p.tok.text == ".global" || p.tok.text == ".const" || p.tok.text == ".shared" || p.tok.text == ".local"):
		p.module.Variables = append(p.module.Variables, p.variables(linkage == ".extern")...)
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
		dims := p.extent(&v)
		if p.accept('=') {
			p.initializer(&v, dims)
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
	pointer := false
	for p.is(tWord) && strings.HasPrefix(p.tok.text, ".") {
		switch w := p.tok.text[1:]; w {
		case "align":
			p.advance()
			n := p.integer(1 << 20)
			if n == 0 || n&(n-1) != 0 {
				p.fail("an alignment has to be a power of two, not %d", n)
			}
			if !pointer { // behind .ptr it is that of what the pointer points to
				v.Align = n
			}
			continue
		case "v2":
			v.Vec = 2
		case "v4":
			v.Vec = 4
		case "v8":
			v.Vec = 8
		case "ptr":
			pointer = true
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

package ptx

import (
	"fmt"
	"strconv"
	"strings"
)

// function reads .entry or .func, a declaration or a definition.
func (p *parser) function() {
	f := &Function{Labels: map[string]int{}, Tables: map[string][]int{}, Targets: map[string][]string{}, Protos: map[string]*Function{}, Pos: Pos{PTX: p.tok.line}}
	f.Entry = p.word(".entry")
	p.advance()
	p.fn, p.scopes, p.unique, p.pos = f, nil, map[string]int{}, Pos{}
	p.push()
	p.signature(f)
	for !p.is('{') && !p.is(';') {
		p.performance(f)
	}
	if p.accept(';') {
		p.module.add(f)
		return
	}
	p.expect('{')
	f.Body = make([]Instruction, 0, p.estimate())
	p.body()
	p.pop()
	p.module.add(f)
}

// estimate is how many instructions the body about to be read has, at most: the
// semicolons up to a brace at the start of a line.
func (p *parser) estimate() int {
	if p.noEstimate {
		return 0
	}
	rest := p.lex.text[p.lex.at:]
	end := strings.Index(rest, "\n}")
	if end < 0 {
		p.noEstimate = true
		return 0
	}
	return min(strings.Count(rest[:end], ";"), end/16)
}

// add keeps one function of a name: the definition, when there is one.
func (m *Module) add(f *Function) {
	for i, old := range m.Functions {
		if old.Name == f.Name {
			if f.Body != nil {
				m.Functions[i] = f
			}
			return
		}
	}
	m.Functions = append(m.Functions, f)
}

// signature reads "(returns) name (parameters)".
func (p *parser) signature(f *Function) {
	if p.is('(') {
		f.Returns = p.parameters()
	}
	f.Name = p.name()
	if p.is('(') {
		f.Params = p.parameters()
	}
}

func (p *parser) parameters() (out []*Variable) {
	p.expect('(')
	for !p.accept(')') {
		if !p.word(".param") {
			p.fail("parameters in %s are not supported, only .param", p.found())
		}
		p.advance()
		v := &Variable{Space: Param, Vec: 1}
		p.variableType(v)
		v.Name = "_"
		if p.is(tWord) {
			v.Name = p.name()
		}
		p.extent(v)
		out = append(out, v)
		p.declare(v)
		if !p.accept(',') && !p.is(')') {
			p.fail("expected , or ) after a parameter, found %s", p.found())
		}
	}
	return out
}

// performance reads a directive between the signature and the body.
func (p *parser) performance(f *Function) {
	switch w := p.name(); w {
	case ".maxntid":
		f.MaxThreads = p.dims()
	case ".reqntid":
		f.ReqThreads = p.dims()
	case ".minnctapersm":
		f.MinBlocks = p.integer(1 << 20)
	case ".maxnreg":
		f.MaxRegs = p.integer(1 << 20)
	case ".maxnctapersm", ".maxclusterrank":
		p.integer(1 << 20)
	case ".reqnctapercluster":
		f.Cluster = p.dims()
	case ".explicitcluster", ".blocksareclusters":
	case ".noreturn":
		f.NoReturn = true
	case ".pragma":
		p.skipTo(';')
	case ".attribute", ".abi_preserve", ".unified":
		if p.is('(') {
			p.skipTo(')')
		}
	default:
		p.fail("the directive %s is not supported", w)
	}
}

func (p *parser) push() {
	if len(p.scopes) == maxNesting {
		p.fail("scopes are nested too deeply")
	}
	p.scopes = append(p.scopes, &scope{regs: map[string]int{}, ranges: map[string]regRange{}, vars: map[string]string{}, labels: map[string]int{}})
}

// pop leaves a scope: branches to its labels get their targets, others wait for
// the scope around it.
func (p *parser) pop() {
	s := p.top()
	p.scopes = p.scopes[:len(p.scopes)-1]
	for _, f := range s.fixups {
		at, ok := s.labels[f.label]
		switch {
		case ok && f.table != nil:
			f.table[f.index] = at
		case ok:
			p.fn.Body[f.index].Target = at
		case len(p.scopes) == 0:
			panic(&Error{f.line, fmt.Sprintf("there is no label %s", f.label)})
		default:
			p.top().fixups = append(p.top().fixups, f)
		}
	}
}

func (p *parser) top() *scope { return p.scopes[len(p.scopes)-1] }

// declare makes a variable's name known, and unique in the function.
func (p *parser) declare(v *Variable) {
	name := v.Name
	if n := p.unique[name]; n > 0 {
		v.Name = fmt.Sprintf("%s#%d", name, n)
	}
	p.unique[name]++
	p.top().vars[name] = v.Name
}

// body reads statements up to the brace that ends the function.
func (p *parser) body() {
	depth := 0
	for {
		switch {
		case p.is(tEOF):
			p.fail("the function %s does not end", p.fn.Name)
		case p.accept('}'):
			if depth == 0 {
				return
			}
			p.pop()
			depth--
		case p.accept('{'):
			p.push()
			depth++
		case p.accept(';'):
		default:
			p.statement()
		}
	}
}

func (p *parser) statement() {
	if p.is('@') {
		p.instruction()
		return
	}
	if !p.is(tWord) {
		p.fail("expected an instruction, found %s", p.found())
	}
	if p.peek().kind == ':' {
		name := p.name()
		p.advance()
		p.label(name)
		return
	}
	if !strings.HasPrefix(p.tok.text, ".") {
		p.instruction()
		return
	}
	switch p.tok.text {
	case ".reg":
		p.registers()
	case ".local", ".shared", ".param", ".const", ".global":
		for _, v := range p.variables(false) {
			p.declare(v)
			p.fn.Locals = append(p.fn.Locals, v)
		}
	case ".loc":
		p.loc()
	case ".file":
		p.file()
	case ".pragma":
		p.skipTo(';')
	case ".section":
		p.section()
	default:
		p.fail("the directive %s is not supported", p.tok.text)
	}
}

// label is a place, or the name of a table or prototype.
func (p *parser) label(name string) {
	if p.is(tWord) {
		switch p.tok.text {
		case ".branchtargets":
			p.advance()
			line, names := p.tok.line, p.names()
			table := make([]int, len(names))
			for i, target := range names {
				p.top().fixups = append(p.top().fixups, fixup{index: i, table: table, label: target, line: line})
			}
			p.fn.Tables[name] = table
			return
		case ".calltargets":
			p.advance()
			p.fn.Targets[name] = p.names()
			return
		case ".callprototype":
			p.advance()
			proto := &Function{Pos: Pos{PTX: p.tok.line}}
			p.push() // the names of its parameters are its own
			p.signature(proto)
			p.pop()
			for !p.is(';') {
				p.performance(proto)
			}
			p.expect(';')
			p.fn.Protos[name] = proto
			return
		}
	}
	if _, twice := p.top().labels[name]; twice {
		p.fail("the label %s is there twice", name)
	}
	unique := name
	if _, taken := p.fn.Labels[name]; taken {
		unique = fmt.Sprintf("%s#%d", name, len(p.fn.Labels))
	}
	p.top().labels[name] = len(p.fn.Body)
	p.fn.Labels[unique] = len(p.fn.Body)
}

func (p *parser) names() (out []string) {
	for {
		out = append(out, p.name())
		if !p.accept(',') {
			break
		}
	}
	p.expect(';')
	return out
}

// registers reads ".reg .b32 %r<8>, a, b;".
func (p *parser) registers() {
	p.advance()
	v := Variable{Vec: 1}
	p.variableType(&v)
	if v.Vec != 1 {
		p.fail("vector registers are not supported; declare one register for each element")
	}
	for {
		name := p.name()
		n := 1
		ranged := p.accept('<')
		if ranged {
			n = p.integer(maxRegisters)
			p.expect('>')
		}
		base := len(p.fn.Regs)
		if p.registersLeft -= n; p.registersLeft < 0 {
			p.fail("the module has more than %d registers", maxRegisters)
		}
		if ranged {
			p.top().ranges[name] = regRange{base, n}
			for i := range n {
				p.fn.Regs = append(p.fn.Regs, Register{name + strconv.Itoa(i), v.Type})
			}
		} else {
			p.top().regs[name] = base
			p.fn.Regs = append(p.fn.Regs, Register{name, v.Type})
		}
		if !p.accept(',') {
			break
		}
	}
	p.expect(';')
}

// register finds a register by name, from the innermost scope out.
func (p *parser) register(name string) (int, bool) {
	end := len(name)
	for end > 0 && digit(name[end-1]) {
		end--
	}
	n, numbered := 0, end < len(name) && len(name)-end <= 8
	for _, c := range []byte(name[end:]) {
		n = n*10 + int(c-'0')
		if !numbered {
			break
		}
	}
	for i := len(p.scopes) - 1; i >= 0; i-- {
		s := p.scopes[i]
		if r, ok := s.regs[name]; ok {
			return r, true
		}
		if numbered {
			if r, ok := s.ranges[name[:end]]; ok && n < r.count {
				return r.base + n, true
			}
		}
	}
	return 0, false
}

// variable gives the unique name of a variable in scope; others are the module's.
func (p *parser) variable(name string) string {
	for i := len(p.scopes) - 1; i >= 0; i-- {
		if v, ok := p.scopes[i].vars[name]; ok {
			return v
		}
	}
	return name
}

// Kernel finds an entry by name.
func (m *Module) Kernel(name string) (*Function, error) {
	var known []string
	for _, f := range m.Functions {
		if f.Entry && f.Body != nil {
			if f.Name == name {
				return f, nil
			}
			known = append(known, f.Name)
		}
	}
	if len(known) == 0 {
		return nil, fmt.Errorf("there is no kernel %q: the module has no __global__ function", name)
	}
	return nil, fmt.Errorf("there is no kernel %q: the module has %s", name, strings.Join(known, ", "))
}

// Kernels lists the entries.
func (m *Module) Kernels() (out []*Function) {
	for _, f := range m.Functions {
		if f.Entry && f.Body != nil {
			out = append(out, f)
		}
	}
	return out
}

// ParamLayout gives the byte offset of each parameter in a launch's parameters,
// and their size.
func (f *Function) ParamLayout() (offsets []int, size int) { return layout(f.Params) }

func layout(params []*Variable) (offsets []int, size int) {
	for _, v := range params {
		size = (size + v.Align - 1) / v.Align * v.Align
		offsets = append(offsets, size)
		size += v.Bytes
	}
	return offsets, size
}

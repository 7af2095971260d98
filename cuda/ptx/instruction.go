package ptx

import "strings"

// instruction reads one instruction with its guard.
func (p *parser) instruction() {
	in := Instruction{Guard: -1, Target: -1, Pos: p.pos}
	in.Pos.PTX = p.tok.line
	start := p.tok.at
	if p.accept('@') {
		in.GuardNot = p.accept('!')
		name := p.name()
		r, ok := p.register(name)
		if !ok || p.fn.Regs[r].Type != Pred {
			p.fail("%s is no predicate register", name)
		}
		in.Guard = r
	}
	p.opcode(&in, p.name())
	if in.Op == "call" {
		p.call(&in)
	} else {
		p.operands(&in)
	}
	in.Text = oneLine(p.lex.text[start:p.tok.at])
	p.expect(';')
	in.Dsts = destinations(&in)
	p.fn.Body = append(p.fn.Body, in)
}

// opcode takes an opcode word apart, once for each word of the module: its
// instructions share the slices.
func (p *parser) opcode(in *Instruction, word string) {
	known, ok := p.opcodes[word]
	if !ok {
		known = *in
		known.modifiers(word)
		p.opcodes[word] = known
	}
	guard, not, pos := in.Guard, in.GuardNot, in.Pos
	*in = known
	in.Guard, in.GuardNot, in.Pos = guard, not, pos
}

// oneLine is s with single spaces.
func oneLine(s string) string {
	if !strings.ContainsAny(s, "\t\n\r") && !strings.Contains(s, "  ") {
		return strings.TrimRight(s, " ")
	}
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		c := s[i]
		if c == '\t' || c == '\n' || c == '\r' {
			c = ' '
		}
		if c != ' ' || len(b) > 0 && b[len(b)-1] != ' ' {
			b = append(b, c)
		}
	}
	return strings.TrimRight(string(b), " ")
}

func (p *parser) operands(in *Instruction) {
	list := p.operandBuffer[:0]
	for !p.is(';') {
		o := p.operand(0)
		if o.Kind == Symbol && (in.Op == "bra" || in.Op == "brx") {
			o.Kind = Label
			if in.Op == "bra" {
				s := p.top()
				s.fixups = append(s.fixups, fixup{index: len(p.fn.Body), label: o.Symbol, line: p.tok.line})
			}
		}
		list = append(list, o)
		if !p.accept(',') {
			break
		}
	}
	p.operandBuffer = list
	in.Operands = append(make([]Operand, 0, len(list)), list...)
}

// call reads "call (r), f, (a, b), prototype;" with most parts optional.
func (p *parser) call(in *Instruction) {
	seen := false
	for !p.is(';') {
		switch {
		case p.is('('):
			list := p.arguments()
			if seen {
				in.Args = list
			} else {
				in.Returns = list
			}
		case !seen:
			o := p.operand(0)
			seen = true
			if o.Kind == Symbol {
				in.Callee = o.Symbol
			} else {
				in.Operands = append(in.Operands, o)
			}
		default: // a prototype or a table of targets
			in.Operands = append(in.Operands, Operand{Kind: Label, Symbol: p.name(), Reg2: -1})
		}
		if !p.accept(',') {
			break
		}
	}
	if !seen {
		p.fail("a call without a function")
	}
}

func (p *parser) arguments() (out []Operand) {
	p.expect('(')
	for !p.accept(')') {
		out = append(out, p.operand(0))
		if !p.accept(',') && !p.is(')') {
			p.fail("expected , or ) after an argument, found %s", p.found())
		}
	}
	return out
}

func (p *parser) operand(depth int) Operand {
	o := Operand{Reg: -1, Reg2: -1}
	switch {
	case depth > maxNesting:
		p.fail("an operand is nested too deeply")
	case p.is('{'):
		p.advance()
		o.Kind = Vector
		for !p.accept('}') {
			o.Elems = append(o.Elems, p.operand(depth+1))
			if !p.accept(',') && !p.is('}') {
				p.fail("expected , or } in a vector, found %s", p.found())
			}
		}
	case p.is('['):
		p.advance()
		p.address(&o, depth)
	case p.is(tNumber), p.is('-'), p.is('('), p.is('~'), p.is('+'):
		l := p.expression(0)
		o.Kind, o.Bits, o.Float, o.F32 = Imm, l.bits, l.float, l.f32
	case p.accept('!'):
		if p.is(tNumber) || p.is('(') {
			o.Kind, o.Bits = Imm, truth(p.primary(0).bits == 0)
			break
		}
		o = p.operand(depth + 1)
		o.Not = !o.Not
	case p.is(tWord):
		p.named(&o, p.name())
	default:
		p.fail("expected an operand, found %s", p.found())
	}
	if p.accept('|') {
		second := p.operand(depth + 1)
		switch {
		case second.Kind == Sink:
		case second.Kind == Reg:
			o.Reg2 = second.Reg
		default:
			p.fail("the second destination is no register")
		}
	}
	return o
}

// named is a register, a special register, a symbol with an offset, or _.
func (p *parser) named(o *Operand, name string) {
	if name == "_" {
		o.Kind = Sink
		return
	}
	if r, ok := p.register(name); ok {
		o.Kind, o.Reg = Reg, r
		return
	}
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		if r, ok := p.register(name[:dot]); ok {
			o.Kind, o.Reg, o.Part = Reg, r, name[dot+1:]
			return
		}
	}
	if name == "WARP_SZ" {
		o.Kind, o.Bits = Imm, 32
		return
	}
	if strings.HasPrefix(name, "%") {
		o.Kind, o.Special = Special, name[1:]
		if !special(o.Special) {
			p.fail("%s is neither a register declared here nor a special one", name)
		}
		return
	}
	o.Kind, o.Symbol = Symbol, p.variable(name)
	p.offset(o)
}

// offset reads what is added to a symbol or a register.
func (p *parser) offset(o *Operand) {
	for p.is('+') || p.is('-') {
		neg := p.is('-')
		p.advance()
		n := int64(p.binary(products, 0).bits)
		if neg {
			n = -n
		}
		o.Offset += n
	}
}

// address reads "[base + offset]"; Elems are the coordinates of a tensor.
func (p *parser) address(o *Operand, depth int) {
	o.Kind = Address
	switch {
	case p.is(tNumber), p.is('('), p.is('-'):
		o.Offset = int64(p.expression(0).bits)
	case p.is(tWord):
		name := p.name()
		if r, ok := p.register(name); ok {
			o.Reg = r
		} else if strings.HasPrefix(name, "%") {
			p.fail("%s is not declared here", name)
		} else {
			o.Symbol = p.variable(name)
		}
		p.offset(o)
	default:
		p.fail("expected an address, found %s", p.found())
	}
	if p.accept(',') {
		o.Elems = p.operand(depth + 1).Elems
	}
	p.expect(']')
}

var specials = set(`tid ntid laneid warpid nwarpid ctaid nctaid smid nsmid gridid is_explicit_cluster clusterid nclusterid
	cluster_ctaid cluster_nctaid cluster_ctarank cluster_nctarank lanemask_eq lanemask_le lanemask_lt lanemask_ge lanemask_gt
	clock clock_hi clock64 globaltimer globaltimer_lo globaltimer_hi total_smem_size aggr_smem_size dynamic_smem_size
	reserved_smem_offset_begin reserved_smem_offset_end reserved_smem_offset_cap current_graph_exec`)

// special reports whether name is a special register, with or without .x.
func special(name string) bool {
	base, part, _ := strings.Cut(name, ".")
	if strings.HasPrefix(base, "pm") || strings.HasPrefix(base, "envreg") || strings.HasPrefix(base, "reserved_smem_offset_") {
		return true
	}
	return specials[base] && (part == "" || part == "x" || part == "y" || part == "z" || part == "w")
}

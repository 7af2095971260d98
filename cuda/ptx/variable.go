package ptx

// extent reads the dimensions behind a name, and computes the size.
func (p *parser) extent(v *Variable) (dims []int) {
	v.Count = 1
	for p.accept('[') {
		n := 0
		if !p.is(']') {
			n = int(min(p.expression(0).bits, maxBytes+1))
		}
		p.expect(']')
		if v.Count *= n; v.Count > maxBytes {
			p.fail("%s is larger than %d bytes", v.Name, maxBytes)
		}
		if dims = append(dims, n); len(dims) > maxNesting {
			p.fail("%s has too many dimensions", v.Name)
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
	return dims
}

// initializer reads "value" or "{...}", nested for more dimensions.
func (p *parser) initializer(v *Variable, dims []int) {
	size := v.Type.Bytes()
	if v.Vec > 1 {
		dims = append(dims, v.Vec)
	}
	at := p.values(v, dims, 0, 0)
	if v.Count == 0 { // [] takes its size from its values
		v.Count, v.Bytes = at/max(size, 1), at
	}
}

// values reads one value or one pair of braces at a byte offset, and gives the
// offset behind it. Values left out are zero.
func (p *parser) values(v *Variable, dims []int, at, depth int) int {
	if depth > maxNesting {
		p.fail("an initializer is nested too deeply")
	}
	size := v.Type.Bytes()
	if !p.accept('{') {
		if v.Count > 0 && at+size > v.Bytes {
			p.fail("%s has more initial values than elements", v.Name)
		}
		p.initial(v, at)
		return at + size
	}
	end := at
	var inner []int
	if len(dims) > 0 {
		inner = dims[1:]
		extent := size
		for _, n := range dims {
			extent *= n
		}
		end += extent
	}
	for !p.accept('}') {
		at = p.values(v, inner, at, depth+1)
		if !p.accept(',') && !p.is('}') {
			p.fail("expected , or } in an initializer, found %s", p.found())
		}
	}
	return max(at, end)
}

// initial reads a number, or an address: symbol, generic(symbol), or a sum of one
// and a number.
func (p *parser) initial(v *Variable, at int) {
	if !p.is(tWord) {
		l := p.expression(0)
		o := Operand{Bits: l.bits, Float: l.float, F32: l.f32}
		bits := o.As(v.Type)
		if n := len(v.Init) - 1; n < 0 || v.Init[n].Symbol != "" || v.Init[n].At+len(v.Init[n].Bytes) != at {
			v.Init = append(v.Init, Initial{At: at})
		}
		run := &v.Init[len(v.Init)-1]
		for i := range v.Type.Bytes() {
			run.Bytes = append(run.Bytes, byte(bits>>(8*i)))
		}
		return
	}
	init := Initial{At: at, Size: v.Type.Bytes(), Symbol: p.name()}
	if init.Symbol == "generic" && p.accept('(') {
		init.Generic, init.Symbol = true, p.name()
		p.expect(')')
	}
	o := Operand{}
	p.offset(&o)
	init.Offset = o.Offset
	v.Init = append(v.Init, init)
}

package ptx

import "math"

// double is the kind of an operator of two characters, 0 for others.
func double(a, b byte) byte {
	switch {
	case a != b && b != '=':
	case a == '<' && b == '<':
		return 'L'
	case a == '>' && b == '>':
		return 'R'
	case a == '&' && b == '&':
		return 'A'
	case a == '|' && b == '|':
		return 'O'
	case a == '=':
		return 'E'
	case a == '!' && b == '=':
		return 'N'
	case a == '<' && b == '=':
		return 'l'
	case a == '>' && b == '=':
		return 'g'
	}
	return 0
}

// Levels of binary operators, the loosest first.
const (
	sums     = 8
	products = 9
)

func level(op byte) int {
	switch op {
	case 'O':
		return 0
	case 'A':
		return 1
	case '|':
		return 2
	case '^':
		return 3
	case '&':
		return 4
	case 'E', 'N':
		return 5
	case '<', '>', 'l', 'g':
		return 6
	case 'L', 'R':
		return 7
	case '+', '-':
		return sums
	case '*', '/', '%':
		return products
	}
	return -1
}

// expression reads a constant expression. Nearly always it is one number.
func (p *parser) expression(depth int) literal {
	c := p.binary(0, depth)
	if !p.accept('?') {
		return c
	}
	yes := p.expression(depth + 1)
	p.expect(':')
	no := p.expression(depth + 1)
	if c.bits != 0 {
		return yes
	}
	return no
}

// binary reads operators that bind at least as tightly as least.
func (p *parser) binary(least, depth int) literal {
	a := p.primary(depth)
	for {
		op := p.tok.kind
		n := level(op)
		if n < least {
			return a
		}
		p.advance()
		a = p.apply(op, a, p.binary(n+1, depth+1))
	}
}

func (p *parser) primary(depth int) literal {
	if depth > maxNesting {
		p.fail("an expression is nested too deeply")
	}
	switch {
	case p.accept('('):
		if p.is(tWord) && (p.tok.text == ".s64" || p.tok.text == ".u64") { // a cast
			unsigned := p.tok.text == ".u64"
			p.advance()
			p.expect(')')
			l := p.primary(depth + 1)
			l.unsigned = unsigned
			return l
		}
		l := p.expression(depth + 1)
		p.expect(')')
		return l
	case p.accept('-'):
		return p.primary(depth + 1).negate()
	case p.accept('+'):
		return p.primary(depth + 1)
	case p.accept('~'):
		l := p.primary(depth + 1)
		l.bits = ^l.bits
		return l
	case p.accept('!'):
		return literal{bits: truth(p.primary(depth+1).bits == 0)}
	}
	return p.number()
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func (l literal) float64() float64 {
	switch {
	case l.f32:
		return float64(math.Float32frombits(uint32(l.bits)))
	case l.float:
		return math.Float64frombits(l.bits)
	case l.unsigned:
		return float64(l.bits)
	}
	return float64(int64(l.bits))
}

func (p *parser) apply(op byte, a, b literal) literal {
	if a.float || b.float {
		return p.applyFloat(op, a.float64(), b.float64())
	}
	r := literal{unsigned: a.unsigned || b.unsigned}
	x, y := int64(a.bits), int64(b.bits)
	less := x < y
	if r.unsigned {
		less = a.bits < b.bits
	}
	switch op {
	case '+':
		r.bits = a.bits + b.bits
	case '-':
		r.bits = a.bits - b.bits
	case '*':
		r.bits = a.bits * b.bits
	case '/', '%':
		r.bits = p.divide(op, a.bits, b.bits, r.unsigned)
	case '&':
		r.bits = a.bits & b.bits
	case '|':
		r.bits = a.bits | b.bits
	case '^':
		r.bits = a.bits ^ b.bits
	case 'L':
		r.bits = a.bits << b.bits
	case 'R':
		if r.bits = uint64(x >> b.bits); a.unsigned {
			r.bits = a.bits >> b.bits
		}
	case 'A':
		return literal{bits: truth(x != 0 && y != 0)}
	case 'O':
		return literal{bits: truth(x != 0 || y != 0)}
	case 'E':
		return literal{bits: truth(x == y)}
	case 'N':
		return literal{bits: truth(x != y)}
	case '<':
		return literal{bits: truth(less)}
	case 'g':
		return literal{bits: truth(!less)}
	case '>':
		return literal{bits: truth(!less && x != y)}
	case 'l':
		return literal{bits: truth(less || x == y)}
	}
	return r
}

func (p *parser) divide(op byte, a, b uint64, unsigned bool) uint64 {
	switch {
	case b == 0:
		p.fail("a constant expression divides by zero")
	case unsigned && op == '/':
		return a / b
	case unsigned:
		return a % b
	case op == '/':
		return uint64(int64(a) / int64(b))
	}
	return uint64(int64(a) % int64(b))
}

func (p *parser) applyFloat(op byte, a, b float64) literal {
	r := literal{float: true}
	switch op {
	case '+':
		r.bits = math.Float64bits(a + b)
	case '-':
		r.bits = math.Float64bits(a - b)
	case '*':
		r.bits = math.Float64bits(a * b)
	case '/':
		r.bits = math.Float64bits(a / b)
	case '<':
		return literal{bits: truth(a < b)}
	case '>':
		return literal{bits: truth(a > b)}
	case 'E':
		return literal{bits: truth(a == b)}
	default:
		p.fail("this operator is not supported between floating-point constants")
	}
	return r
}

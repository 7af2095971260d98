package ptx

import (
	"strconv"
	"strings"
)

// strings reads .debug_str: labels, and the bytes of the names of inlined functions.
func (p *parser) strings() {
	p.expect('{')
	label := ""
	for !p.accept('}') {
		switch {
		case p.is(tEOF):
			p.fail("a .section does not end")
		case p.word(".b8"):
			p.advance()
			var name []byte
			for {
				if b := byte(p.integer(255)); b != 0 {
					name = append(name, b)
				}
				if !p.accept(',') {
					break
				}
			}
			p.debugNames[label] += demangle(string(name))
		default:
			label = p.name()
			p.expect(':')
		}
	}
}

// nameInlined replaces the labels of inlined functions by their names.
func (p *parser) nameInlined() {
	if len(p.debugNames) == 0 {
		return
	}
	for _, f := range p.module.Functions {
		for i := range f.Body {
			for at := &f.Body[i].Pos; at != nil && at.Function != ""; at = at.InlinedAt {
				if name, ok := p.debugNames[at.Function]; ok {
					at.Function = name
				}
			}
		}
	}
}

// demangle gives the name in a mangled one, without its parameters: "_Z4warpILi8EEvPf"
// is "warp", "_ZN1a1bEv" "a::b". What it does not understand it leaves as it is.
func demangle(s string) string {
	rest, ok := strings.CutPrefix(s, "_Z")
	if !ok {
		return s
	}
	rest, nested := strings.CutPrefix(rest, "N")
	rest = strings.TrimPrefix(rest, "L")
	var parts []string
	for len(rest) > 0 && digit(rest[0]) {
		end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
		if end < 0 || end > 4 {
			return s
		}
		n, err := strconv.Atoi(rest[:end])
		if err != nil || end+n > len(rest) {
			return s
		}
		part := rest[end : end+n]
		if strings.HasPrefix(part, "_GLOBAL__N_") || strings.HasPrefix(part, "_INTERNAL_") {
			part = "(anonymous)"
		}
		parts = append(parts, part)
		if rest = rest[end+n:]; !nested {
			break
		}
	}
	if len(parts) == 0 {
		return s
	}
	return strings.Join(parts, "::")
}

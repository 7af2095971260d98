package nvrtc

import (
	"fmt"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"github.com/warpbook/warpbook/cuda/ptx"
)

// Signature is a kernel as its caller sees it.
type Signature struct {
	Name   string // in the source: "softmax", "softmax<float>"
	Symbol string // in the PTX
	Params []Param

	// How a launch's parameters lie in memory: the offset of each, and all bytes.
	Offsets []int
	Bytes   int

	// What the machine code takes, when it was asked for; about, on other devices.
	Measured  bool
	Registers int // a thread
	Shared    int // bytes of static shared memory a block
	Local     int // bytes of stack a thread: local arrays and spills
	Const     int // bytes of constant memory for parameters
}

// Param is a kernel's parameter. Name and Type are empty when the source does not
// show them, because a macro makes the kernel, for example.
type Param struct {
	Name    string
	Type    string // "const float*", "int"
	Pointer bool
	Element string // what a pointer points to, without const: "float"
	Const   bool   // a pointer to what the kernel only reads
	Bytes   int
	Float   bool // in the PTX a floating-point number
}

// Called is the parameter's name for a message: " (n)", or nothing.
func (p *Param) Called() string {
	if p.Name == "" {
		return ""
	}
	return " (" + p.Name + ")"
}

// Wanted says what an argument has to be.
func (p *Param) Wanted() string {
	switch {
	case p.Pointer && p.Element != "":
		return "a tensor for " + p.Type
	case p.Pointer:
		return "a tensor"
	case p.Type != "":
		return p.Type
	case p.Float:
		return fmt.Sprintf("a floating-point number of %d bytes", p.Bytes)
	case p.Bytes == 8:
		return "a tensor or an integer of 8 bytes"
	}
	return fmt.Sprintf("an integer of %d bytes", p.Bytes)
}

// String is the kernel as the source declares it, as far as that is known.
func (s *Signature) String() string {
	parts := make([]string, len(s.Params))
	for i := range s.Params {
		p := &s.Params[i]
		parts[i] = p.Type
		if p.Type == "" {
			parts[i] = p.Wanted()
		}
		if p.Name != "" {
			parts[i] += " " + p.Name
		}
	}
	return s.Name + "(" + strings.Join(parts, ", ") + ")"
}

// FromPTX is the signature of a kernel of which only the PTX is known: its own name,
// and the sizes of parameters.
func FromPTX(f *ptx.Function) Signature {
	s := Signature{Name: f.Name, Symbol: f.Name}
	for _, v := range f.Params {
		s.Params = append(s.Params, Param{Bytes: v.Bytes, Float: v.Type.Float()})
	}
	s.Offsets, s.Bytes = f.ParamLayout()
	return s
}

// signatures lists the kernels of a compiled source: names and types from the
// mangled names and from the source.
func signatures(text, source string) ([]Signature, error) {
	m, err := ptx.Parse(text)
	if err != nil {
		return nil, err
	}
	written := scan(source)
	var out []Signature
	for _, f := range m.Kernels() {
		sig := FromPTX(f)
		var types []string
		if full := demangle.Filter(f.Name, demangle.NoClones); full != f.Name {
			sig.Name, types = splitDemangled(full)
		}
		base, _, _ := strings.Cut(sig.Name[strings.LastIndexByte(sig.Name, ':')+1:], "<")
		var decl []Param
		for _, w := range written {
			if w.name == base && len(w.params) == len(f.Params) {
				decl = w.params
			}
		}
		for i := range sig.Params {
			p := Param{}
			if decl != nil {
				p = decl[i]
			}
			if i < len(types) && len(types) == len(f.Params) {
				p = typed(types[i], p.Name) // without the template's names for types
			}
			p.Bytes, p.Float = sig.Params[i].Bytes, sig.Params[i].Float
			if p.Type != "" && p.Pointer && p.Bytes != 8 {
				p = Param{Name: p.Name, Bytes: p.Bytes, Float: p.Float} // a misreading
			}
			sig.Params[i] = p
		}
		out = append(out, sig)
	}
	return out, nil
}

// splitDemangled takes "void f<float>(float const*, int)" apart.
func splitDemangled(full string) (name string, types []string) {
	depth := 0
	for i, c := range full {
		switch c {
		case '<':
			depth++
		case '>':
			depth--
		case '(':
			if depth == 0 {
				name = full[:i]
				list := strings.TrimSuffix(full[i+1:], ")")
				if list != "" {
					types = splitTop(list)
				}
				if sp := strings.IndexByte(name, ' '); sp >= 0 && !strings.Contains(name[:sp], "<") {
					name = name[sp+1:] // the result of a template
				}
				return name, types
			}
		}
	}
	return full, nil
}

// splitTop splits at commas outside of brackets.
func splitTop(s string) (out []string) {
	depth, start := 0, 0
	for i, c := range s {
		switch c {
		case '<', '(', '[', '{':
			depth++
		case '>', ')', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, strings.TrimSpace(s[start:i]))
				start = i + 1
			}
		}
	}
	return append(out, strings.TrimSpace(s[start:]))
}

// typed makes a Param of a C++ type.
func typed(text, name string) Param {
	p := Param{Name: name}
	words := strings.Fields(strings.NewReplacer("*", " * ", "&", " & ", "__restrict__", " ", "__restrict", " ", "__grid_constant__", " ").Replace(text))
	var element []string
	stars := 0
	for _, w := range words {
		switch {
		case w == "*":
			stars++
		case w == "const" && stars == 0:
			p.Const = true
		case w == "const" || w == "volatile" || w == "struct":
		default:
			element = append(element, w)
		}
	}
	e := strings.Join(element, " ")
	if short, ok := spelled[e]; ok {
		e = short
	}
	p.Type = e
	if stars > 0 {
		p.Pointer = true
		p.Element = e + strings.Repeat("*", stars-1)
		p.Type = p.Element + "*"
		if p.Const {
			p.Type = "const " + p.Type
		}
	} else {
		p.Const = false
	}
	return p
}

// spelled gives one name to types that have several.
var spelled = map[string]string{
	"half": "half", "__half": "half", "__nv_bfloat16": "bfloat16", "nv_bfloat16": "bfloat16",
	"int": "int", "signed int": "int", "int32_t": "int", "signed": "int",
	"unsigned": "unsigned int", "unsigned int": "unsigned int", "uint32_t": "unsigned int",
	"unsigned char": "unsigned char", "uint8_t": "unsigned char",
	"long long": "long long", "int64_t": "long long", "long": "long long", "long int": "long long", "long long int": "long long",
	"unsigned long long": "unsigned long long", "uint64_t": "unsigned long long", "size_t": "unsigned long long", "unsigned long": "unsigned long long",
}

// written is a kernel that the source declares.
type written struct {
	name   string
	params []Param
}

// scan finds the __global__ functions of a source. It reads tokens, not C++: what a
// macro hides it does not see.
func scan(source string) (out []written) {
	toks := tokens(source)
	for i := 0; i < len(toks); i++ {
		if toks[i] != "__global__" {
			continue
		}
		j := i + 1
		for j < len(toks) && toks[j] != "(" && toks[j] != ";" && toks[j] != "{" {
			if (toks[j] == "__launch_bounds__" || toks[j] == "__cluster_dims__" || toks[j] == "__maxnreg__") && j+1 < len(toks) && toks[j+1] == "(" {
				j = closing(toks, j+1)
			}
			j++
		}
		if j >= len(toks) || toks[j] != "(" {
			continue
		}
		end := closing(toks, j)
		w := written{name: toks[j-1]}
		if list := strings.Join(toks[j+1:min(end, len(toks))], " "); strings.TrimSpace(list) != "" {
			for _, text := range splitTop(list) {
				w.params = append(w.params, declared(text))
			}
		}
		out = append(out, w)
		i = end
	}
	return out
}

// declared reads "const float * x" or "int n = 3".
func declared(text string) Param {
	text, _, _ = strings.Cut(text, "=")
	words := strings.Fields(text)
	if len(words) == 0 {
		return Param{}
	}
	name := words[len(words)-1]
	if name == "*" || len(words) == 1 {
		return typed(text, "")
	}
	return typed(strings.Join(words[:len(words)-1], " "), name)
}

// closing is the index of the bracket that closes the one at i, or the end.
func closing(toks []string, i int) int {
	depth := 0
	for ; i < len(toks); i++ {
		switch toks[i] {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(toks)
}

// tokens cuts a source into words and single characters, without comments,
// strings and preprocessor lines.
func tokens(s string) (out []string) {
	word := func(c byte) bool {
		return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
	}
	lineStart := true
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '\n':
			lineStart = true
			i++
			continue
		case c == ' ' || c == '\t' || c == '\r':
			i++
			continue
		case c == '#' && lineStart:
			for i < len(s) && s[i] != '\n' {
				if s[i] == '\\' && i+1 < len(s) {
					i++
				}
				i++
			}
			continue
		case strings.HasPrefix(s[i:], "//"):
			for i < len(s) && s[i] != '\n' {
				i++
			}
			continue
		case strings.HasPrefix(s[i:], "/*"):
			end := strings.Index(s[i+2:], "*/")
			if end < 0 {
				return out
			}
			i += end + 4
			continue
		case c == '"' || c == '\'':
			j := i + 1
			for j < len(s) && s[j] != c && s[j] != '\n' {
				if s[j] == '\\' {
					j++
				}
				j++
			}
			i = min(j+1, len(s))
			out = append(out, "\"\"")
		case word(c):
			j := i
			for j < len(s) && word(s[j]) {
				j++
			}
			out = append(out, s[i:j])
			i = j
		case strings.HasPrefix(s[i:], "::"):
			out = append(out, "::")
			i += 2
		default:
			out = append(out, s[i:i+1])
			i++
		}
		lineStart = false
	}
	return out
}

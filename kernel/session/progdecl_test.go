package session_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

func (g *progen) add(c progCell) { g.cells = append(g.cells, c) }

// declare adds a cell of declarations, the same for the compiler.
func (g *progen) declare(text string) {
	g.add(progCell{text: text, decl: text, defines: true, compiled: true})
}

// run adds a cell of statements.
func (g *progen) run(text string) { g.add(progCell{text: text, body: text}) }

// setup declares some types, functions and constants.
func (g *progen) setup(types int, whole bool) {
	var b strings.Builder
	piece := func(f func() string) {
		g.attempt(func() {
			text := f()
			g.declare(b.String() + text) // for the check only
			g.cells[len(g.cells)-1].text = text
		})
		if n := len(g.cells); n > 0 {
			b.WriteString(g.cells[n-1].text + "\n")
			g.cells = g.cells[:n-1]
		}
	}
	for range types {
		piece(g.declareType)
	}
	for range 2 + g.n(3) {
		piece(g.declareFunc)
	}
	c := g.local("k")
	t := pick(g, basics[:8])
	fmt.Fprintf(&b, "const (\n\t%s = iota + 3\n\t%sB\n\t%sC %s = %s\n)\n", c, c, c, t.name, g.constant(t))
	g.consts = append(g.consts, pvar{c, tInt}, pvar{c + "B", tInt}, pvar{c + "C", t})
	if whole || g.chance(50) {
		g.declare(b.String())
		return
	}
	for _, part := range strings.SplitAfter(b.String(), "\n\n") {
		if strings.TrimSpace(part) != "" {
			g.declare(part)
		}
	}
}

func (g *progen) constant(t *ptype) string {
	for {
		if l := g.literal(t); !strings.Contains(l, "(") {
			return l
		}
	}
}

// declareType writes a type with methods.
func (g *progen) declareType() string {
	name := pick(g, []string{"Celsius", "point", "Level", "Set", "node", "Temp", "ID", "pair", "Err", "Weekday"}) + g.local("")
	t := &ptype{name: name, named: true}
	var b strings.Builder
	recv := "r"
	switch g.n(9) {
	case 0, 1, 2:
		u := pick(g, []*ptype{tF64, tInt, tString, tInt64, tUint8, tF32, tBool, tInt})
		t.kind, t.bits = u.kind, u.bits
		fmt.Fprintf(&b, "type %s %s\n\n", name, u.name)
	case 3:
		t.kind, t.elem = "slice", pick(g, basics)
		fmt.Fprintf(&b, "type %s []%s\n\n", name, t.elem.name)
	case 4:
		t.kind, t.key, t.elem = "map", tString, pick(g, basics)
		fmt.Fprintf(&b, "type %s map[string]%s\n\n", name, t.elem.name)
	default:
		t.kind = "struct"
		fmt.Fprintf(&b, "type %s struct {\n", name)
		for i := range 1 + g.n(4) {
			f := pfield{pick(g, []string{"A", "b", "Name", "size", "Val", "x", "Y"}) + fmt.Sprint(i), pick(g, basics)}
			if g.chance(30) {
				f.t = g.composite(1)
			} else if g.chance(15) {
				f.t = pick(g, []*ptype{tDuration, tError, tAny, tTime})
			}
			if f.t.kind == "any" {
				f.t = tString
			}
			tag := ""
			if g.chance(30) {
				tag = fmt.Sprintf(" `json:\"%s,omitempty\"`", strings.ToLower(f.name))
			}
			fmt.Fprintf(&b, "\t%s %s%s\n", f.name, f.t.name, tag)
			t.fields = append(t.fields, f)
		}
		if emb := g.embeddable(); emb != nil && g.chance(40) {
			fmt.Fprintf(&b, "\t%s\n", emb.name)
			t.fields = append(t.fields, pfield{emb.name, emb})
			for _, c := range emb.calls {
				if c.name != "String" && c.name != "Error" {
					t.calls = append(t.calls, c)
				} else {
					t.fmts = true
					t.calls = append(t.calls, c)
				}
			}
		}
		b.WriteString("}\n\n")
	}
	self := recv
	field := ""
	if t.kind == "struct" {
		field = "." + t.fields[0].name
		self = recv + field
	}
	_ = self
	text := func(verb string) string {
		if t.kind == "struct" && t.fields[0].t.plain() && !t.fields[0].t.fmts {
			return fmt.Sprintf("fmt.Sprintf(%q, r%s)", "<"+name[:2]+verb+">", field)
		}
		if t.kind == "struct" {
			return fmt.Sprintf("%q", "<"+name+">")
		}
		u := map[string]string{"int": "int64", "uint": "uint64", "float": "float64", "string": "string", "bool": "bool"}[t.kind]
		if u == "" {
			return fmt.Sprintf("fmt.Sprint(%q, len(r))", name)
		}
		return fmt.Sprintf("fmt.Sprint(%s(r), %q)", u, "°")
	}
	if !t.fmts {
		switch g.n(5) {
		case 0, 1:
			fmt.Fprintf(&b, "func (r %s) String() string { return %s }\n\n", name, text("%v"))
			t.fmts = true
			t.calls = append(t.calls, pcall{name: "String", res: tString})
		case 2:
			fmt.Fprintf(&b, "func (r %s) Error() string { return %s }\n\n", name, text("%v"))
			t.fmts = true
			t.calls = append(t.calls, pcall{name: "Error", res: tString})
		}
	}
	if g.chance(60) {
		m := "Get" + g.local("")
		saved, savedV := g.locals, g.vars
		g.vars = nil
		g.locals = []pvar{{"r", t}, {"k", tInt}}
		res := pick(g, basics)
		fmt.Fprintf(&b, "func (r %s) %s(k int) %s { return %s }\n\n", name, m, res.name, g.expr(res, 2))
		g.locals, g.vars = saved, savedV
		t.calls = append(t.calls, pcall{name: m, params: []*ptype{tInt}, res: res})
	}
	if g.chance(60) {
		m := "Set" + g.local("")
		saved, savedV := g.locals, g.vars
		g.vars = nil
		if t.kind == "struct" {
			f := t.fields[0]
			if f.t.name != t.fields[0].name {
				g.locals = []pvar{{"w", f.t}}
				fmt.Fprintf(&b, "func (r *%s) %s(w %s) { r.%s = %s }\n\n", name, m, f.t.name, f.name, g.expr(f.t, 1))
				t.calls = append(t.calls, pcall{name: m, params: []*ptype{f.t}, stmt: true})
			}
		} else {
			g.locals = []pvar{{"w", t}}
			fmt.Fprintf(&b, "func (r *%s) %s(w %s) { *r = %s }\n\n", name, m, name, g.expr(t, 1))
			t.calls = append(t.calls, pcall{name: m, params: []*ptype{t}, stmt: true})
		}
		g.locals, g.vars = saved, savedV
	}
	g.types = append(g.types, t)
	return b.String()
}

func (g *progen) embeddable() *ptype {
	var out []*ptype
	for _, t := range g.types {
		if t.kind == "struct" {
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return pick(g, out)
}

// declareFunc writes a pure function.
func (g *progen) declareFunc() string {
	name := pick(g, []string{"f", "Compute", "conv", "helper"}) + g.local("")
	saved, savedV := g.locals, g.vars
	g.vars, g.locals = nil, nil
	var params []string
	f := pcall{name: name}
	for i := range 1 + g.n(3) {
		t := pick(g, basics)
		if len(g.types) > 0 && g.chance(40) {
			t = pick(g, g.types)
		}
		if g.chance(10) {
			t = pick(g, []*ptype{tError, tAny, tDuration})
		}
		f.params = append(f.params, t)
		p := fmt.Sprintf("p%d", i)
		params = append(params, p+" "+t.name)
		g.locals = append(g.locals, pvar{p, t})
	}
	f.res = pick(g, basics)
	if len(g.types) > 0 && g.chance(40) {
		f.res = pick(g, g.types)
	}
	if g.chance(10) {
		f.res = tError
	}
	out := fmt.Sprintf("func %s(%s) %s {\n", name, strings.Join(params, ", "), f.res.name)
	if g.chance(40) {
		out += "\tif " + g.expr(tBool, 2) + " {\n\t\treturn " + g.expr(f.res, 1) + "\n\t}\n"
	}
	out += "\treturn " + g.expr(f.res, 2) + "\n}\n\n"
	g.locals, g.vars = saved, savedV
	g.funcs = append(g.funcs, f)
	return out
}

// defineVar adds a cell that makes a variable.
func (g *progen) defineVar(depth int) {
	t := g.anyType()
	x := g.expr(t, depth)
	if t.kind == "any" || t.kind == "error" || t.kind == "opaque" && t != tTime || g.chance(15) {
		m := g.define(t)
		if t.kind == "opaque" && t != tTime || g.chance(30) {
			g.add(progCell{text: "var " + m + " " + t.name, decl: "var " + m + " " + t.name, body: "_ = 0", defines: true})
			return
		}
		g.add(progCell{text: "var " + m + " " + t.name + " = " + x, decl: "var " + m + " " + t.name, body: m + " = " + x, defines: true})
		return
	}
	switch t.name { // the type must be the one that inference gives
	case "int", "float64", "string", "bool", "complex128":
		if g.chance(30) {
			x = t.name + "(" + x + ")"
		}
	default:
		if !strings.HasPrefix(x, t.name) && !strings.HasPrefix(x, "§") && t.kind != "ptr" && t.kind != "struct" {
			x = t.name + "(" + x + ")"
		}
	}
	m := g.define(t)
	op := pick(g, []string{":=", ":=", ":=", ":=", ":=", "var"})
	text := m + " := " + x
	if op == "var" {
		text = "var " + m + " = " + x
	}
	g.add(progCell{
		text: text, body: m + " = " + x, defines: true,
		decl: "var " + m + " " + t.name + "\nfunc _() { wb := " + x + "; wbSame(&wb, &" + m + ") }",
	})
}

// smallCell adds a cell of one statement.
func (g *progen) smallCell(depth int) {
	g.risk = g.chance(15)
	defer func() { g.risk = false }()
	switch k := g.n(20); {
	case k < 2:
		g.risk = false
		g.attempt(func() { g.defineVar(depth) })
	case k < 9:
		g.run(g.assignment(depth))
	case k < 11:
		t := pick(g, basics)
		if g.chance(30) {
			if len(g.vars) > 0 {
				if v := pick(g, g.vars); v.t.plain() && (v.t.kind == "int" || v.t.fmts && v.t.kind != "struct" || v.t.kind == "string" || v.t.kind == "float") {
					t = v.t
				}
			}
		}
		x := g.expr(t, depth)
		if strings.HasPrefix(x, "!") { // that would be a shell command
			x = "(" + x + ")"
		}
		g.add(progCell{text: x, body: "wbShow(" + x + ")"})
	case k < 14:
		g.run(g.print(depth))
	case k < 16:
		g.run(g.callStmt(depth))
	case k < 18 && len(g.vars) > 0:
		v := pick(g, g.vars)
		if v.t.plain() {
			g.run(fmt.Sprintf("fmt.Printf(\"%%T %%v %%+v %%#v\\n\", %s, %s, %s, %s)", v.name, v.name, v.name, v.name))
		} else if v.t.kind == "opaque" {
			g.run("fmt.Println(" + v.name + ".String(), " + v.name + ".Len())")
		} else if v.t.kind == "struct" || v.t.kind == "array" {
			g.run(fmt.Sprintf("fmt.Printf(\"%%T\\n\", %s)", v.name))
		} else {
			g.run(fmt.Sprintf("fmt.Printf(\"%%T %%t\\n\", %s, %s == nil)", v.name, v.name))
		}
	case k < 19 && len(g.vars) > 1:
		g.run(g.jsonOrSort(depth))
	default:
		g.run(g.print(depth) + "\n" + g.assignment(depth))
	}
}

func (g *progen) print(depth int) string {
	var xs []string
	for range 1 + g.n(3) {
		xs = append(xs, g.printable(depth))
	}
	if g.chance(40) {
		return "fmt.Printf(" + g.expr(tVerbs, 0) + "+\"\\n\", " + strings.Join(xs, ", ") + ")"
	}
	return pick(g, []string{"fmt.Println(", "fmt.Print(", "fmt.Println("}) + strings.Join(xs, ", ") + ")"
}

func (g *progen) assignment(depth int) string {
	if len(g.vars) == 0 {
		return "fmt.Println()"
	}
	v := pick(g, g.vars)
	lhs, t := v.name, v.t
	switch {
	case t.kind == "struct" && g.chance(60):
		f := pick(g, t.fields)
		lhs, t = lhs+"."+f.name, f.t
	case t.kind == "array" && g.chance(60):
		lhs, t = fmt.Sprintf("%s[%d]", lhs, g.n(t.n)), t.elem
	case t.kind == "map" && g.chance(60):
		lhs, t = fmt.Sprintf("%s[%s]", lhs, g.literal(t.key)), t.elem
	case t.kind == "slice" && g.chance(30) && g.risk:
		lhs, t = fmt.Sprintf("%s[%d]", lhs, g.n(3)), t.elem
	case t.kind == "ptr" && g.risk && t.elem.plain():
		lhs, t = "*"+lhs, t.elem
	}
	switch t.kind {
	case "int", "uint":
		switch g.n(5) {
		case 0:
			return lhs + pick(g, []string{"++", "--"})
		case 1, 2:
			return lhs + pick(g, []string{" += ", " -= ", " *= ", " |= ", " ^= ", " &= "}) + g.expr(t, depth)
		case 3:
			return lhs + pick(g, []string{" <<= ", " >>= "}) + pick(g, []string{"1", "2", "uint8(3)"})
		}
	case "float":
		if g.chance(50) {
			return lhs + pick(g, []string{" += ", " -= ", " *= ", " /= "}) + g.expr(t, depth)
		}
	case "string":
		if g.chance(40) {
			return lhs + " += " + g.expr(t, depth)
		}
	case "slice":
		if g.chance(50) && lhs == v.name {
			return lhs + " = append(" + lhs + ", " + g.expr(t.elem, depth) + ")"
		}
	case "opaque":
		if t != tTime {
			return g.callStmt(depth)
		}
	}
	return lhs + " = " + g.expr(t, depth)
}

func (g *progen) callStmt(depth int) string {
	var out []string
	for _, v := range g.vars {
		for _, c := range v.t.calls {
			if c.stmt {
				out = append(out, v.name+"."+c.name+"("+g.args(c, depth)+")")
			}
		}
		if v.t == tBuffer || v.t == tBuilder {
			out = append(out, "fmt.Fprintf(&"+v.name+", "+g.expr(tVerbs, 0)+", "+g.printable(depth)+")", "fmt.Fprintln(&"+v.name+", "+g.printable(depth)+")")
		}
		if v.t.kind == "map" && v.t.key.kind == "string" {
			out = append(out, "delete("+v.name+", "+g.expr(tString, 0)+")", "clear("+v.name+")")
		}
	}
	if len(out) == 0 {
		return g.print(depth)
	}
	return pick(g, out)
}

func (g *progen) jsonOrSort(depth int) string {
	v := pick(g, g.vars)
	switch {
	case v.t.kind == "slice" && v.t.elem.kind == "string" && !v.t.named:
		return "sort.Strings(" + v.name + ")"
	case v.t.kind == "slice" && v.t.elem.name == "int" && !v.t.named:
		return "sort.Ints(" + v.name + ")"
	case v.t.plain():
		j := g.local("j")
		e := g.local("e")
		return fmt.Sprintf("%s, %s := json.Marshal(%s)\nfmt.Println(string(%s), %s)", j, e, v.name, j, e)
	}
	return g.print(depth)
}

// attempt adds cells that others will need: they must type-check now.
func (g *progen) attempt(f func()) {
	for range 8 {
		cells, types, vars, funcs, consts := g.cells, g.types, g.vars, g.funcs, g.consts
		ver := maps.Clone(g.ver)
		g.cells, g.types, g.vars = slices.Clip(cells), slices.Clip(types), slices.Clip(vars)
		g.funcs, g.consts = slices.Clip(funcs), slices.Clip(consts)
		f()
		var defs []progCell
		for _, c := range g.cells {
			if c.defines {
				defs = append(defs, c)
			}
		}
		if bad, _ := typeErrors(defs); len(bad) == 0 {
			return
		}
		g.cells, g.types, g.vars, g.funcs, g.consts, g.ver = cells, types, vars, funcs, consts, ver
	}
}

package front

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
)

// readEmbeds finds the //go:embed directives right above variables.
func (in *input) readEmbeds(s *Session, decls *File) []Diagnostic {
	in.embeds = map[string][]string{}
	for i, c := range in.chunks {
		if c.Kind != Var {
			continue
		}
		patterns := embedPatterns(in.src.Text, c.Start)
		if patterns == nil {
			continue
		}
		pos := s.fset.File(decls.AST.Pos()).Pos(decls.Offset + in.chunks[i].Start)
		if !in.declOnly {
			return []Diagnostic{diagnostic(s.fset, pos, "go:embed cannot stand among statements: give the variable a cell of declarations")}
		}
		name := embedVariable(decls.AST, pos)
		if name == "" {
			return []Diagnostic{diagnostic(s.fset, pos, "go:embed needs one variable without a value, such as var text string")}
		}
		in.embeds[name] = patterns
	}
	return nil
}

// embedPatterns reads the comment lines that end right above offset.
func embedPatterns(src []byte, offset int) []string {
	lines := strings.Split(string(src[:offset]), "\n")
	var patterns []string
	for i := len(lines) - 2; i >= 0; i-- {
		line := strings.TrimSpace(lines[i])
		if !strings.HasPrefix(line, "//") {
			break
		}
		if args, ok := strings.CutPrefix(line, "//go:embed "); ok {
			patterns = append(patterns, splitPatterns(args)...)
		}
	}
	return patterns
}

// splitPatterns cuts at spaces; quotes keep them.
func splitPatterns(args string) []string {
	var out []string
	for args = strings.TrimSpace(args); args != ""; args = strings.TrimSpace(args) {
		if q, err := strconv.QuotedPrefix(args); err == nil {
			p, _ := strconv.Unquote(q)
			out, args = append(out, p), args[len(q):]
			continue
		}
		p, rest, _ := strings.Cut(args, " ")
		out, args = append(out, p), rest
	}
	return out
}

func embedVariable(f *ast.File, pos token.Pos) string {
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Pos() != pos || len(g.Specs) != 1 {
			continue
		}
		if spec := g.Specs[0].(*ast.ValueSpec); len(spec.Names) == 1 && len(spec.Values) == 0 {
			return spec.Names[0].Name
		}
	}
	return ""
}

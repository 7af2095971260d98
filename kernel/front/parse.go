package front

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// bodyName is the function that a cell's statements are the body of.
func bodyName(count int) string { return "wb_cell" + itoa(count) }

// parseDecls parses the given ranges of a source as the declarations of a file.
func (s *Session) parseDecls(src *Source, text []byte) (*File, error) {
	head := fmt.Sprintf("package main\n//line %s:1:1\n", FileName(src.Count))
	return s.parse(src, head, text, "")
}

// parseBody parses text as the body of a function.
func (s *Session) parseBody(src *Source, text []byte) (*File, error) {
	head := fmt.Sprintf("package main\nfunc %s() {\n//line %s:1:1\n", bodyName(src.Count), FileName(src.Count))
	return s.parse(src, head, text, "\n}")
}

func (s *Session) parse(src *Source, head string, text []byte, tail string) (*File, error) {
	full := append(append([]byte(head), text...), tail...)
	f, err := parser.ParseFile(s.fset, FileName(src.Count), full, parser.ParseComments|parser.AllErrors|parser.SkipObjectResolution)
	if f == nil {
		return nil, err
	}
	if tf := s.fset.File(f.FileStart); tf != nil {
		s.parsed = append(s.parsed, tf)
	}
	return &File{Source: src, AST: f, Text: full, Offset: len(head)}, err
}

// overlay copies the units' bytes to their places on a blank page.
func overlay(src []byte, ranges [][2]int) []byte {
	out := blank(src, nil, nil)
	for _, r := range ranges {
		copy(out[r[0]:r[1]], src[r[0]:r[1]])
	}
	return out
}

// parseImports reads the cell's import declarations.
func (s *Session) parseImports(src *Source, chunks []Chunk) (named map[string]string, blanks, dots []string, errs []Diagnostic) {
	if !slices.ContainsFunc(chunks, func(c Chunk) bool { return c.Kind == Import }) {
		return nil, nil, nil, nil
	}
	text := blank(src.Text, chunks, func(_ int, c Chunk) bool { return c.Kind == Import })
	f, err := s.parseDecls(src, text)
	if err != nil {
		return nil, nil, nil, syntaxDiagnostics(src, err)
	}
	named = map[string]string{}
	for _, spec := range f.AST.Imports {
		p, _ := strconv.Unquote(spec.Path.Value)
		name := ""
		if spec.Name != nil {
			name = spec.Name.Name
		}
		pkg, err := s.importer.Import(p)
		if err != nil {
			errs = append(errs, diagnostic(s.fset, spec.Path.Pos(), importMessage(p, err)))
			continue
		}
		switch name {
		case "_":
			blanks = append(blanks, p)
		case ".":
			dots = append(dots, p)
		case "":
			named[pkg.Name()] = p
		default:
			named[name] = p
		}
	}
	return named, blanks, dots, errs
}

func importMessage(p string, err error) string {
	if !strings.Contains(strings.Split(p, "/")[0], ".") {
		return fmt.Sprintf("package %s is not in std", p)
	}
	return fmt.Sprintf("cannot import %s: %v", p, err)
}

// units cuts the declaration chunks into units.
func units(src *Source, chunks []Chunk, fset *token.FileSet, f *File) []*Unit {
	var out []*Unit
	for _, d := range f.AST.Decls {
		start, end := f.span(fset, d)
		switch d := d.(type) {
		case *ast.FuncDecl:
			u := &Unit{Kind: Func, Source: src, Ranges: [][2]int{{start, end}}, own: true}
			u.Keys = []string{d.Name.Name}
			if d.Recv != nil {
				u.Base = receiverBase(d.Recv)
				u.Keys = []string{u.Base + "." + d.Name.Name}
			}
			out = append(out, u)
		case *ast.GenDecl:
			switch d.Tok {
			case token.CONST:
				u := &Unit{Kind: Const, Source: src, Ranges: [][2]int{{start, end}}, own: true}
				for _, spec := range d.Specs {
					for _, name := range spec.(*ast.ValueSpec).Names {
						u.Keys = append(u.Keys, name.Name)
					}
				}
				if len(u.Keys) > 0 { // not "const ()"
					out = append(out, u)
				}
			case token.TYPE:
				for _, spec := range d.Specs {
					a, b := f.span(fset, spec)
					u := &Unit{Kind: Type, Source: src, own: true}
					u.Ranges = [][2]int{{start, start + len("type")}, {a, b}}
					if d.Lparen.IsValid() { // a group: its parentheses come with every part of it
						open, end := f.offset(fset, d.Lparen), f.offset(fset, d.Rparen)
						u.Ranges = [][2]int{{start, start + len("type")}, {open, open + 1}, {a, withSemicolon(src.Text, b)}, {end, end + 1}}
						u.main = 2
					} else {
						u.main = 1
					}
					u.Keys = []string{spec.(*ast.TypeSpec).Name.Name}
					out = append(out, u)
				}
			}
		}
	}
	return out
}

// withSemicolon moves the end of a spec behind a semicolon that follows it.
func withSemicolon(src []byte, end int) int {
	for i := end; i < len(src); i++ {
		switch src[i] {
		case ' ', '\t':
		case ';':
			return i + 1
		default:
			return end
		}
	}
	return end
}

func (f *File) offset(fset *token.FileSet, pos token.Pos) int {
	return fset.File(pos).Offset(pos) - f.Offset
}

// span gives a node's bytes in the cell.
func (f *File) span(fset *token.FileSet, n ast.Node) (start, end int) {
	return f.offset(fset, n.Pos()), f.offset(fset, n.End())
}

func receiverBase(recv *ast.FieldList) string {
	if len(recv.List) == 0 {
		return ""
	}
	t := recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// mentions collects every identifier of the files, and for those that could be
// packages the members selected from them.
func mentions(files ...*ast.File) (names map[string]bool, members map[string][]string) {
	names, members = map[string]bool{}, map[string][]string{}
	for _, f := range files {
		if f == nil {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				names[n.Name] = true
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok {
					members[x.Name] = append(members[x.Name], n.Sel.Name)
				}
			}
			return true
		})
	}
	return names, members
}

// firstMentions says where each name stands first: an import that was added for
// it has its errors there.
func firstMentions(f *ast.File) map[string]token.Pos {
	first := map[string]token.Pos{}
	ast.Inspect(f, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !first[id.Name].IsValid() {
			first[id.Name] = id.Pos()
		}
		return true
	})
	return first
}

// addImports gives a parsed file the imports that it mentions.
func addImports(f *File, imports map[string]string, first map[string]token.Pos) {
	var decls []ast.Decl
	for name, p := range imports {
		pos := first[name]
		spec := &ast.ImportSpec{
			Name: &ast.Ident{Name: name, NamePos: pos},
			Path: &ast.BasicLit{Kind: token.STRING, Value: strconv.Quote(p), ValuePos: pos},
		}
		decls = append(decls, &ast.GenDecl{Tok: token.IMPORT, TokPos: pos, Specs: []ast.Spec{spec}})
		f.AST.Imports = append(f.AST.Imports, spec)
	}
	f.AST.Decls = append(decls, f.AST.Decls...)
}

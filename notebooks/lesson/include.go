package lesson

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// includeMark begins a line of a cell that stands for a file of the module.
const includeMark = "<<< "

// include puts files in for lines `<<< FILE` of a cell, or for `<<< FILE.go NAME...` the
// declarations of these names, behind the imports that they need. So a lesson shows the
// very code that the checks, the starter files and the benchmarks use.
func include(files fs.FS, b *block) error {
	var out []string
	for i, line := range strings.Split(b.source, "\n") {
		words, ok := strings.CutPrefix(line, includeMark)
		if !ok {
			out = append(out, line)
			continue
		}
		fields := strings.Fields(words)
		if len(fields) == 0 {
			return fmt.Errorf("line %d: %sis followed by a file", b.line+i, includeMark)
		}
		text, err := fs.ReadFile(files, fields[0])
		if err != nil {
			return fmt.Errorf("line %d: the file to include cannot be read: %w", b.line+i, err)
		}
		part := string(text)
		if len(fields) > 1 {
			if part, err = declarations(part, fields[1:]); err != nil {
				return fmt.Errorf("line %d: %s: %w", b.line+i, fields[0], err)
			}
		}
		out = append(out, strings.TrimRight(part, "\n"))
	}
	b.source = strings.Join(out, "\n")
	return nil
}

// declarations returns the text of declarations, in the order of the file.
func declarations(text string, names []string) (string, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	used := map[string]bool{}
	var parts []string
	missing := slices.Clone(names)
	for _, d := range file.Decls {
		name, doc := declared(d)
		if !slices.Contains(names, name) {
			continue
		}
		missing = slices.DeleteFunc(missing, func(n string) bool { return n == name })
		from := d.Pos()
		if doc != nil {
			from = doc.Pos()
		}
		parts = append(parts, text[fset.Position(from).Offset:fset.Position(d.End()).Offset])
		ast.Inspect(d, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok {
					used[x.Name] = true
				}
			}
			return true
		})
	}
	if len(missing) > 0 {
		return "", fmt.Errorf("there is no declaration of %s", strings.Join(missing, " or "))
	}
	return imports(file, used) + strings.Join(parts, "\n\n"), nil
}

// declared is the first name that a declaration declares, and its comment.
func declared(d ast.Decl) (string, *ast.CommentGroup) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return d.Name.Name, d.Doc
	case *ast.GenDecl:
		switch s := d.Specs[0].(type) {
		case *ast.TypeSpec:
			return s.Name.Name, d.Doc
		case *ast.ValueSpec:
			return s.Names[0].Name, d.Doc
		}
	}
	return "", nil
}

// imports writes those imports of a file that are used.
func imports(file *ast.File, used map[string]bool) string {
	var std, others []string
	for _, s := range file.Imports {
		p, err := strconv.Unquote(s.Path.Value)
		if err != nil || !used[path.Base(p)] {
			continue
		}
		if strings.Contains(p, ".") {
			others = append(others, "\t"+s.Path.Value)
		} else {
			std = append(std, "\t"+s.Path.Value)
		}
	}
	lines := std
	if len(std) > 0 && len(others) > 0 {
		lines = append(lines, "")
	}
	lines = append(lines, others...)
	switch len(lines) {
	case 0:
		return ""
	case 1:
		return "import " + strings.TrimSpace(lines[0]) + "\n\n"
	}
	return "import (\n" + strings.Join(lines, "\n") + "\n)\n\n"
}

package runner

import (
	"fmt"
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/warpbook/warpbook/workshops"
)

// embed gives variables behind a line `//go:embed NAME` the text of the exercise's file
// of that name, which the interpreter would leave empty.
func (f *file) embed(files []workshops.File) error {
	for _, d := range f.syntax.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, s := range g.Specs {
			spec, ok := s.(*ast.ValueSpec)
			if !ok {
				continue
			}
			doc := spec.Doc
			if doc == nil && len(g.Specs) == 1 {
				doc = g.Doc
			}
			if err := f.embedInto(spec, doc, files); err != nil {
				return err
			}
		}
	}
	return nil
}

const embedDirective = "//go:embed "

func (f *file) embedInto(spec *ast.ValueSpec, doc *ast.CommentGroup, files []workshops.File) error {
	if doc == nil {
		return nil
	}
	for _, line := range doc.List {
		name, ok := strings.CutPrefix(line.Text, embedDirective)
		if !ok {
			continue
		}
		name = strings.TrimSpace(name)
		at := slices.IndexFunc(files, func(f workshops.File) bool { return filepath.Base(f.Name) == name })
		switch {
		case at < 0:
			return f.pointed(f.fset.Position(line.Pos()), fmt.Sprintf("the exercise has no file %s to embed", name))
		case len(spec.Names) != 1 || len(spec.Values) > 0 || spec.Type == nil:
			return f.pointed(f.fset.Position(spec.Pos()), "a variable for an embedded file is written `var NAME string`")
		}
		switch kind := spelled(spec.Type); kind {
		case "string", "[]byte":
			f.embedded = append(f.embedded, f.insert(spec.Type.End(), " = "+kind+"("+strconv.Quote(files[at].Text)+")"))
		default:
			return f.pointed(f.fset.Position(spec.Type.Pos()), "a file can be embedded into a string or a []byte")
		}
	}
	return nil
}

// spelled names the types that files can be embedded into, "" for others.
func spelled(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.ArrayType:
		if elem, ok := e.Elt.(*ast.Ident); ok && e.Len == nil {
			return "[]" + elem.Name
		}
	}
	return ""
}

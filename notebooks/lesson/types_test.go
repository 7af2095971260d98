package lesson

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/warpbook/warpbook/notebooks/nbformat"
)

// The code cells of every lesson, starter and solution, are one right program:
// its declarations, then its statements in order. So a lesson cannot call what
// the packages it teaches with do not have.
func TestCellsHaveTypes(t *testing.T) {
	paths, err := filepath.Glob("../lessons/*.md")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no lessons: %v", err)
	}
	im := exports(t)
	for _, path := range paths {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		starterNB, solutionNB, err := Build(src, os.DirFS("../.."))
		if err != nil {
			t.Fatal(err)
		}
		for name, nb := range map[string]*nbformat.Notebook{"starter": starterNB, "solution": solutionNB} {
			t.Run(filepath.Base(path)+"/"+name, func(t *testing.T) { checkTypes(t, im, program(nb)) })
		}
	}
}

// exports reads the types of what lessons import from what the go command has
// compiled.
func exports(t *testing.T) types.Importer {
	out, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}",
		"github.com/warpbook/warpbook/cuda", "github.com/warpbook/warpbook/display", "github.com/warpbook/warpbook/workshops", "math/rand/v2").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		files[path] = file
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
}

// program joins the cells of a notebook.
func program(nb *nbformat.Notebook) string {
	imports, decls, stmts := map[string]bool{}, "", ""
	for _, c := range nb.Cells {
		if name, ok := strings.CutPrefix(c.Source, "%%cuda "); ok && c.Type == nbformat.Code {
			imports[`"github.com/warpbook/warpbook/cuda"`] = true
			decls += "var " + strings.Fields(name)[0] + " *cuda.Module\n"
			continue
		}
		if c.Type != nbformat.Code || strings.HasPrefix(c.Source, "%") || strings.HasPrefix(c.Source, "!") {
			continue
		}
		head, rest := cutImports(c.Source)
		for _, path := range regexp.MustCompile(`"[^"]+"`).FindAllString(head, -1) {
			imports[path] = true
		}
		for _, piece := range cut(rest) {
			if parse("package p\n"+piece) == nil {
				decls += piece + "\n"
			} else {
				stmts += piece + "\n"
			}
		}
	}
	var b strings.Builder
	b.WriteString("package p\n")
	for path := range imports {
		b.WriteString("import " + path + "\n")
	}
	b.WriteString(decls + "\nfunc _() {\n" + stmts + "}\n")
	return b.String()
}

// The last expression of a cell is shown, so it may be unused here.
var unused = regexp.MustCompile(`is not used$|declared and not used`)

func checkTypes(t *testing.T, im types.Importer, text string) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "cells.go", text, 0)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	lines := strings.Split(text, "\n")
	config := types.Config{Importer: im, Error: func(err error) {
		if e, ok := err.(types.Error); ok && !unused.MatchString(e.Msg) {
			t.Errorf("%s\n\t%s", e.Msg, lines[fset.Position(e.Pos).Line-1])
		}
	}}
	config.Check("p", fset, []*ast.File{file}, nil) // its errors went to Error
}

package gotool

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Docs is a package's documentation with the source that it was read from.
type Docs struct {
	*doc.Package
	Fset   *token.FileSet
	Source map[string][]byte // by file name in Fset
	// ends of functions: go/doc cuts their bodies off the tree.
	ends map[*ast.FuncDecl]token.Pos
}

// Text returns the source of a node, a function's body included.
func (d *Docs) Text(n ast.Node) string {
	end := n.End()
	if f, ok := n.(*ast.FuncDecl); ok && d.ends[f].IsValid() {
		end = d.ends[f]
	}
	from, to := d.Fset.Position(n.Pos()), d.Fset.Position(end)
	src := d.Source[from.Filename]
	if from.Offset > to.Offset || to.Offset > len(src) {
		return ""
	}
	return string(src[from.Offset:to.Offset])
}

// Doc reads the documentation of a package from its source, "builtin" included.
func (t *Toolchain) Doc(path string) (*Docs, error) {
	t.docMu.Lock()
	defer t.docMu.Unlock()
	if d := t.docs[path]; d != nil {
		return d, nil
	}
	dir, err := t.sourceDir(path)
	if err != nil {
		return nil, err
	}
	d, err := readDocs(dir, path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the documentation of %s: %w", path, err)
	}
	t.docs[path] = d
	return d, nil
}

func (t *Toolchain) sourceDir(path string) (string, error) {
	if rel, own := strings.CutPrefix(path, t.record.Module+"/"); own {
		return filepath.Join(t.record.Source, filepath.FromSlash(rel)), nil
	}
	dir := filepath.Join(t.record.GOROOT, "src", filepath.FromSlash(path))
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return dir, nil
	}
	if i := slices.IndexFunc(t.Packages(), func(p Package) bool { return p.Path == path }); i >= 0 {
		return t.Packages()[i].Dir, nil
	}
	known, _ := t.list.lookup(nil)
	if p, ok := known[path]; ok {
		return p.Dir, nil
	}
	return "", fmt.Errorf("the source of package %s is not on this machine", path)
}

// ReadDocs reads the documentation of a standard package without a Toolchain.
func ReadDocs(path string) (*Docs, error) {
	return readDocs(filepath.Join(build.Default.GOROOT, "src", filepath.FromSlash(path)), path)
}

func readDocs(dir, path string) (*Docs, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	d := &Docs{Fset: token.NewFileSet(), Source: map[string][]byte{}, ends: map[*ast.FuncDecl]token.Pos{}}
	var files []*ast.File
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		if ok, err := build.Default.MatchFile(dir, name); err != nil || !ok && path != "builtin" {
			continue
		}
		file := filepath.Join(dir, name)
		src, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(d.Fset, file, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		d.Source[file] = src
		for _, decl := range f.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok {
				d.ends[fn] = fn.End()
			}
		}
		files = append(files, f)
	}
	var mode doc.Mode
	if path == "builtin" {
		mode = doc.AllDecls
	}
	d.Package, err = doc.NewFromFiles(d.Fset, files, path, mode)
	return d, err
}

package gotool

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/token"
	"maps"
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
	// Abridged says that the source is what the installation kept of it: there
	// are no bodies of functions, and long values are empty.
	Abridged bool
	// ends of functions: go/doc cuts their bodies off the tree.
	ends map[*ast.FuncDecl]token.Pos
	full func() (*Docs, error) // reads the source; nil for what came from it
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

// Doc reads the documentation of a package, "builtin" included. That of the
// standard library never changes, so it comes from what the installation kept,
// which is read several times faster than the source.
func (t *Toolchain) Doc(path string) (*Docs, error) {
	t.docMu.Lock()
	defer t.docMu.Unlock()
	if d := t.docs[path]; d != nil && d.Abridged {
		return d, nil
	}
	dir, gone := t.sourceDir(path)
	if gone == nil && !t.standard(path) {
		if d, err := t.sourceDocs(dir, path); err == nil {
			return d, nil
		}
	}
	if d, err := t.keptDocs(path); err == nil {
		d.full = func() (*Docs, error) {
			t.docMu.Lock()
			defer t.docMu.Unlock()
			if gone != nil {
				return nil, gone
			}
			return t.sourceDocs(dir, path)
		}
		t.docs[path] = d
		return d, nil
	}
	if gone != nil {
		return nil, gone
	}
	return t.sourceDocs(dir, path)
}

// Full returns the documentation with the whole source where that is on this
// machine, and d where it is not.
func (d *Docs) Full() *Docs {
	if d.full == nil {
		return d
	}
	if full, err := d.full(); err == nil {
		return full
	}
	return d
}

// sourceDocs reads documentation from the source in a folder, once.
func (t *Toolchain) sourceDocs(dir, path string) (*Docs, error) {
	key := path + " " + dir
	if d := t.docs[key]; d != nil {
		return d, nil
	}
	d, err := readDocs(dir, path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the documentation of %s: %w", path, err)
	}
	t.docs[key] = d
	return d, nil
}

func (t *Toolchain) standard(path string) bool {
	return path == "builtin" || !strings.Contains(strings.Split(path, "/")[0], ".") && !strings.HasPrefix(path, t.record.Module+"/")
}

func (t *Toolchain) sourceDir(path string) (string, error) {
	if rel, own := strings.CutPrefix(path, t.record.Module+"/"); own {
		return filepath.Join(t.record.Source, filepath.FromSlash(rel)), nil
	}
	dir := filepath.Join(t.record.GOROOT, "src", filepath.FromSlash(path))
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return dir, nil
	}
	if i := slices.IndexFunc(t.Packages(), func(p Package) bool { return p.Path == path && !p.Standard }); i >= 0 {
		return t.Packages()[i].Dir, nil
	}
	known, _ := t.list.lookup(nil)
	if p, ok := known[path]; ok && !p.Standard {
		return p.Dir, nil
	}
	return "", fmt.Errorf("the source of package %s is not on this machine", path)
}

// ReadDocs reads the documentation of a standard package without a Toolchain.
func ReadDocs(path string) (*Docs, error) {
	return readDocs(filepath.Join(build.Default.GOROOT, "src", filepath.FromSlash(path)), path)
}

func readDocs(dir, path string) (*Docs, error) {
	files, err := sources(dir, path)
	if err != nil {
		return nil, err
	}
	return parseDocs(files, path)
}

// sources reads the files of a package that this machine's builds take, by path.
func sources(dir, path string) (map[string][]byte, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		if ok, err := build.Default.MatchFile(dir, name); err != nil || !ok && path != "builtin" {
			continue
		}
		file := filepath.Join(dir, name)
		if files[file], err = os.ReadFile(file); err != nil {
			return nil, err
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there are no Go files in %s", dir)
	}
	return files, nil
}

func parseDocs(sources map[string][]byte, path string) (*Docs, error) {
	d := &Docs{Fset: token.NewFileSet(), Source: sources, ends: map[*ast.FuncDecl]token.Pos{}}
	var files []*ast.File
	for _, file := range slices.Sorted(maps.Keys(sources)) {
		f, err := parser.ParseFile(d.Fset, file, sources[file], parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
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
	var err error
	d.Package, err = doc.NewFromFiles(d.Fset, files, path, mode)
	return d, err
}

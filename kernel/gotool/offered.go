package gotool

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// packagesIn lists the packages that a module offers to importers, from its
// files alone: the go command would want every module that they import.
func packagesIn(m Module) ([]Package, error) {
	var packages []Package
	err := filepath.WalkDir(m.Dir, func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if dir != m.Dir && (skipped(d.Name()) || nested(dir)) {
			return fs.SkipDir
		}
		rel, err := filepath.Rel(m.Dir, dir)
		if err != nil {
			return err
		}
		name, err := packageName(dir)
		if err == nil && name != "" && name != "main" {
			packages = append(packages, Package{Path: path.Join(m.Path, filepath.ToSlash(rel)), Name: name, Dir: dir, Got: true})
		}
		return err
	})
	sortPackages(packages)
	return packages, err
}

// skipped tells which folders hold nothing that can be imported from outside.
func skipped(name string) bool {
	return slices.Contains([]string{"internal", "vendor", "testdata"}, name) || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

// nested tells whether another module begins in a folder.
func nested(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// packageName reads the name of the package in a folder; "" when there is none
// that cells could link: one with C code is not offered.
func packageName(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	found := ""
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		if ok, err := build.Default.MatchFile(dir, name); err != nil || !ok {
			continue // a file that cannot be read makes no package; the import says why
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.ImportsOnly)
		if err != nil {
			continue
		}
		if slices.ContainsFunc(f.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == `"C"` }) {
			return "", nil
		}
		found = f.Name.Name
	}
	return found, nil
}

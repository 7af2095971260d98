package session_test

import (
	"context"
	"flag"
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/warpbook/warpbook/kernel/session"
)

var (
	gorootEvery = flag.Int("goroot.every", 25, "run every n-th program of GOROOT/test")
	gorootList  = flag.String("goroot.failures", "", "write the failures to this file")
	gorootRun   = flag.String("goroot.run", "", "run only these programs, such as fixedbugs/bug101.go, with commas between")
)

// TestGOROOT runs the programs of GOROOT/test that say "// run", each split into
// cells as a person would type it: the imports, the declarations, the body of
// main. They check themselves; what they print must be what the file beside
// them says. Programs about the compiler's, the linker's or the runtime's
// insides are left out by name, in gorootSkips, with the reason.
func TestGOROOT(t *testing.T) {
	programs := gorootPrograms(t)
	var mu sync.Mutex
	var failures []string
	ran := 0
	sem := make(chan bool, 2*runtime.NumCPU())
	var wg sync.WaitGroup
	for i, name := range programs {
		if *gorootRun != "" && !slices.Contains(strings.Split(*gorootRun, ","), name) || *gorootRun == "" && i%*gorootEvery != 0 {
			continue
		}
		ran++
		sem <- true
		wg.Go(func() {
			defer func() { <-sem }()
			if why := gorootCase(t, name); why != "" {
				mu.Lock()
				failures = append(failures, name+": "+strings.ReplaceAll(strings.TrimSpace(why), "\n", "\n\t"))
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	t.Logf("%d of %d programs do in a notebook what they do as programs", ran-len(failures), ran)
	if *gorootList != "" {
		if err := os.WriteFile(*gorootList, []byte(strings.Join(failures, "\n")+"\n"), 0o644); err != nil {
			t.Error(err)
		}
	}
	if 100*(ran-len(failures)) < 97*ran {
		t.Errorf("fewer than 97 in 100")
	}
	for _, f := range failures {
		name, _, _ := strings.Cut(f, ":")
		if why := gorootKnown[name]; why != "" {
			t.Logf("known: %s: %s", name, why)
		} else {
			t.Error(f)
		}
	}
}

// gorootTests is the folder of the programs. The go command knows it; a program
// that was built with -trimpath, such as this one, does not.
func gorootTests(t *testing.T) string {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "test")
}

// gorootPrograms lists the programs, as paths below GOROOT/test.
func gorootPrograms(t *testing.T) []string {
	root := gorootTests(t)
	var out []string
	for _, dir := range []string{".", "fixedbugs", "typeparam", "ken", "chan", "interface", "escape_runtime_atomic"} {
		files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.ToSlash(filepath.Join(dir, filepath.Base(f)))
			line, _, _ := strings.Cut(string(data), "\n")
			if strings.TrimSpace(line) == "// run" && builtHere(string(data)) && gorootSkip(name, string(data)) == "" {
				out = append(out, name)
			}
		}
	}
	if len(out) == 0 {
		t.Fatalf("no programs in %s: this Go comes without its tests", root)
	}
	return out
}

// builtHere evaluates the program's build constraint.
func builtHere(src string) bool {
	for line := range strings.Lines(src) {
		if constraint.IsGoBuild(line) {
			x, err := constraint.Parse(strings.TrimSpace(line))
			return err != nil || x.Eval(func(tag string) bool {
				return tag == runtime.GOOS || tag == runtime.GOARCH || tag == "gc" || tag == "unix" || tag == "cgo" || strings.HasPrefix(tag, "go1.")
			})
		}
	}
	return true
}

// gorootCase runs one program and says what is wrong, or "".
func gorootCase(t *testing.T, name string) string {
	file := filepath.Join(gorootTests(t), filepath.FromSlash(name))
	src, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	cells, err := splitProgram(src)
	if err != nil {
		return err.Error()
	}
	s := open(t)
	defer s.Close()
	var got strings.Builder
	for i, code := range cells {
		ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
		o := &transcript{onlyStdout: true, plain: true}
		out := s.Execute(ctx, session.Cell{Count: i + 1, Code: code}, o)
		cancel()
		got.WriteString(o.String())
		if out.Err != nil {
			return fmt.Sprintf("cell %d: %s\n%s", i+1, ansi.ReplaceAllString(strings.Join(out.Err.Traceback, "\n"), ""), got.String())
		}
	}
	want, err := os.ReadFile(strings.TrimSuffix(file, ".go") + ".out")
	if err != nil {
		return "" // the program checks itself
	}
	if got.String() != string(want) {
		return fmt.Sprintf("got %q\nwant %q", got.String(), want)
	}
	return ""
}

// shadows says whether main has variables of its own with the names of the
// program's declarations. At the top level of a cell they would be declared
// again, and not only for main; a person puts them into a block.
func shadows(f *ast.File) bool {
	names := map[string]bool{}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names[d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					names[spec.Name.Name] = true
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						names[id.Name] = true
					}
				}
			}
		}
	}
	found := false
	for _, d := range f.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok && fd.Name.Name == "main" && fd.Recv == nil {
			for _, st := range fd.Body.List {
				ast.Inspect(st, func(n ast.Node) bool {
					switch n := n.(type) {
					case *ast.BlockStmt, *ast.FuncLit:
						return false
					case *ast.TypeSpec:
						found = found || names[n.Name.Name]
					case *ast.ValueSpec:
						for _, id := range n.Names {
							found = found || names[id.Name]
						}
					case *ast.AssignStmt:
						for _, x := range n.Lhs {
							if id, ok := x.(*ast.Ident); ok && n.Tok == token.DEFINE {
								found = found || names[id.Name]
							}
						}
					}
					return true
				})
			}
		}
	}
	return found
}

// splitProgram makes cells of a program.
func splitProgram(src []byte) ([]string, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", src, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	text := func(a, b token.Pos) string { return string(src[fset.Position(a).Offset:fset.Position(b).Offset]) }
	var imports, decls, body strings.Builder
	for _, d := range f.Decls {
		start := d.Pos()
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name == "main" {
				body.WriteString(text(d.Body.Lbrace+1, d.Body.Rbrace))
				continue
			}
			if d.Doc != nil {
				start = d.Doc.Pos()
			}
		case *ast.GenDecl:
			if d.Tok == token.IMPORT {
				imports.WriteString(text(d.Pos(), d.End()) + "\n")
				continue
			}
			if d.Doc != nil {
				start = d.Doc.Pos()
			}
		}
		decls.WriteString(text(start, d.End()) + "\n\n")
	}
	code := body.String()
	if shadows(f) {
		code = "{" + code + "\n}"
	}
	var cells []string
	for _, c := range []string{imports.String(), decls.String(), code} {
		if strings.TrimSpace(c) != "" {
			cells = append(cells, c)
		}
	}
	return cells, nil
}

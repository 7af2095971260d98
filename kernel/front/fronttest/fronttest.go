// Package fronttest gives tests a front-end session that needs no toolchain: a
// few packages of the standard library, cut down to what the tests use.
package fronttest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"

	"github.com/warpbook/warpbook/kernel/front"
)

// sources are the packages, as far as they are needed.
var sources = map[string]string{
	"fmt": `package fmt
type Stringer interface{ String() string }
func Println(a ...any) (n int, err error) { return }
func Printf(format string, a ...any) (n int, err error) { return }
func Sprint(a ...any) string { return "" }
func Scan(a ...any) (n int, err error) { return }
func Errorf(format string, a ...any) error { return nil }`,
	"strings": `package strings
type Builder struct{ n int }
func (b *Builder) WriteString(s string) (int, error) { return 0, nil }
func (b *Builder) String() string { return "" }
func ToUpper(s string) string { return s }
func Split(s, sep string) []string { return nil }`,
	"os": `package os
type File struct{ n int }
var Stdout, Stderr *File
func Exit(code int) {}`,
	"time": `package time
type Duration int64
const Second Duration = 1000000000
func Sleep(d Duration) {}`,
	"sync": `package sync
type Mutex struct{ n int }
func (m *Mutex) Lock() {}
func (m *Mutex) Unlock() {}
type WaitGroup struct{ n int }
func (w *WaitGroup) Wait() {}`,
	"math/rand":   "package rand\nfunc Int() int { return 0 }",
	"crypto/rand": "package rand\nfunc Text() string { return \"\" }",
}

type importer struct {
	fset *token.FileSet
	done map[string]*types.Package
}

func (im importer) Import(path string) (*types.Package, error) {
	if p := im.done[path]; p != nil {
		return p, nil
	}
	src, ok := sources[path]
	if !ok {
		return nil, fmt.Errorf("no package %s", path)
	}
	f, err := parser.ParseFile(im.fset, path, src, 0)
	if err != nil {
		return nil, err
	}
	conf := types.Config{Importer: im}
	p, err := conf.Check(path, im.fset, []*ast.File{f}, nil)
	if err != nil {
		return nil, err
	}
	im.done[path] = p
	return p, nil
}

// New returns an empty session.
func New() *front.Session {
	fset := token.NewFileSet()
	return front.New("wb/s1/c", fset, importer{fset, map[string]*types.Package{}}, front.Packages{
		Names: []string{"fmt", "os", "rand", "strings", "sync", "time"},
		ByName: map[string][]string{
			"fmt": {"fmt"}, "os": {"os"}, "strings": {"strings"}, "sync": {"sync"}, "time": {"time"}, "rand": {"math/rand", "crypto/rand"},
		},
	})
}

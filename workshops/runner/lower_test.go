package runner

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"github.com/warpbook/warpbook/workshops"
)

func TestLowered(t *testing.T) {
	j := &job{}
	f, err := j.parse(workshops.File{Name: "a.go", Text: `package exercise // mine

import "slices"

func f(v []float64, n int) (s float64) {
	for c := range slices.Chunk(v, min(n, 3)) {
		s += max(slices.Max(c), 0)
	}
	for range n { s++ }
	return s
}

func g(max func(int) int) int { return max(1) }
`})
	if err != nil {
		t.Fatal(err)
	}
	const want = `package exercise; import warpbook_guard "warpbook_guard" // mine

import "slices"

func f(v []float64, n int) (s float64) {warpbook_guard.Enter(); defer warpbook_guard.Leave();
	for _, c := range warpbook_guard.Chunk(v, warpbook_guard.MinInt(n, 3)) {warpbook_guard.Loop();
		s += warpbook_guard.MaxFloat64(warpbook_guard.SlicesMax(c), 0)
	}
	for range warpbook_guard.Range(n) {warpbook_guard.Loop(); s++ }
	return s
}

func g(max func(int) int) int {warpbook_guard.Enter(); defer warpbook_guard.Leave(); return max(1) }
`
	if got := f.lowered(); got != want {
		t.Errorf("got\n%s", got)
	}
}

// Lowering keeps a file Go, with the same lines.
func FuzzLowered(f *testing.F) {
	f.Add("package p; func f() { for { f() } }")
	f.Add("package p\nfunc f(x int) (y int) {\n\tfor i := range x { y += max(i, 2) }\n\treturn func() int { return min(y, 1) }()\n}")
	f.Fuzz(func(t *testing.T, text string) {
		p := &file{name: "a.go", text: text, fset: token.NewFileSet()}
		var err error
		if p.syntax, err = parser.ParseFile(p.fset, p.name, text, parser.SkipObjectResolution); err != nil {
			return
		}
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
		config := types.Config{Error: func(error) {}}
		if _, err := config.Check("p", p.fset, []*ast.File{p.syntax}, info); err == nil {
			p.info = info
		}
		lowered := p.lowered()
		if _, err := parser.ParseFile(token.NewFileSet(), p.name, lowered, parser.SkipObjectResolution); err != nil {
			t.Errorf("%v in\n%s", err, lowered)
		}
		if strings.Count(lowered, "\n") != strings.Count(text, "\n") {
			t.Error("the lines moved")
		}
	})
}

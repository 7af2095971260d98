package assist_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/warpbook/warpbook/kernel/assist"
	"github.com/warpbook/warpbook/kernel/gotool"
)

var update = flag.Bool("update", false, "write the expectations of testdata again")

// cells stand for earlier cells: what the fake session has declared.
const cells = `package main

import "strings"

// Point is a place on a grid.
type Point struct {
	X, Y int // coordinates
	name string
}

// String writes the point as Go would.
func (p Point) String() string { return p.name }

func (p *Point) move(dx int) { p.X += dx }

type Named struct {
	*Point
	Label string
}

// Double doubles n.
//
// It uses [Point] nowhere:
//
//	Double(2) // 4
func Double(n int) int { return 2 * n }

type Number interface{ ~int | ~float64 }

func Sum[T Number](xs ...T) (s T) { return }

const limit = 10

var (
	points []Point
	byName map[string]*Named
	named Named
	text strings.Builder
)
`

// fake is a session whose cells are one file of source.
type fake struct {
	std  types.Importer
	mu   sync.Mutex
	pkg  *types.Package
	fset *token.FileSet
	file *ast.File
	docs map[string]*gotool.Docs
}

var newFake = sync.OnceValues(func() (*fake, error) {
	f := &fake{std: importer.Default(), fset: token.NewFileSet(), docs: map[string]*gotool.Docs{}}
	var err error
	if f.file, err = parser.ParseFile(f.fset, "cell[1]", cells, parser.ParseComments); err != nil {
		return nil, err
	}
	f.pkg, err = (&types.Config{Importer: f}).Check("main", f.fset, []*ast.File{f.file}, nil)
	return f, err
})

func (f *fake) Names() []string {
	return slices.DeleteFunc(f.pkg.Scope().Names(), func(n string) bool { return n == "strings" })
}
func (f *fake) Object(name string) types.Object { return f.pkg.Scope().Lookup(name) }
func (f *fake) Imports() map[string]string      { return map[string]string{"strs": "strings"} }
func (f *fake) Import(path string) (*types.Package, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.std.Import(path)
}

var offered = map[string]string{
	"strings": "strings", "fmt": "fmt", "net/http": "http", "math/rand": "rand", "math/rand/v2": "rand", "os": "os", "slices": "slices", "sync": "sync", "unsafe": "unsafe", "time": "time", "errors": "errors",
}

func (f *fake) Packages() []gotool.Package {
	var ps []gotool.Package
	for _, path := range slices.Sorted(maps.Keys(offered)) {
		ps = append(ps, gotool.Package{Path: path, Name: offered[path], Standard: true})
	}
	return ps
}

func (f *fake) PathsOf(name string) (paths []string) {
	for _, p := range f.Packages() {
		if p.Name == name {
			paths = append(paths, p.Path)
		}
	}
	return paths
}

func (f *fake) Doc(path string) (*gotool.Docs, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if d := f.docs[path]; d != nil {
		return d, nil
	}
	d, err := gotool.ReadDocs(path)
	if err == nil {
		f.docs[path] = d
	}
	return d, err
}

func (f *fake) DocOf(obj types.Object) (doc, source, where string) {
	for _, d := range f.file.Decls {
		if d.Pos() > obj.Pos() || obj.Pos() > d.End() {
			continue
		}
		from, to := f.fset.Position(d.Pos()).Offset, f.fset.Position(d.End()).Offset
		switch d := d.(type) {
		case *ast.FuncDecl:
			doc = d.Doc.Text()
		case *ast.GenDecl:
			doc = d.Doc.Text()
		}
		return doc, cells[from:to], fmt.Sprintf("cell [1], line %d", f.fset.Position(obj.Pos()).Line)
	}
	return "", "", ""
}

var magics = []assist.Magic{
	{Name: "%time", Help: "time one run"}, {Name: "%timeit", Help: "time many runs"}, {Name: "%who", Help: "list names"},
	{Name: "%%bash", Help: "run a script"}, {Name: "%%time", Help: "time the cell"},
}

func assistant(t testing.TB) *assist.Assistant {
	t.Helper()
	f, err := newFake()
	if err != nil {
		t.Fatal(err)
	}
	return assist.New(f, magics)
}

// cut takes the cursor mark out of a cell and returns its place in code points.
func cut(t *testing.T, marked string) (code string, cursor int) {
	t.Helper()
	before, after, ok := strings.Cut(marked, "‸")
	if !ok {
		t.Fatalf("no cursor in %q", marked)
	}
	return before + after, len([]rune(before))
}

// golden runs every case of an archive in testdata. A file NAME holds a cell
// with a cursor mark (‸), the file "NAME want" after it what f makes of it.
func golden(t *testing.T, name string, f func(t *testing.T, name, cell string) string) {
	file := filepath.Join("testdata", name)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	old := txtar.Parse(data)
	next := &txtar.Archive{Comment: old.Comment}
	for i, in := range old.Files {
		if strings.HasSuffix(in.Name, " want") {
			continue
		}
		t.Run(in.Name, func(t *testing.T) {
			got := f(t, in.Name, strings.TrimSuffix(string(in.Data), "\n"))
			if got != "" && !strings.HasSuffix(got, "\n") {
				got += "\n"
			}
			next.Files = append(next.Files, in, txtar.File{Name: in.Name + " want", Data: []byte(got)})
			if *update {
				return
			}
			if i+1 >= len(old.Files) || old.Files[i+1].Name != in.Name+" want" {
				t.Fatalf("nothing is expected; run go test -update and look at\n%s", got)
			}
			if want := string(old.Files[i+1].Data); got != want {
				t.Errorf("cell:\n%s\ngot:\n%swant:\n%s", in.Data, got, want)
			}
		})
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(next), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestComplete(t *testing.T) {
	a := assistant(t)
	golden(t, "complete.txtar", func(t *testing.T, _, cell string) string {
		code, cursor := cut(t, cell)
		c := a.Complete(code, cursor)
		var b strings.Builder
		fmt.Fprintf(&b, "replaces %q\n", string([]rune(code)[c.Start:c.End]))
		for i, it := range c.Items {
			if i == 12 {
				fmt.Fprintf(&b, "and %d more\n", len(c.Items)-i)
				break
			}
			fmt.Fprintf(&b, "%s | %s | %s\n", it.Text, it.Type, it.Signature)
		}
		return b.String()
	})
}

func TestInspect(t *testing.T) {
	a := assistant(t)
	golden(t, "inspect.txtar", func(t *testing.T, name, cell string) string {
		code, cursor := cut(t, cell)
		detail := 0
		if strings.Contains(name, "source") {
			detail = 1
		}
		in := a.Inspect(code, cursor, detail)
		switch {
		case !in.Found:
			return "nothing\n"
		case strings.Contains(name, "Markdown"):
			return in.Markdown
		}
		return in.Plain
	})
}

func TestIsComplete(t *testing.T) {
	golden(t, "iscomplete.txtar", func(t *testing.T, _, cell string) string {
		status, indent := assist.IsComplete(strings.ReplaceAll(cell, "⏎", ""))
		return strings.TrimSpace(status+" "+strings.ReplaceAll(indent, "\t", "⇥")) + "\n"
	})
}

func TestMapper(t *testing.T) {
	text := "aß日𝄞\xffz" // 1, 2, 3, 4 bytes, a stray byte, 1
	m := assist.NewMapper(text)
	for _, p := range []struct{ bytes, points, utf16 int }{{0, 0, 0}, {1, 1, 1}, {3, 2, 2}, {6, 3, 3}, {10, 4, 5}, {11, 5, 6}, {12, 6, 7}} {
		if got := m.Byte(p.points); got != p.bytes {
			t.Errorf("Byte(%d) = %d, want %d", p.points, got, p.bytes)
		}
		if got := m.Point(p.bytes); got != p.points {
			t.Errorf("Point(%d) = %d, want %d", p.bytes, got, p.points)
		}
		if got := m.UTF16(p.bytes); got != p.utf16 {
			t.Errorf("UTF16(%d) = %d, want %d", p.bytes, got, p.utf16)
		}
		if got := m.FromUTF16(p.utf16); got != p.bytes {
			t.Errorf("FromUTF16(%d) = %d, want %d", p.utf16, got, p.bytes)
		}
	}
	if m.Byte(99) != len(text) || m.Byte(-1) != 0 || m.Point(99) != 6 || m.Point(-5) != 0 {
		t.Error("positions outside the text are not its ends")
	}
}

// Requests come while others are answered.
func TestConcurrentRequests(t *testing.T) {
	a := assistant(t)
	var wg sync.WaitGroup
	for _, cell := range []string{"points[0].", "named.", "text.", "strings.", "Double(", "var e error; e."} {
		for range 4 {
			wg.Go(func() {
				if c := a.Complete(cell, len(cell)); len(c.Items) == 0 {
					t.Errorf("%q has no completions", cell)
				}
				a.Inspect(cell, 2, 1)
			})
		}
	}
	wg.Wait()
}

// FuzzAnywhere: whatever is typed and wherever the cursor is, nothing panics
// and the answer lies within the text.
func FuzzAnywhere(f *testing.F) {
	for _, name := range []string{"complete.txtar", "inspect.txtar", "iscomplete.txtar"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range txtar.Parse(data).Files {
			if before, after, ok := strings.Cut(string(file.Data), "‸"); ok {
				f.Add(before+after, len([]rune(before)))
			} else if !strings.HasSuffix(file.Name, " want") {
				f.Add(string(file.Data), len(file.Data))
			}
		}
	}
	a := assistant(f)
	f.Fuzz(func(t *testing.T, code string, cursor int) {
		n := len([]rune(code))
		if c := a.Complete(code, cursor); c.Start > c.End || c.Start < 0 || c.End > n {
			t.Errorf("replaces [%d,%d) of %d code points", c.Start, c.End, n)
		}
		if in := a.Inspect(code, cursor, 1); in.Found && in.Plain == "" {
			t.Error("found something, but says nothing")
		}
		if status, _ := assist.IsComplete(code); status == "" {
			t.Error("no status")
		}
	})
}

func BenchmarkComplete(b *testing.B) {
	a := assistant(b)
	for _, cell := range []string{"strings.", "for _, p := range points {\n\tp.", "po", "http."} {
		b.Run(strings.ReplaceAll(cell, "\n", " "), func(b *testing.B) {
			for b.Loop() {
				if c := a.Complete(cell, len(cell)); len(c.Items) == 0 {
					b.Fatal("no completions")
				}
			}
		})
	}
}

func BenchmarkInspect(b *testing.B) {
	a := assistant(b)
	for b.Loop() {
		if in := a.Inspect("strings.Fields(text.String())", 10, 0); !in.Found {
			b.Fatal("not found")
		}
	}
}

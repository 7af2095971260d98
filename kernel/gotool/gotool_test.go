package gotool_test

import (
	"context"
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/warpbook/warpbook/kernel/gotool"
)

// host is the installed program of testdata/module, built once.
var host = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(os.Getenv("XDG_CACHE_HOME"), "host")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	exe := filepath.Join(dir, "book")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", exe, ".")
	cmd.Dir = "testdata/module"
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return exe, gotool.Install(context.Background(), "testdata/module", exe, nil)
})

// TestMain keeps what the tests make out of the user's cache, except for
// compiled packages, which take a minute to make.
func TestMain(m *testing.M) {
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	cache, err2 := os.MkdirTemp("", "gotool-cache-")
	if err = errors.Join(err, err2); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Setenv("GOCACHE", strings.TrimSpace(string(out)))
	os.Setenv("XDG_CACHE_HOME", cache)
	code := m.Run()
	os.RemoveAll(cache)
	os.Exit(code)
}

func toolchain(t testing.TB) (*gotool.Toolchain, string) {
	t.Helper()
	exe, err := host()
	if err != nil {
		t.Fatal(err)
	}
	tc, err := gotool.Find(exe)
	if err != nil {
		t.Fatal(err)
	}
	return tc, exe
}

// Two cells: the second uses a type, a method and a generic function of the
// first, and both share the run time with the program.
const first = `package main

import (
	"fmt"

	"example.com/book/kernel/rt"
)

type Point struct{ X, Y int }

func (p Point) String() string { return fmt.Sprintf("<%d,%d>", p.X, p.Y) }

type Funcs struct{}

func (Funcs) Fib(n int) int {
	if n < 2 {
		return n
	}
	return Funcs{}.Fib(n-1) + Funcs{}.Fib(n-2)
}

func Map[T, U any](s []T, f func(T) U) (r []U) {
	for _, v := range s {
		r = append(r, f(v))
	}
	return r
}

func init() { rt.Register(func() { fmt.Println("first", Point{1, 2}) }) }

func main() {}
`

const second = `package main

import (
	"fmt"

	"example.com/book/kernel/rt"
	c1 "wb/s1/c1"
)

func init() {
	rt.Register(func() {
		fmt.Println("second", c1.Point{3, 4}, c1.Funcs{}.Fib(10), c1.Map([]int{1, 2}, func(i int) c1.Point { return c1.Point{i, i} }))
	})
}

func main() {}
`

func unit(path, source, dir string, cells map[string]string) gotool.Unit {
	return gotool.Unit{
		Path: path, Files: map[string][]byte{"cell.go": []byte(source)},
		Imports: []string{"fmt", "example.com/book/kernel/rt"}, Cells: cells, Dir: dir,
	}
}

func TestBuildCellsThatImportEachOther(t *testing.T) {
	tc, exe := toolchain(t)
	dir := t.TempDir()
	one, err := tc.Build(t.Context(), unit("wb/s1/c1", first, dir, nil))
	if err != nil {
		t.Fatal(err)
	}
	two, err := tc.Build(t.Context(), unit("wb/s1/c2", second, dir, map[string]string{"wb/s1/c1": one.Archive}))
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(exe, one.Plugin, two.Plugin).CombinedOutput()
	if want := "first <1,2>\nsecond <3,4> 55 [<1,1> <2,2>]\n"; err != nil || string(out) != want {
		t.Errorf("got %q, %v; want %q", out, err, want)
	}
}

func TestPluginOfSeveralPackages(t *testing.T) {
	tc, exe := toolchain(t)
	source := `package main

import (
	"net"
	"encoding/json"
	"os/user"

	"example.com/book/kernel/rt"
)

func init() {
	rt.Register(func() {
		b, err := json.Marshal(map[string]any{"ip": net.ParseIP("127.0.0.1")})
		u, uerr := user.Current()
		println(string(b), err == nil, u != nil, uerr == nil)
	})
}

func main() {}
`
	u := unit("wb/s1/c1", source, t.TempDir(), nil)
	u.Imports = []string{"net", "encoding/json", "os/user", "example.com/book/kernel/rt"}
	r, err := tc.Build(t.Context(), u)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(exe, r.Plugin).CombinedOutput()
	if want := "{\"ip\":\"127.0.0.1\"} true true true\n"; err != nil || string(out) != want {
		t.Errorf("got %q, %v; want %q", out, err, want)
	}
}

func TestCompileErrorsHavePlaces(t *testing.T) {
	tc, _ := toolchain(t)
	source := "package main\n\nimport \"fmt\"\n\n//line cell[3]:1:1\nfunc f() { var s string = 1; fmt.Println(s) }\nfunc g() { undefined() }\nfunc main() {}\n"
	_, err := tc.Build(t.Context(), unit("wb/s1/c3", source, t.TempDir(), nil))
	var ce *gotool.CompileError
	if !errors.As(err, &ce) || len(ce.Diagnostics) != 2 {
		t.Fatalf("got %v; want two diagnostics", err)
	}
	for i, want := range []string{
		"cell[3]:1:27: cannot use 1 (untyped int constant) as string value in variable declaration",
		"cell[3]:2:12: undefined: undefined",
	} {
		if got := ce.Diagnostics[i].String(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestBuildStopsWhenCancelled(t *testing.T) {
	tc, _ := toolchain(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := tc.Build(ctx, unit("wb/s1/c1", first, t.TempDir(), nil)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v; want the context's error", err)
	}
}

// The go command trims its cache, so what is remembered of it may be gone.
func TestArchivesThatAreGoneAreMadeAgain(t *testing.T) {
	_, exe := toolchain(t)
	memos, err := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "warpbook", "packages-*.json"))
	if err != nil || len(memos) != 1 {
		t.Fatalf("got memos %v, %v; want one", memos, err)
	}
	good, err := os.ReadFile(memos[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{
		"archives": strings.ReplaceAll(string(good), `-d","Standard"`, `-gone","Standard"`),
		"damaged":  string(good[:len(good)/2]),
		"empty":    "",
	} {
		t.Run(name, func(t *testing.T) {
			if bad == string(good) {
				t.Fatal("the memo was not changed")
			}
			if err := os.WriteFile(memos[0], []byte(bad), 0o644); err != nil {
				t.Fatal(err)
			}
			tc, err := gotool.Find(exe)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tc.Build(t.Context(), unit("wb/s1/c1", first, t.TempDir(), nil)); err != nil {
				t.Error(err)
			}
		})
	}
	if err := os.WriteFile(memos[0], good, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestUnknownImport(t *testing.T) {
	tc, _ := toolchain(t)
	u := unit("wb/s1/c1", first, t.TempDir(), nil)
	u.Imports = append(u.Imports, "example.org/nothing")
	if _, err := tc.Build(t.Context(), u); err == nil || !strings.Contains(err.Error(), "example.org/nothing") {
		t.Errorf("got %v; want an error that names the package", err)
	}
	if _, err := tc.Build(t.Context(), unit("wb/s1/c2", first, t.TempDir(), nil)); err != nil {
		t.Errorf("the next build fails: %v", err)
	}
}

func TestImporterReadsTypes(t *testing.T) {
	tc, _ := toolchain(t)
	im := tc.Importer(token.NewFileSet())
	var wg sync.WaitGroup
	for _, path := range []string{"fmt", "net/http", "slices", "io", "example.com/book/display", "unsafe", "example.com/book/kernel/rt"} {
		wg.Go(func() {
			pkg, err := im.Import(path)
			if err != nil {
				t.Error(err)
			} else if pkg.Path() != path || !pkg.Complete() {
				t.Errorf("%s: got %s, complete %t", path, pkg.Path(), pkg.Complete())
			}
		})
	}
	wg.Wait()
	fmtPkg, _ := im.Import("fmt")
	ioPkg, _ := im.Import("io")
	fprint, ok := fmtPkg.Scope().Lookup("Fprint").(*types.Func)
	if !ok {
		t.Fatal("fmt has no func Fprint")
	}
	if w := fprint.Signature().Params().At(0).Type(); !types.Identical(w, ioPkg.Scope().Lookup("Writer").Type()) {
		t.Errorf("fmt.Fprint takes %v, which is not io.Writer", w)
	}
	if _, err := im.Import("example.org/nothing"); err == nil {
		t.Error("a package that does not exist was imported")
	}
}

func TestPackages(t *testing.T) {
	tc, _ := toolchain(t)
	have := map[string]gotool.Package{}
	for _, p := range tc.Packages() {
		have[p.Path] = p
	}
	if p := have["math/rand/v2"]; p.Name != "rand" || !p.Standard {
		t.Errorf("math/rand/v2: got %+v", p)
	}
	if p := have["example.com/book/display"]; p.Name != "display" || !p.Own {
		t.Errorf("display: got %+v", p)
	}
	for path := range have {
		if strings.Contains(path, "internal") || strings.HasPrefix(path, "vendor/") || strings.HasPrefix(path, "cmd/") || strings.Contains(path, "kernel/rt") {
			t.Errorf("%s is offered to cells", path)
		}
	}
}

func TestDoc(t *testing.T) {
	tc, _ := toolchain(t)
	for path, want := range map[string]string{"strings": "Package strings implements", "example.com/book/display": "Package display is a facade", "builtin": "Package builtin"} {
		d, err := tc.Doc(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		} else if !strings.HasPrefix(d.Package.Doc, want) {
			t.Errorf("%s: got %.40q; want %q", path, d.Package.Doc, want)
		}
	}
}

// Find tells apart what can be wrong, in words that help.
func TestFindSaysWhatIsMissing(t *testing.T) {
	_, exe := toolchain(t)
	record, err := os.ReadFile(filepath.Join(filepath.Dir(exe), gotool.RecordFile))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name     string
		old, new string // replacement in the record
		want     gotool.Reason
	}{
		{"source", `"source": "`, `"source": "/gone`, gotool.NoSource},
		{"goroot", `"goroot": "`, `"goroot": "/gone`, gotool.NoGo},
		{"version", `"go_version": "go`, `"go_version": "go9`, gotool.WrongVersion},
		{"cc", `"cc": "`, `"cc": "no-such-`, gotool.NoCC},
		{"rebuilt", `"size": `, `"size": 1`, gotool.StaleRecord},
	}
	archive, err := os.ReadFile(filepath.Join(filepath.Dir(exe), gotool.ExportsFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			changed := strings.Replace(string(record), test.old, test.new, 1)
			program, err := os.ReadFile(exe)
			if err != nil {
				t.Fatal(err)
			}
			for name, data := range map[string][]byte{gotool.RecordFile: []byte(changed), gotool.ExportsFile: archive, "book": program} {
				if err := os.WriteFile(filepath.Join(dir, name), data, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			tc, err := gotool.Find(filepath.Join(dir, "book"))
			var un *gotool.Unavailable
			if !errors.As(err, &un) || un.Reason != test.want {
				t.Fatalf("got %v; want reason %d", err, test.want)
			}
			if _, err := tc.Importer(token.NewFileSet()).Import("fmt"); err != nil {
				t.Errorf("types are unknown without a compiler: %v", err)
			}
			if _, err := tc.Build(t.Context(), gotool.Unit{}); !errors.As(err, &un) {
				t.Errorf("Build: got %v", err)
			}
		})
	}
	_, err = gotool.Find(filepath.Join(t.TempDir(), "book"))
	var un *gotool.Unavailable
	if !errors.As(err, &un) || un.Reason != gotool.NoRecord {
		t.Errorf("without a record: got %v", err)
	}
}

// childTime is the processor time of the tools, which other work on the machine
// does not change as it does the elapsed time.
func childTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkBuild(b *testing.B) {
	tc, _ := toolchain(b)
	for _, imports := range []string{"fmt", "encoding/json", "net/http"} {
		b.Run(imports, func(b *testing.B) {
			u := unit("", first, b.TempDir(), nil)
			u.Files["more.go"] = fmt.Appendf(nil, "package main\n\nimport p %q\n\ntype More struct{}\n\nfunc (More) Use() { _ = p.%s }\n",
				imports, map[string]string{"fmt": "Sprint", "encoding/json": "Marshal", "net/http": "ListenAndServe"}[imports])
			u.Imports = append(u.Imports, imports)
			var compile, link time.Duration
			before := childTime(b)
			for i := 0; b.Loop(); i++ {
				u.Path = fmt.Sprintf("wb/s1/c%d", i)
				r, err := tc.Build(b.Context(), u)
				if err != nil {
					b.Fatal(err)
				}
				compile, link = compile+r.Compile, link+r.Link
			}
			b.ReportMetric(float64((childTime(b)-before).Milliseconds())/float64(b.N), "cpu-ms")
			b.ReportMetric(float64(compile.Milliseconds())/float64(b.N), "compile-ms")
			b.ReportMetric(float64(link.Milliseconds())/float64(b.N), "link-ms")
		})
	}
}

func BenchmarkFindAndImportFmt(b *testing.B) {
	_, exe := toolchain(b)
	for b.Loop() {
		tc, err := gotool.Find(exe)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := tc.Importer(token.NewFileSet()).Import("fmt"); err != nil {
			b.Fatal(err)
		}
	}
}

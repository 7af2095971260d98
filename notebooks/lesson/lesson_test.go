package lesson_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/warpbook/warpbook/notebooks/lesson"
	"github.com/warpbook/warpbook/notebooks/nbformat"
)

var update = flag.Bool("update", false, "write the notebooks of all lessons again")

// sources are the lessons of the project.
func sources(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("../lessons/*.md")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no lessons: %v", err)
	}
	return paths
}

// The committed notebooks are what their sources make.
func TestNotebooksAreUpToDate(t *testing.T) {
	for _, path := range sources(t) {
		if *update {
			if _, err := lesson.Write(path); err != nil {
				t.Fatal(err)
			}
		}
		stale, err := lesson.Stale(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range stale {
			t.Errorf("%s differs from %s; run go test ./notebooks/lesson -update, or warpbook lesson build", f.Path, path)
		}
	}
}

// library holds what the tests' lessons include.
var library = fstest.MapFS{
	"k.cu": {Data: []byte("__global__ void k() {}\n")},
	"k.go": {Data: []byte("package p\n\nimport (\n\t\"fmt\"\n\t\"math\"\n)\n\n// F prints.\nfunc F() { fmt.Println(1) }\n\nfunc g() float64 { return math.Pi }\n")},
}

const small = `# One

Text.

## Two & three

<!-- cell starter #intro -->
For learners.

<!-- cell solution #intro -->
For the rest.

` + "```go #sum" + `
x := 1 + 1
x
` + "```" + `

Goes on:

` + "```text\n# no heading\n```" + `

` + "```go starter #answer\nvar answer int\n```" + `

` + "```go solution #answer\nvar answer = 42\n```" + `
`

func TestBuild(t *testing.T) {
	starter, solution, err := lesson.Build([]byte(small), library)
	if err != nil {
		t.Fatal(err)
	}
	const want = `markdown one: # One / Text.
markdown two-three: ## Two & three
markdown intro: For learners.
code sum: x := 1 + 1 / x
markdown sum-text: Goes on: / ~~~text / # no heading / ~~~
code answer: var answer int
`
	if got := outline(starter); got != want {
		t.Errorf("starter:\n%s", got)
	}
	wantSolution := strings.NewReplacer("For learners.", "For the rest.", "var answer int", "var answer = 42").Replace(want)
	if got := outline(solution); got != wantSolution {
		t.Errorf("solution:\n%s", got)
	}
	if starter.Language() != "go" {
		t.Errorf("language = %q", starter.Language())
	}
}

// outline writes one line a cell.
func outline(nb *nbformat.Notebook) string {
	var b strings.Builder
	for _, c := range nb.Cells {
		lines := strings.FieldsFunc(c.Source, func(r rune) bool { return r == '\n' })
		b.WriteString(string(c.Type) + " " + c.ID + ": " + strings.ReplaceAll(strings.Join(lines, " / "), "`", "~") + "\n")
	}
	return b.String()
}

func TestErrors(t *testing.T) {
	cell := func(info, code string) string { return "# T\n\n```" + info + "\n" + code + "\n```\n" }
	for _, test := range []struct{ name, src, want string }{
		{"fence not closed", "# T\n\n```go #a\nx := 1\n", "line 3: the fence is not closed"},
		{"code cell without an id", cell("go starter", "x := 1"), `line 3: "go starter" is no cell`},
		{"misspelt twin", cell("go starters #a", "x := 1"), `line 3: "go starters #a" is no cell`},
		{"misspelt mark", "<!-- cell title -->\n", "line 1: this mark cannot be read"},
		{"no solution", cell("go starter #a", "x := 1"), "line 4: the starter cell #a has no twin"},
		{"id twice", cell("go #a", "x := 1") + cell("go #a", "y := 1"), "cell 1 has the same id"},
		{"bad id", cell("go #a.b", "x := 1"), "1 to 64 letters"},
		{"file that is not there", cell("cuda #a", "%%cuda k\n<<< no.cu"), "line 5: the file to include cannot be read"},
		{"declaration that is not there", cell("go #a", "<<< k.go F H"), "line 4: k.go: there is no declaration of H"},
		{"not Go", cell("go #a", "import \"fmt\"\n\nx := 1\nfmt.Println(x"), "line 7: cell #a is not Go"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := lesson.Build([]byte(test.src), library)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error = %v, want %q", err, test.want)
			}
		})
	}
}

// A cell can be made of files: whole, or declarations with the imports that they need.
func TestInclude(t *testing.T) {
	_, nb, err := lesson.Build([]byte("```cuda #a\n%%cuda k\n<<< k.cu\n```\n\n```go #b\n<<< k.go F\n```\n\n```go #c\n<<< k.go g F\nF()\n```\n"), library)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"%%cuda k\n__global__ void k() {}",
		"import \"fmt\"\n\n// F prints.\nfunc F() { fmt.Println(1) }",
		"import (\n\t\"fmt\"\n\t\"math\"\n)\n\n// F prints.\nfunc F() { fmt.Println(1) }\n\nfunc g() float64 { return math.Pi }\nF()",
	} {
		if got := nb.Cells[i].Source; got != want {
			t.Errorf("got %q\nwant %q", got, want)
		}
	}
}

// What a cell may hold: declarations, statements, both, magics.
func TestCells(t *testing.T) {
	for _, code := range []string{
		"import \"fmt\"\n\nfmt.Println(1)",
		"// Comment.\nimport (\n\t\"fmt\"\n)\n\nfunc f() {}",
		"func f() int {\n\treturn 1\n}\n\nf()",
		"x := 1\n\ntype t struct{ a int }\n\nfunc (t) m() {\n}\n\nx + t{2}.a",
		"%%bash\nls (",
		"!ls (",
		"",
	} {
		if _, _, err := lesson.Build([]byte("```go #a\n"+code+"\n```"), library); err != nil {
			t.Errorf("%q: %v", code, err)
		}
	}
}

func TestWriteAndStale(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lessons", "01_small.md")
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(small), 0o644); err != nil {
		t.Fatal(err)
	}
	written, err := lesson.Write(path)
	if err != nil || len(written) != 2 || written[1] != filepath.Join(dir, "01_small_solution.ipynb") {
		t.Fatalf("written = %q, %v", written, err)
	}
	if again, err := lesson.Write(path); err != nil || len(again) != 0 {
		t.Errorf("written again: %q, %v", again, err)
	}
	if err := os.WriteFile(written[0], []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if stale, err := lesson.Stale(path); err != nil || len(stale) != 1 || stale[0].Path != written[0] {
		t.Errorf("stale = %v, %v", stale, err)
	}
}

// Any text is a lesson or an error that names a line; a lesson's notebooks are
// valid and can be written.
func FuzzBuild(f *testing.F) {
	f.Add(small)
	f.Add("```go #a\nfunc f() {\n}\nx\n```\n~~~\n# x\n~~~")
	f.Fuzz(func(t *testing.T, src string) {
		starter, solution, err := lesson.Build([]byte(src), library)
		if err != nil {
			return
		}
		for _, nb := range []*nbformat.Notebook{starter, solution} {
			if err := nb.Validate(); err != nil {
				t.Errorf("not valid: %v", err)
			}
			if _, err := nb.Bytes(); err != nil {
				t.Errorf("not written: %v", err)
			}
		}
	})
}

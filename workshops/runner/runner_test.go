package runner_test

import (
	"bytes"
	"context"
	"errors"
	"go/importer"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/warpbook/warpbook/workshops/online"
	"github.com/warpbook/warpbook/workshops/runner"
)

// library asks the go command for the standard library's types once.
var library = sync.OnceValue(importer.Default)

// result is one run of the command, as its user sees it.
type result struct {
	code        int
	out, errout string
}

// run runs with a learner's file, or with none when exercise is "".
func run(t *testing.T, o runner.Options, exercise string) result {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if exercise != "" {
		path := filepath.Join(o.Dir, "exercises", "online_normalizer.go")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(exercise), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if o.Importer == nil {
		o.Importer = func(*token.FileSet) types.Importer { return library() }
	}
	if o.Limit == 0 {
		o.Limit = time.Minute // only what hangs on purpose has less
	}
	var out, errout bytes.Buffer
	code := runner.Run(context.Background(), o, &out, &errout)
	return result{code, out.String(), errout.String()}
}

func (r result) want(t *testing.T, code int, texts ...string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d", r.code, code)
	}
	for _, text := range texts {
		if !strings.Contains(r.out+r.errout, text) {
			t.Errorf("no %q", text)
		}
	}
	if t.Failed() {
		t.Logf("output:\n%s%s", r.out, r.errout)
	}
}

func (r result) lacks(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(r.out+r.errout, text) {
			t.Errorf("%q in\n%s%s", text, r.out, r.errout)
		}
	}
}

// solution returns the reference as a learner's file, changed by pairs of old
// and new text.
func solution(t *testing.T, pairs ...string) string {
	t.Helper()
	text := online.Workshop().Solution[0].Text
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("the solution has no %q", pairs[i])
		}
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return text
}

func TestSolution(t *testing.T) {
	r := run(t, runner.Options{Solution: true}, "")
	r.want(t, runner.OK, "REFERENCE SOLUTION", "not the learner's work", "11 of 11 checks passed.")
}

// The default is the learner's file, and says so, even when it is right.
func TestLearner(t *testing.T) {
	r := run(t, runner.Options{Target: "online_normalizer"}, solution(t))
	r.want(t, runner.OK, "The learner's work: exercises/online_normalizer.go", "11 of 11 checks passed.")
	r.lacks(t, "REFERENCE")
}

// --solution does not look at the learner's file, and the default not at the
// solution.
func TestSolutionAndLearnerAreApart(t *testing.T) {
	run(t, runner.Options{Solution: true}, "this is not Go").want(t, runner.OK)
	run(t, runner.Options{}, "this is not Go").want(t, runner.Failed)

	w := online.Workshop()
	for _, f := range w.Starter {
		if strings.Contains(f.Text, "workshops/online") {
			t.Errorf("the starter %s imports the solution's package", f.Name)
		}
		for _, s := range w.Solution {
			if f.Text == s.Text {
				t.Errorf("%s is the starter and the solution", f.Name)
			}
		}
	}
}

// No file, the starter and a wrong answer are told apart.
func TestStarterAndWrongAnswer(t *testing.T) {
	run(t, runner.Options{}, "").want(t, runner.Unfinished, "so this is the starter", "11 to do", "--start")
	r := run(t, runner.Options{}, online.Workshop().Starter[0].Text)
	r.want(t, runner.Unfinished, "0 of 11 checks passed, 11 to do.", "TODO: Merge")
	r.lacks(t, "so this is the starter", "failed")
	run(t, runner.Options{}, solution(t, "a.Sum*math.Exp(a.Max-m) + b.Sum*math.Exp(b.Max-m)", "a.Sum + b.Sum")).want(t, runner.Failed,
		"✗ failed   rescale old sum",
		"the sum of the smaller maximum is rescaled by exp(old max - new max)",
		"expected (4, 1.2706705664732254)",
		"got      (4, 3)")
}

func TestStart(t *testing.T) {
	dir := t.TempDir()
	run(t, runner.Options{Dir: dir, Target: "online_normalizer", Start: true}, "").want(t, runner.OK, "Wrote exercises/online_normalizer.go")
	run(t, runner.Options{Dir: dir}, "").want(t, runner.Unfinished, "The learner's work: exercises/online_normalizer.go")
	run(t, runner.Options{Dir: dir, Start: true}, "").want(t, runner.Failed, "exists already")
}

// A TODO in one function hides no result of the others, good or bad.
func TestTODOHidesNothing(t *testing.T) {
	todo := []string{"m := max(a.Max, b.Max)", "var m float64; panic(workshops.TODO(\"Merge\"))", `import (`, `import ("github.com/warpbook/warpbook/workshops";`}
	run(t, runner.Options{}, solution(t, todo...)).want(t, runner.Unfinished,
		"✓ passed   worked summary", "○ to do    rescale old sum", "✓ passed   invalid chunk size rejected")
	run(t, runner.Options{}, solution(t, append(todo, "return nil, fmt.Errorf(", "return nil, nil; return nil, fmt.Errorf(")...)).want(t, runner.Failed,
		"○ to do    rescale old sum", "✗ failed   invalid chunk size rejected")
}

// A function that is not there is unfinished work, never a pass.
func TestMissingFunction(t *testing.T) {
	run(t, runner.Options{}, solution(t, "func StreamingSoftmax(", "func streamingSoftmax(")).want(t, runner.Unfinished,
		"– not run  empty probabilities", "needs StreamingSoftmax", "7 of 11 checks passed, 4 not run.")
}

// Mistakes in the file have file, line, column and the line itself; all of them
// are shown.
func TestUnreadableExercise(t *testing.T) {
	const head = "package exercise\n\nimport \"math\"\n\n"
	for _, test := range []struct{ name, text, want string }{
		{"syntax error", head + "func Merge(a, b int {\n", "exercises/online_normalizer.go:5:21: syntax error: missing ',' in parameter list\n    func Merge(a, b int {\n                        ^"},
		{"empty file", " ", "exercises/online_normalizer.go:1:2: syntax error: "},
		{"undefined", head + "func f() float64 {\n\treturn math.Exp(x)\n}\n", "exercises/online_normalizer.go:6:18: undefined: x\n    \treturn math.Exp(x)\n    \t                ^"},
		{"wrong type", head + "func f(n int) float64 { return math.Exp(n) }\n", "online_normalizer.go:5:41: cannot use n (variable of type int) as float64 value"},
		{"missing return", head + "func f() float64 { }\n", "online_normalizer.go:5:20: missing return"},
		{"two mistakes", head + "var a = b\n\nvar c = d\n", "online_normalizer.go:7:9: undefined: d"},
		{"misspelt import", "package exercise\n\nimport \"maths\"\n", "online_normalizer.go:3:8: could not import maths"},
		{"wrong signature", head + "type State struct{ Max, Sum float64 }\nfunc Merge(a State) State { return a }\n", "expected Merge(a, b State) State"},
		{"panic while loading", head + "var a = []int{}\nvar b = a[3]\nvar _ = math.Pi\n", "out of range"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := run(t, runner.Options{}, test.text)
			r.want(t, runner.Failed, test.want, "did not load, so no check was run")
			r.lacks(t, "checks passed")
		})
	}
}

// Unused names are fine, as they are in cells.
func TestUnusedNames(t *testing.T) {
	run(t, runner.Options{}, solution(t, "import (", "import (\"os\";", "m := max(", "x := 1; m := max(")).want(t, runner.OK)
}

// Go of later versions than the interpreter's, as learners write it.
func TestModernGo(t *testing.T) {
	run(t, runner.Options{}, `package exercise // by a learner

import (
	"errors"
	"math"
	"slices"
)

type State struct{ max, sum float64 }

var empty = State{max: math.Inf(-1)}

func (s State) weight(m float64) float64 { return s.sum * math.Exp(s.max-m) }

func Summarize(values []float64) State {
	if len(values) == 0 {
		return empty
	}
	s := State{max: max(slices.Max(values), -1e300, values[0])}
	for i := range len(values) {
		s.sum += math.Exp(values[i] - s.max)
	}
	return s
}

func Merge(a, b State) State {
	if a == empty && b == empty {
		return empty
	}
	m := max(a.max, b.max)
	return State{m, a.weight(m) + b.weight(m)}
}

func StreamingSoftmax(values []float64, chunk int) ([]float64, error) {
	if min(chunk, 1) != 1 {
		return nil, errors.New("the chunk must be positive")
	}
	total := empty
	for part := range slices.Chunk(values, max(1, chunk)) {
		total = Merge(total, Summarize(part))
	}
	p := slices.Clone(values)
	clear(p)
	for i, x := range values {
		p[i] += func() float64 { return math.Exp(x-total.max) / total.sum }()
	}
	return p, nil
}
`).want(t, runner.OK, "11 of 11 checks passed.")
}

// What goes wrong in one check ends that check only.
func TestPanicHangRecursion(t *testing.T) {
	for _, test := range []struct{ name, from, to, want string }{
		{"panic", "return nil, fmt.Errorf(", "var none []error; return nil, none[chunk+5]; return nil, fmt.Errorf(", "panicked at exercises/online_normalizer.go:41: "},
		{"own panic", "return nil, fmt.Errorf(", `panic("not a chunk"); return nil, fmt.Errorf(`, "not a chunk"},
		{"endless loop", "return nil, fmt.Errorf(", "for { }; return nil, fmt.Errorf(", "did not return within 3s"},
		{"endless recursion", "return nil, fmt.Errorf(", "return StreamingSoftmax(values, chunk); return nil, fmt.Errorf(", "endless recursion"},
		{"exit", "return nil, fmt.Errorf(", "os.Exit(0); return nil, fmt.Errorf(", "os.Exit"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var o runner.Options
			if test.name == "endless loop" {
				o.Limit = 3 * time.Second
			}
			r := run(t, o, solution(t, test.from, test.to, "import (", "import (\"os\";"))
			r.want(t, runner.Failed, "10 of 11 checks passed, 1 ended with an error.", "! error    invalid chunk size rejected", test.want)
			r.lacks(t, "still runs")
		})
	}
}

func TestHangWhileLoading(t *testing.T) {
	run(t, runner.Options{Limit: 300 * time.Millisecond}, solution(t, "import (", "import (\"os\";", "// State summarises", "var x = func() int { for { } }()\n\n// State summarises")).
		want(t, runner.Failed, "were not computed within 300ms")
}

func TestNaNIsRejected(t *testing.T) {
	run(t, runner.Options{}, solution(t, "if math.IsInf(m, -1)", "if false")).want(t, runner.Failed,
		"✗ failed   empty/empty avoids NaN", "got      (-Inf, NaN)")
}

// Without the standard library's types the interpreter's own checks remain.
func TestWithoutTypes(t *testing.T) {
	o := runner.Options{Verbose: true, Importer: func(*token.FileSet) types.Importer { return nothing{} }}
	const old = "m := a.Max; if b.Max > m { m = b.Max }"
	plain := solution(t, "s.Max = max(s.Max, x)", "s.Max = math.Max(s.Max, x)", "m := max(a.Max, b.Max)", old,
		"end := start + min(chunk, len(values)-start)", "end := start + chunk; if end > len(values) { end = len(values) }")
	run(t, o, plain).want(t, runner.OK, "types were not checked before the run")
	run(t, o, solution(t)).want(t, runner.Failed, "undefined: max", "install Go")
}

type nothing struct{}

func (nothing) Import(string) (*types.Package, error) { return nil, errors.New("no export data") }

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.go")
	if err := os.WriteFile(path, []byte(solution(t)), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, runner.Options{File: path}, "").want(t, runner.OK, "The learner's work: "+path)
	run(t, runner.Options{File: path + ".missing"}, "").want(t, runner.Failed, "no such file")
}

// The types come from the program's own archive or the go command, also where
// the program does not know GOROOT. That is the default, so nothing is given.
func TestDefaultImporter(t *testing.T) {
	t.Setenv("GOROOT", "")
	dir := t.TempDir()
	path := filepath.Join(dir, "mine.go")
	if err := os.WriteFile(path, []byte(solution(t)), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if code := runner.Run(context.Background(), runner.Options{File: path, Dir: dir, Limit: time.Minute}, &out, &out); code != runner.OK {
		t.Errorf("exit code %d\n%s", code, out.String())
	}
}

package front

import (
	"fmt"
	"strings"
	"testing"
)

var kindNames = map[Kind]string{Stmt: "stmt", Import: "import", Func: "func", Type: "type", Const: "const", Var: "var", Package: "package"}

func TestSplit(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"x := 1", "stmt(x := 1)"},
		{"x := 1; y := 2", "stmt(x := 1;) stmt(y := 2)"},
		{"import \"fmt\"\nfmt.Println()", `import(import "fmt") stmt(fmt.Println())`},
		{"func f() {\n}\nf()", "func(func f() {\n}) stmt(f())"},
		{"func (t T) m() {}", "func(func (t T) m() {})"},
		{"func() {}()", "stmt(func() {}())"},
		{"func(a int) int { return a }(1)", "stmt(func(a int) int { return a }(1))"},
		{"func(a int) (b int) { return a }(1)", "stmt(func(a int) (b int) { return a }(1))"},
		{"func() List[int] { return nil }()", "stmt(func() List[int] { return nil }())"},
		{"type (\nA int\nB string\n)\nvar x A", "type(type (\nA int\nB string\n)) var(var x A)"},
		{"for i := 0; i < 3; i++ {\n}", "stmt(for i := 0; i < 3; i++ {\n})"},
		{"for ;; {}", "stmt(for ;; {})"},
		{"if x := f(); x > 0 {\n} else if y := g(); y {\n}", "stmt(if x := f(); x > 0 {\n} else if y := g(); y {\n})"},
		{"if f := func() int { return 1 }; f() > 0 {}", "stmt(if f := func() int { return 1 }; f() > 0 {})"},
		{"switch x := f(); x {\ncase 1:\n}", "stmt(switch x := f(); x {\ncase 1:\n})"},
		{"for _, x := range []struct{ a int }{{1}} {}", "stmt(for _, x := range []struct{ a int }{{1}} {})"},
		{"package main\n\nfunc main() {}", "package(package main) func(func main() {})"},
		{"// only a comment", ""},
		{"x.\n\tf()", "stmt(x.\n\tf())"},
		{"s := `\n;\n`", "stmt(s := `\n;\n`)"},
		{"L:\nfor {\nbreak L\n}", "stmt(L:\nfor {\nbreak L\n})"},
		{"f( {", "stmt(f( {)"},
		{")", "stmt())"},
		{"", ""},
	} {
		var got []string
		for _, ch := range Split([]byte(c.src)) {
			got = append(got, fmt.Sprintf("%s(%s)", kindNames[ch.Kind], c.src[ch.Start:ch.End]))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%q: got %s, want %s", c.src, s, c.want)
		}
	}
}

// Chunks do not overlap, are in order, and hold every token but semicolons.
func FuzzSplit(f *testing.F) {
	f.Add("x := 1; func f() {}; for ;; {}")
	f.Add("func (")
	f.Fuzz(func(t *testing.T, src string) {
		chunks := Split([]byte(src))
		at := 0
		for _, c := range chunks {
			if c.Start < at || c.End < c.Start || c.End > len(src) {
				t.Fatalf("chunk %+v behind %d in %q", c, at, src)
			}
			at = c.End
		}
		for _, tk := range scan([]byte(src)) {
			inside := false
			for _, c := range chunks {
				inside = inside || tk.off >= c.Start && tk.off < c.End
			}
			if !inside && tk.lit != ";" && tk.lit != "\n" && tk.lit != "" {
				t.Fatalf("token %q at %d of %q is in no chunk", tk.lit, tk.off, src)
			}
		}
	})
}

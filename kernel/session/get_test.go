package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/warpbook/warpbook/kernel/gotool"
	"github.com/warpbook/warpbook/kernel/gotool/moduletest"
	"github.com/warpbook/warpbook/kernel/session"
)

// modules are those that the tests' proxy serves.
func modules(t testing.TB) moduletest.Proxy {
	p := moduletest.Proxy(t.TempDir())
	small := func(n string) map[string]string {
		return map[string]string{
			"go.mod": "module example.com/small\n\ngo 1.21\n\nrequire example.com/dep v1.0.0\n",
			"small.go": "// Package small is made up for a test.\npackage small\n\nimport \"example.com/dep\"\n\n" +
				"// Version is " + n + ".\nconst Version = " + n + "\n\n" +
				"// Box holds a value.\ntype Box[T any] struct{ V T }\n\nfunc (b Box[T]) String() string { return dep.Around(b.V) }\n\n" +
				"// Double is twice n.\nfunc Double(n int) int { return n * 2 }\n",
			"deep/deep.go":        "// Package deep lies below.\npackage deep\n\n// Sea says it.\nfunc Sea() string { return \"sea\" }\n",
			"internal/in/in.go":   "package in\n",
			"cmd/tool/main.go":    "package main\n\nfunc main() {}\n",
			"testdata/x/x.go":     "package x\n",
			"inc/inc.go":          "package inc\n\n// int two(void) { return 2; }\nimport \"C\"\n\nfunc Two() int { return int(C.two()) }\n",
			"deep/deep_other.txt": "no Go\n",
		}
	}
	p.Add(t, "example.com/small", "v1.0.0", small("1"))
	p.Add(t, "example.com/small", "v1.1.0", small("2"))
	p.Add(t, "example.com/dep", "v1.0.0", map[string]string{
		"go.mod": "module example.com/dep\n\ngo 1.21\n",
		"dep.go": "package dep\n\nimport \"fmt\"\n\nfunc Around(v any) string { return fmt.Sprintf(\"<%v>\", v) }\n",
	})
	p.Add(t, "example.com/clash", "v1.0.0", map[string]string{
		"go.mod":   "module example.com/clash\n\ngo 1.21\n\nrequire golang.org/x/text v0.999.0\n",
		"clash.go": "package clash\n\nconst C = 1\n",
	})
	p.Add(t, "golang.org/x/text", "v0.999.0", map[string]string{"go.mod": "module golang.org/x/text\n\ngo 1.21\n", "text.go": "package text\n"})
	p.Add(t, "example.com/withc", "v1.0.0", map[string]string{
		"go.mod": "module example.com/withc\n\ngo 1.21\n",
		"c.go":   "package withc\n\n// int two(void) { return 2; }\nimport \"C\"\n\nfunc Two() int { return int(C.two()) }\n",
	})
	return p
}

// openWith opens a session over the host program with a changed record.
func openWith(t testing.TB, change func(*gotool.Record)) *session.Notebook {
	t.Helper()
	exe, err := host()
	if err != nil {
		t.Fatal(err)
	}
	exe = moduletest.Program(t, exe, change)
	tool, _ := gotool.Find(exe) // unable to compile in some tests
	s, err := session.New(session.Options{Tool: tool, Command: []string{exe}, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// A conversation is cells, each with text that must be in what it puts out.
type conversation []struct{ cell, want string }

func (c conversation) hold(t *testing.T, s *session.Notebook) {
	t.Helper()
	for i, step := range c {
		text, _ := run(t, s, i+1, step.cell)
		if !strings.Contains(text, step.want) {
			t.Fatalf("cell %d: %s\ngot:\n%s\nwant: %s", i+1, step.cell, text, step.want)
		}
	}
}

func TestGetModules(t *testing.T) {
	proxy := modules(t)
	s := openWith(t, func(rec *gotool.Record) { proxy.Use(t, rec) })
	conversation{
		{"%get", "The session has no modules of its own"},
		{`import "example.com/small"`, "run %get example.com/small first"},
		{"%get small", "is not the path of a module"},
		{"%get example.com/none", "cannot get example.com/none"},
		{"%get example.com/small@v1.0.0", "example.com/small v1.0.0\n"},
		{"import \"example.com/small\"\nsmall.Version", "1"},
		{"small.Double(21)", "42"},
		{"b := small.Box[string]{\"x\"}\nfmt.Println(b)", "<x>"},
		{"type Mine struct{ small.Box[int] }\nfmt.Println(Mine{small.Box[int]{3}})", "<3>"},
		{"deep.Sea()", "sea"}, // found by its name
		{"import \"example.com/dep\"\ndep.Around(1)", "<1>"},
		{`import "example.com/small/nothing"`, "example.com/small/nothing"},
		{"%get example.com/small@v1.1.0", "already, and a process holds one version of a package: run %reset"},
		{"small.Version", "1"},
		{"%get", "example.com/small v1.0.0\n"},
		{"%get example.com/clash", "this would change golang.org/x/text from v0.28.0 to v0.999.0, but the running program links v0.28.0"},
		{`import "example.com/clash"`, "run %get example.com/clash first"},
		{"%get example.com/withc", "nothing was changed: package example.com/withc holds C code (cgo)"},
		{`import "example.com/small/inc"`, "holds C code (cgo)"},
		{"%reset", "empty"},
		{"%get example.com/small\nsmall.Version + small.Double(1)", "4"}, // the latest; used in the same cell
		{"Later := small.Box[int]{4}\nfunc Use() string { return Later.String() }", ""},
		{"Use()", "<4>"},
		{"%engine compiled\nsmall.Double(4)", "8"},
		{"%get example.com/dep@none", "nothing was changed: cells of this session use example.com/dep v1.0.0"},
		{"%reset\n%get example.com/small@none", "The session has no modules"},
		{`import "example.com/small"`, "run %get example.com/small first"},
		{"%get example.com/small/deep@v1.0.0\ndeep.Sea()", "sea"},
		{"%get example.com/small@v1.1.0", "already"},
		{"%reset\n%get example.com/small\nsmall.Version", "2"},
	}.hold(t, s)

	c, err := s.Complete(t.Context(), "small.Dou", 9)
	if err != nil || len(c.Items) != 1 || c.Items[0].Text != "Double" {
		t.Errorf("completion of a member: got %v, %v", c.Items, err)
	}
	c, _ = s.Complete(t.Context(), `import "example.com/small/`, 26)
	if len(c.Items) != 1 || c.Items[0].Text != "example.com/small/deep" {
		t.Errorf("completion of a path: got %v", c.Items)
	}
	in, err := s.Inspect(t.Context(), "small.Double", 8, 0)
	if text, _ := in.Bundle.Data["text/plain"].(string); err != nil || !strings.Contains(text, "Double is twice n.") {
		t.Errorf("inspection: got %q, %v", text, err)
	}
}

// What has been downloaded needs no network.
func TestGetOffline(t *testing.T) {
	proxy := modules(t)
	var cached gotool.Record
	first := openWith(t, func(rec *gotool.Record) { proxy.Use(t, rec); cached = *rec })
	conversation{{"%get example.com/small@v1.0.0", "example.com/small v1.0.0"}}.hold(t, first)
	t.Setenv("GOPROXY", "off")
	s := openWith(t, func(rec *gotool.Record) { *rec = cached })
	conversation{
		{"%get example.com/small@v1.0.0\nsmall.Double(3)", "6"},
		{"%get example.com/small@v1.1.0", "GOPROXY=off"},
	}.hold(t, s)
}

func TestGetIsInterrupted(t *testing.T) {
	proxy := modules(t)
	var slow strings.Builder // a package that takes long to compile, and that no cache has
	fmt.Fprintf(&slow, "package slow\n\nconst Made = %d\n", time.Now().UnixNano())
	for i := range 20_000 {
		fmt.Fprintf(&slow, "\nfunc F%d(a, b int) int { for a < b { a, b = a+%d, b*a }; return a }\n", i, i)
	}
	proxy.Add(t, "example.com/slow", "v1.0.0", map[string]string{
		"go.mod": "module example.com/slow\n\ngo 1.21\n", "slow/slow.go": slow.String(), "slow.go": "package top\n",
	})
	s := openWith(t, func(rec *gotool.Record) { proxy.Use(t, rec) })
	t.Run("before it begins", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		out := s.Execute(ctx, session.Cell{Count: 1, Code: "%get example.com/small"}, &transcript{})
		if out.Err == nil || out.Err.Name != "interrupted" {
			t.Errorf("got %v", out.Err)
		}
	})
	go func() {
		time.Sleep(20 * time.Millisecond)
		s.Interrupt()
	}()
	out := s.Execute(t.Context(), session.Cell{Count: 2, Code: "%get example.com/small"}, &transcript{})
	if out.Err == nil || out.Err.Name != "interrupted" {
		t.Errorf("got %v", out.Err)
	}
	conversation{{"%get example.com/slow", "example.com/slow v1.0.0"}}.hold(t, s)
	go func() {
		time.Sleep(300 * time.Millisecond)
		s.Interrupt()
	}()
	out = s.Execute(t.Context(), session.Cell{Count: 3, Code: "import \"example.com/slow/slow\"\nslow.F1(1, 2)"}, &transcript{})
	if out.Err == nil || out.Err.Name != "interrupted" {
		t.Errorf("the import of a package that is being compiled: got %v", out.Err)
	}
	conversation{{"%get example.com/slow@none", "no modules"}, {"%get example.com/small", "v1.1.0"}}.hold(t, s)
}

// Without the Go toolchain the standard library and our packages are known all
// the same; statements run, and the rest says what it needs.
func TestWithoutToolchain(t *testing.T) {
	s := openWith(t, func(rec *gotool.Record) { rec.GOROOT = "/gone/go" })
	const how = "install go1."
	conversation{
		{"x := 2\nx * 21", "42"},
		{"s := strings.Split(\"a,b\", \",\")\nlen(s)", "2"},
		{"fmt.Println(x, s)", "2 [a b]"},
		{"type T struct{ A int }", "type T"},
		{"type T struct{ A int }", how},
		{"func f() {}", how},
		{"x + 1", "3"}, // nothing is lost
		{"%get example.com/small", how},
		{"%engine", how},
		{`import "example.com/small"`, how},
	}.hold(t, s)
	for code, want := range map[string]string{
		"strings.Split": "Split slices s into all substrings",
		"fmt.Println":   "Println formats",
		"append":        "The append built-in function",
		"display.Table": "Table",
		"http.Get":      "Get issues a GET",
	} {
		in, err := s.Inspect(t.Context(), code, len(code), 0)
		if text, _ := in.Bundle.Data["text/markdown"].(string); err != nil || !strings.Contains(text, want) {
			t.Errorf("inspection of %s: got %q, %v", code, text, err)
		}
	}
	in, _ := s.Inspect(t.Context(), "strings.Split", 13, 1)
	if text, _ := in.Bundle.Data["text/plain"].(string); !strings.Contains(text, "source is not on this machine") {
		t.Errorf("source of strings.Split: got %q", text)
	}
	c, err := s.Complete(t.Context(), "strings.Spl", 11)
	if err != nil || len(c.Items) < 4 || c.Items[0].Signature == "" {
		t.Errorf("completion: got %v, %v", c.Items, err)
	}
}

package lower_test

import (
	"errors"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/warpbook/warpbook/kernel/front/fronttest"
	"github.com/warpbook/warpbook/kernel/lower"
)

var update = flag.Bool("update", false, "write what the tests got into their golden files")

// TestLower runs the txtar files of testdata: cells, each followed by the script
// or by why there is none, and by the Go source of its plugin.
func TestLower(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no test files", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { lowerFile(t, file) })
	}
}

func lowerFile(t *testing.T, file string) {
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, n := fronttest.New(), 0
	got := txtar.Archive{Comment: a.Comment}
	for _, f := range a.Files {
		if f.Name != "cell" {
			continue
		}
		n++
		got.Files = append(got.Files, f)
		cell, diags := s.Check(n, strings.TrimSuffix(string(f.Data), "\n"))
		if cell == nil {
			t.Fatalf("cell %d: %v", n, diags)
		}
		script := ""
		prog, err := lower.Script(cell, n)
		var refused *lower.Refused
		switch {
		case err == nil:
			script = prog.Script
		case errors.As(err, &refused):
			script = fmt.Sprintf("%d:%d: %v\n", refused.Line, refused.Col, err)
		default:
			t.Fatal(err)
		}
		got.Files = append(got.Files, txtar.File{Name: "script", Data: []byte(script)})
		unit, err := lower.Compiled(cell)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range slices.Sorted(maps.Keys(unit.Files)) {
			if _, err := parser.ParseFile(token.NewFileSet(), name, unit.Files[name], 0); err != nil {
				t.Errorf("cell %d: %v\n%s", n, err, unit.Files[name])
			}
			if name != "glue.go" || strings.Contains(string(f.Data), "// with its glue") {
				got.Files = append(got.Files, txtar.File{Name: name, Data: unit.Files[name]})
			}
		}
		s.Commit(cell, func(int) bool { return true })
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	have := txtar.Format(&got)
	if *update {
		if err := os.WriteFile(file, have, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(have) != string(want) {
		t.Errorf("got:\n%s\nwant:\n%s", have, want)
	}
}

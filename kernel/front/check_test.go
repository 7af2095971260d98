package front_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/warpbook/warpbook/kernel/front"
	"github.com/warpbook/warpbook/kernel/front/fronttest"
)

var update = flag.Bool("update", false, "write what the tests got into their golden files")

// describe says what a check found: diagnostics, or what the cell is.
func describe(cell *front.Cell, diags []front.Diagnostic) string {
	var b strings.Builder
	for _, d := range diags {
		fmt.Fprintf(&b, "%s:%d:%d: %s\n", d.Cell, d.Line, d.Col, d.Msg)
		for _, n := range d.Notes {
			fmt.Fprintf(&b, "\t%s\n", n)
		}
	}
	if cell == nil {
		return b.String()
	}
	for _, v := range cell.Defined {
		fmt.Fprintf(&b, "defines %s in slot %d\n", v.Obj, v.Slot)
	}
	for _, u := range cell.Units {
		fmt.Fprintf(&b, "compiles %s of cell [%d]\n", strings.Join(u.Keys, ", "), u.Source.Count)
	}
	if cell.Show != nil {
		fmt.Fprintf(&b, "shows %s\n", cell.Info.Types[cell.Show.X].Type)
	}
	for _, w := range cell.Warnings {
		fmt.Fprintf(&b, "warns: %s\n", w.Msg)
	}
	return b.String()
}

// TestCheck runs the txtar files of testdata: cells, each followed by what the
// front end says of it. Every cell that checks is committed.
func TestCheck(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no test files", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s, n := fronttest.New(), 0
			got := txtar.Archive{Comment: a.Comment}
			for _, f := range a.Files {
				if f.Name == "says" {
					continue
				}
				n++
				cell, diags := s.Check(n, strings.TrimSuffix(string(f.Data), "\n"))
				got.Files = append(got.Files, f, txtar.File{Name: "says", Data: []byte(describe(cell, diags))})
				if cell != nil {
					s.Commit(cell, func(int) bool { return true })
				}
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
		})
	}
}

// Whatever is typed, a check ends with a cell or with diagnostics that lie in it.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{
		"x := 1\nx", "func f() int { return x }", "type t struct{ t }", "var a, b = b, 1", "func (p point) m() {}", "type point other",
		"import . \"strings\"\nToUpper(\"x\")", "for {", "x, y := f()", "const ( A = iota; B )", "defer f()", "type L[T any] struct{ n *L[T] }",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, code string) {
		s := fronttest.New()
		setup, diags := s.Check(1, "x := 1\ntype point struct{ x, y int }\ntype other = point\nfunc f() (int, error) { return x, nil }")
		if diags != nil {
			t.Fatal(diags)
		}
		s.Commit(setup, func(int) bool { return true })
		for n := 2; n < 4; n++ { // again, over what it declared itself
			cell, diags := s.Check(n, code)
			if (cell == nil) == (len(diags) == 0) {
				t.Fatalf("%q: cell %v, diagnostics %v", code, cell, diags)
			}
			for _, d := range diags {
				if d.Line > strings.Count(code, "\n")+1 {
					t.Errorf("%q: %+v is behind the cell's end", code, d)
				}
			}
			if cell != nil {
				s.Commit(cell, func(int) bool { return true })
			}
		}
	})
}

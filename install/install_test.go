package install

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// testPlace is a place below a temporary folder, and a program that is there already.
func testPlace(t *testing.T) (Place, string) {
	t.Helper()
	place, err := PrefixPlace(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "warpbook")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho warpbook test\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return place, program
}

func TestInstallTwiceAndUninstall(t *testing.T) {
	place, program := testPlace(t)
	options := Options{Place: place, Program: program, Env: map[string]string{"A": "1"}}
	first, err := Run(t.Context(), options, nil)
	if err != nil || !first.Changed {
		t.Fatalf("first install: %+v, %v", first, err)
	}
	spec, err := ReadSpec(first.Spec)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{program, "kernel", "-f", "{connection_file}"}; !slices.Equal(spec.Argv, want) {
		t.Errorf("argv %q, want %q", spec.Argv, want)
	}
	if spec.Language != "go" || spec.InterruptMode != "message" || spec.DisplayName != "Go (Warpbook)" || spec.Env["A"] != "1" {
		t.Errorf("spec %+v", spec)
	}
	for _, name := range []string{"logo-32x32.png", "logo-64x64.png", "logo-svg.svg"} {
		if _, err := os.Stat(filepath.Join(first.Spec, name)); err != nil {
			t.Error(err)
		}
	}
	second, err := Run(t.Context(), options, nil)
	if err != nil || second.Changed {
		t.Errorf("the second install changed something: %+v, %v", second, err)
	}
	options.Env = map[string]string{"A": "2"}
	third, err := Run(t.Context(), options, nil)
	if err != nil || !third.Changed {
		t.Errorf("another environment changed nothing: %+v, %v", third, err)
	}
	gone, err := Uninstall(place, "")
	if err != nil || !slices.Contains(gone, first.Spec) {
		t.Errorf("uninstall removed %q, %v", gone, err)
	}
	if left, _ := os.ReadDir(place.Root); len(left) != 0 {
		t.Errorf("uninstall left %v", left)
	}
	if gone, err := Uninstall(place, ""); err != nil || len(gone) != 0 {
		t.Errorf("uninstall of nothing: %q, %v", gone, err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Error("uninstall removed a program that it had not written")
	}
}

func TestProgramStaysForTheOtherName(t *testing.T) {
	place, program := testPlace(t)
	for _, name := range []string{"one", "two"} {
		if _, err := Run(t.Context(), Options{Place: place, Program: program, Name: name}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Uninstall(place, "one"); err != nil {
		t.Fatal(err)
	}
	s, err := place.state()
	if err != nil || len(s.Specs) != 1 || filepath.Base(s.Specs[0]) != "two" {
		t.Errorf("after the first uninstall: %+v, %v", s, err)
	}
}

func TestRefusals(t *testing.T) {
	place, program := testPlace(t)
	foreign := filepath.Join(place.Kernels, "python3")
	if err := os.MkdirAll(foreign, 0o755); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(map[string]any{"argv": []string{"python", "-m", "ipykernel"}, "language": "python"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(foreign, "kernel.json"), raw, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		options Options
		want    string
	}{
		{Options{Program: program, Name: "python3"}, "belongs to another kernel"},
		{Options{Program: program, Name: "no/name"}, "no kernel name"},
		{Options{Program: program + ".gone"}, "not there"},
		{Options{Source: t.TempDir()}, "not inside the source"},
	} {
		c.options.Place = place
		_, err := Run(t.Context(), c.options, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want one with %q", c.options, err, c.want)
		}
	}
	if _, err := Uninstall(place, "python3"); err == nil || !strings.Contains(err.Error(), "another kernel") {
		t.Errorf("uninstall of another kernel: %v", err)
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Error("another kernel was removed")
	}
}

// A small module with our path stands for the source, so that building it is quick.
func smallSource(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":          "module " + Module + "\n\ngo 1.24\n",
		"main.go":         "package main\n\nfunc main() { println(\"" + text + "\") }\n",
		"main_test.go":    "package main\n",
		"build/junk.go":   "package junk\n",
		"docs/page.md":    "text",
		".git/config":     "x",
		"sub/keep.txt":    "x",
		"sub/testdata/in": "x",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestReadSource(t *testing.T) {
	a, err := readSource(smallSource(t, "one"))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"go.mod", "main.go", "sub/keep.txt"}; !slices.Equal(a.files, want) {
		t.Errorf("files %q, want %q", a.files, want)
	}
	b, err := readSource(smallSource(t, "one"))
	if err != nil || a.hash != b.hash {
		t.Errorf("the same source in another folder hashes to %s and %s (%v)", a.hash, b.hash, err)
	}
	c, err := readSource(smallSource(t, "two"))
	if err != nil || a.hash == c.hash {
		t.Errorf("another source has the same hash (%v)", err)
	}
}

func TestBuildsOnceForASource(t *testing.T) {
	place, _ := testPlace(t)
	builds := 0
	options := Options{Place: place, Source: smallSource(t, "one"),
		Record: func(_ context.Context, source, exe string, _ Progress) error {
			builds++
			if filepath.Dir(source) != filepath.Join(place.Root, "src") || exe != place.Program() {
				t.Errorf("recorded %s from %s", exe, source)
			}
			return nil
		}}
	for range 2 {
		if _, err := Run(t.Context(), options, nil); err != nil {
			t.Fatal(err)
		}
	}
	if builds != 1 {
		t.Errorf("built %d times for one source", builds)
	}
	t.Chdir(t.TempDir()) // no source here: the copy of the first install serves
	options.Source = ""
	if r, err := Run(t.Context(), options, nil); err != nil || r.Changed {
		t.Errorf("without a source in sight: %+v, %v", r, err)
	}
	options.Source = smallSource(t, "two")
	if r, err := Run(t.Context(), options, nil); err != nil || !r.Changed || builds != 2 {
		t.Errorf("another source: %+v, %d builds, %v", r, builds, err)
	}
	if copies, _ := os.ReadDir(filepath.Join(place.Root, "src")); len(copies) != 1 {
		t.Errorf("%d copies of sources are kept", len(copies))
	}
}

func TestFailedBuildIsDoneAgain(t *testing.T) {
	place, _ := testPlace(t)
	source := smallSource(t, "one")
	main := filepath.Join(source, "main.go")
	good, err := os.ReadFile(main)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(main, []byte("package main\n\nfunc main() { nothing() }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	options := Options{Place: place, Source: source}
	if _, err := Run(t.Context(), options, nil); err == nil || !strings.Contains(err.Error(), "undefined: nothing") {
		t.Fatalf("a source that does not build: %v", err)
	}
	if err := os.WriteFile(main, good, 0o644); err != nil {
		t.Fatal(err)
	}
	if r, err := Run(t.Context(), options, nil); err != nil || !r.Changed {
		t.Errorf("after the repair: %+v, %v", r, err)
	}
}

func TestPlaces(t *testing.T) {
	t.Setenv("JUPYTER_DATA_DIR", "/jupyter")
	t.Setenv("WARPBOOK_DATA_DIR", "/own")
	if p := UserPlace(); p.Kernels != "/jupyter/kernels" || p.Root != "/own" {
		t.Errorf("user: %+v", p)
	}
	t.Setenv("VIRTUAL_ENV", "/env")
	if p, err := SysPrefixPlace(t.Context()); err != nil || p.Kernels != "/env/share/jupyter/kernels" || p.Root != "/env/share/warpbook" {
		t.Errorf("sys-prefix: %+v, %v", p, err)
	}
}

func TestDiagnoseAnEmptyPlace(t *testing.T) {
	place, program := testPlace(t)
	found := Diagnose(t.Context(), place, "")
	if found.OK() {
		t.Error("nothing is installed, and nothing is missing")
	}
	for _, f := range found {
		if !f.OK && f.Remedy == "" {
			t.Errorf("%s is missing, and how to get it is not said", f.What)
		}
	}
	if _, err := Run(t.Context(), Options{Place: place, Program: program}, nil); err != nil {
		t.Fatal(err)
	}
	for _, f := range Diagnose(t.Context(), place, "") {
		if (f.What == "Kernelspec" || f.What == "Program") && !f.OK {
			t.Errorf("%+v after an install", f)
		}
	}
}

func TestLessonsOfTheLearnerStay(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "mine")
	for _, name := range []string{"04_a.ipynb", "04_a_solution.ipynb", "05_b.ipynb"} {
		if err := os.WriteFile(filepath.Join(from, name), []byte("new"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := CopyLessons(from, to); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(to, "04_a.ipynb")
	if err := os.WriteFile(mine, []byte("my work"), 0o644); err != nil {
		t.Fatal(err)
	}
	lessons, err := CopyLessons(from, to)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, l := range lessons {
		names = append(names, filepath.Base(l))
	}
	if want := []string{"04_a.ipynb", "05_b.ipynb", "04_a_solution.ipynb"}; !slices.Equal(names, want) {
		t.Errorf("lessons %q, want %q", names, want)
	}
	if got, err := os.ReadFile(mine); err != nil || string(got) != "my work" {
		t.Errorf("the learner's notebook is now %q (%v)", got, err)
	}
}

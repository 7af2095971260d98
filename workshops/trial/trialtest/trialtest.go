// Package trialtest is what the tests of GPU workshops share.
package trialtest

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/warpbook/warpbook/cuda"
	"github.com/warpbook/warpbook/cuda/device"
	"github.com/warpbook/warpbook/cuda/nvrtc"
	"github.com/warpbook/warpbook/workshops"
)

// Main runs a package's tests with the processes that devices and compiler need.
func Main(m *testing.M) {
	nvrtc.Child()
	device.Child(nil)
	code := m.Run()
	cuda.Close()
	os.Exit(code)
}

// Device is what the tests run on: the simulator, or what WARPBOOK_TEST_DEVICE says.
func Device() string {
	if name := os.Getenv("WARPBOOK_TEST_DEVICE"); name != "" {
		return name
	}
	return "sim"
}

// Context names the tests' device.
func Context(t testing.TB) context.Context { return workshops.WithDevice(t.Context(), Device()) }

var update = flag.Bool("update", false, "write the PTX that is kept beside the solutions")

// Shipped compares the PTX that is kept beside a solution with what NVRTC makes of it.
func Shipped(t *testing.T, w workshops.Workshop) {
	t.Helper()
	for _, f := range w.Solution {
		if filepath.Ext(f.Name) == ".cu" {
			Kept(t, "solution", f)
		}
	}
}

// Kept compares the PTX that is kept in a folder for a file of CUDA C++ with what NVRTC
// makes of it.
func Kept(t *testing.T, folder string, f workshops.File) {
	t.Helper()
	c, err := nvrtc.Find()
	if errors.Is(err, nvrtc.ErrNotFound) {
		t.Skip("NVRTC is not installed here: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	var o nvrtc.Options
	r, err := c.Compile(t.Context(), nvrtc.Source{Name: f.Name, Text: f.Text}, o)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, strings.TrimSuffix(f.Name, ".cu")+".ptx")
	if *update {
		if err := os.WriteFile(path, []byte(anywhere(r.Shipped(o))), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	hash, compiler, _, err := nvrtc.ParseShipped(string(kept))
	switch {
	case err != nil:
		t.Error(err)
	case hash != nvrtc.Hash(f.Text, o):
		t.Errorf("%s was made of another %s; run the test with -update", path, f.Name)
	case compiler != r.Compiler:
		t.Logf("%s was made by %s, and this is %s: only the hash of the source was compared", path, compiler, r.Compiler)
	case anywhere(string(kept)) != anywhere(r.Shipped(o)):
		t.Errorf("%s is not what %s makes of %s; run the test with -update", path, r.Compiler, f.Name)
	}
}

// folders are those in which NVRTC says that files lie: where it ran, in truth.
var folders = regexp.MustCompile(`(?m)^(\t\.file\t\d+ ")[^"]*/`)

// anywhere is PTX without the folder in which it was made.
func anywhere(ptx string) string { return folders.ReplaceAllString(ptx, "$1") }

// Solution runs a workshop's checks, and some of random shapes, on its reference
// solution: all must pass, and there must be so many.
func Solution(t *testing.T, w workshops.Workshop, fn any, checks int) {
	t.Helper()
	if len(w.Checks) != checks {
		t.Errorf("%d checks, want %d", len(w.Checks), checks)
	}
	w.Checks = append(w.Checks, w.More(6, 1)...)
	given, err := w.Match(fn)
	if err != nil {
		t.Fatal(err)
	}
	r := w.Run(Context(t), given, 0)
	if !r.Passed() {
		t.Errorf("%s", r)
	}
	for _, c := range r.Results {
		t.Logf("%8v %s", c.Elapsed.Round(1e5), c.Name)
	}
}

package runner_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/warpbook/warpbook/workshops"
	"github.com/warpbook/warpbook/workshops/attention"
	"github.com/warpbook/warpbook/workshops/backward"
	"github.com/warpbook/warpbook/workshops/gemm"
	"github.com/warpbook/warpbook/workshops/runner"
	"github.com/warpbook/warpbook/workshops/softmax"
	"github.com/warpbook/warpbook/workshops/split"
	"github.com/warpbook/warpbook/workshops/trial/trialtest"
)

func TestMain(m *testing.M) { trialtest.Main(m) }

// kernels runs with a learner's files of strided_softmax: the solution's, changed by pairs
// of old and new text.
func kernels(t *testing.T, o runner.Options, pairs ...string) result {
	t.Helper()
	o.Dir = t.TempDir()
	o.Target, o.Device, o.Workshops = softmax.ID, trialtest.Device(), []workshops.Workshop{softmax.Workshop()}
	for _, f := range softmax.Workshop().Solution {
		text := f.Text
		for i := 0; i < len(pairs); i += 2 {
			text = strings.Replace(text, pairs[i], pairs[i+1], 1)
		}
		path := filepath.Join(o.Dir, "exercises", f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return run(t, o, "")
}

func TestKernelFiles(t *testing.T) {
	kernels(t, runner.Options{}).want(t, runner.OK, "22 of 22 checks passed", "The learner's work", "strided_softmax.cu")
	kernels(t, runner.Options{More: 3, Seed: 7}).want(t, runner.OK, "25 of 25 checks passed", "more: ")
	kernels(t, runner.Options{Schedules: 2}).want(t, runner.OK, "22 of 22 checks passed")
}

func TestUnreadableKernels(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"a kernel that does not compile", "float sum = 0;", "float sum = nothing;", `strided_softmax.cu, line 24, column 15: error: identifier "nothing" is undefined`},
		{"Go that does not compile", "rows, columns :=", "rows, columns, more :=", "strided_softmax.go:31:"},
		{"a file that is not there", "//go:embed strided_softmax.cu", "//go:embed softmax.cu", "the exercise has no file softmax.cu to embed"},
		{"a file for a number", "var source string", "var source int", "a file can be embedded into a string or a []byte"},
	} {
		t.Run(c.name, func(t *testing.T) {
			kernels(t, runner.Options{}, c.old, c.new).want(t, runner.Failed, c.want, "The exercise did not load, so no check was run.")
		})
	}
}

// A kernel that hangs or is ended costs its check and no other.
func TestKernelHangsOrTraps(t *testing.T) {
	const store = "out[c] = from_float<T>(row[c] / sum);"
	start := time.Now()
	r := kernels(t, runner.Options{Limit: 3 * time.Second}, store, store+" while (columns == 8192 && *(volatile float*)row < 2) {}")
	r.want(t, runner.Failed, "! error    values 3x8192 f32", "did not return within 3s", "✓ passed   values 7x33 f32", "✓ passed   transpose: physical addressing")
	if d := time.Since(start); d > time.Minute {
		t.Errorf("it took %v", d)
	}
	kernels(t, runner.Options{}, store, store+" if (columns == 1) asm volatile(\"trap;\");").
		want(t, runner.Failed, "✗ failed   values 1x1 f32", "trap", "✓ passed   values 3x8192 bf16")
}

func TestGPUStarters(t *testing.T) {
	for _, w := range []workshops.Workshop{softmax.Workshop(), backward.Workshop(), gemm.Workshop(), split.Workshop(), attention.Workshop()} {
		t.Run(w.ID, func(t *testing.T) {
			o := runner.Options{Target: w.ID, Device: trialtest.Device(), Workshops: []workshops.Workshop{w}}
			run(t, o, "").want(t, runner.Unfinished, "not begun", "0 of ", "TODO: "+w.Functions[0].Name)
			for _, f := range w.Starter {
				same := slices.ContainsFunc(w.Solution, func(s workshops.File) bool { return s.Text == f.Text })
				if same || strings.Contains(f.Text, "/solution") {
					t.Errorf("the starter %s is the solution, or imports it", f.Name)
				}
			}
			o.Hint, o.Device = true, "gpu"
			run(t, o, "").want(t, runner.OK, "Hint for "+w.ID)
		})
	}
}

// A device that is not there is neither passed nor failed.
func TestUnavailableDevice(t *testing.T) {
	if _, err := os.Stat("/dev/nvidiactl"); err == nil {
		t.Skip("there is a GPU here")
	}
	o := runner.Options{Target: softmax.ID, Device: "gpu", Workshops: []workshops.Workshop{softmax.Workshop()}, Solution: true}
	run(t, o, "").want(t, runner.Unavailable, "not available", "warpbook install")
}

package driver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/warpbook/warpbook/cuda/device"
)

// names knows one tensor at 0x7faaee800000 and one source.
type names struct{}

func (names) Tensor(address uint64) string {
	if off := int64(address) - 0x7faaee800000; off >= 0 && off < 1024 {
		return position(device.Label{Name: "y", Type: "f32", Shape: []int{64}, Item: 4}, 256, off)
	}
	return ""
}

func (names) Line(kernel string, line int) (source, text string) {
	if strings.HasPrefix(kernel, "beyond") {
		return "test.cu", "y[i + n] = 1;"
	}
	return "", ""
}

// The reports are what compute-sanitizer of CUDA 13.0 wrote on an H200.
func TestReports(t *testing.T) {
	for _, c := range []struct {
		name, log string
		want      []string
	}{
		{"bounds", `========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at beyond(float *, int)+0xb0 in source.cu:2
=========     by thread (32,0,0) in block (0,0,0)
=========     Access to 0x7faaee800170 is out of bounds
=========     and is 113 bytes after the nearest allocation at 0x7faaee800000 of size 256 bytes
========= 
========= Invalid __global__ write of size 4 bytes
=========     at beyond(float *, int)+0xb0 in source.cu:2
=========     by thread (33,0,0) in block (0,0,0)
=========     Access to 0x7faaee800174 is out of bounds
=========     and is 117 bytes after the nearest allocation at 0x7faaee800000 of size 256 bytes
========= 
========= ERROR SUMMARY: 2 errors
`, []string{"Invalid __global__ write of size 4 bytes at test.cu, line 2, by thread (32,0,0) in block (0,0,0); " +
			"access to 0x7faaee800170 is out of bounds, element 92 of y (f32[64]), which has 64; 2 times in all\n    2 | y[i + n] = 1;"}},
		{"race", `========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at race(float *)+0xb0 in bad.cu:5
=========     and Read access at race(float *)+0xc0 in bad.cu:6 [256 hazards]
========= 
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
`, []string{"a race in shared memory between a write at bad.cu:5 in race(float *) and a read at bad.cu:6 in race(float *)"}},
		{"trap", `========= COMPUTE-SANITIZER
========= Trace/breakpoint trap
=========     at trap+0x10 in source.cu:4
=========     by thread (0,0,0) in block (0,0,0)
`, []string{"Trace/breakpoint trap at source.cu:4 in trap, by thread (0,0,0) in block (0,0,0)"}},
		{"nothing", "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(path, []byte(c.log), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv(device.SanitizerLog, path)
			r := OpenReports()
			got := r.Take(names{})
			if strings.Join(got, "\n--\n") != strings.Join(c.want, "\n--\n") {
				t.Errorf("got %q\nwant %q", got, c.want)
			}
			if again := r.Take(names{}); len(again) > 0 {
				t.Errorf("told twice: %q", again)
			}
		})
	}
}

func FuzzReports(f *testing.F) {
	f.Add("========= Invalid __global__ write of size 4 bytes\n=========     at k+0x1 in a.cu:1\n=========     Access to 0x10 is out of bounds\n")
	f.Add("========= Error: Race reported between Write access at k+0x1 in a.cu:1\n")
	f.Fuzz(func(t *testing.T, text string) { parseReports(text, names{}) })
}

package install

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The program for GPUs builds and links with the headers of CUDA 12 and of CUDA 13.
// `make` puts both into .venv.
func TestBuildGPU(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("GPUs are used on Linux only")
	}
	headers, err := filepath.Glob("../.venv/lib/python3*/site-packages/nvidia/*/include/cuda.h")
	if err != nil || len(headers) < 2 {
		t.Fatalf("the headers of CUDA 12 and 13 are wanted in .venv, and there are %v; `make .venv/ready` installs them", headers)
	}
	for _, h := range headers {
		t.Run(filepath.Base(filepath.Dir(filepath.Dir(h))), func(t *testing.T) {
			dir, err := filepath.Abs(filepath.Dir(h))
			if err != nil {
				t.Fatal(err)
			}
			exe := filepath.Join(t.TempDir(), GPUProgram)
			if err := BuildGPU(context.Background(), "..", exe, dir); err != nil {
				t.Fatal(err)
			}
			if FindDriver() == nil {
				return
			}
			out, err := exec.Command(exe).CombinedOutput()
			if err == nil || !strings.Contains(string(out), "libcuda.so.1") {
				t.Errorf("without a driver it should miss libcuda.so.1 and said %v: %s", err, out)
			}
		})
	}
}

func TestStubSource(t *testing.T) {
	got := string(stubSource([]byte("CUresult CUDAAPI cuInit(unsigned int Flags);\n#define cuMemFree cuMemFree_v2\n")))
	want := "int cuCtxCreate_v2(void) { return 100; }\nint cuInit(void) { return 100; }\nint cuMemFree(void) { return 100; }\nint cuMemFree_v2(void) { return 100; }\n"
	if got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestFindHeaders(t *testing.T) {
	for _, key := range []string{"CUDA_HOME", "CUDA_PATH", "PATH"} {
		t.Setenv(key, "")
	}
	if _, err := os.Stat("/usr/local/cuda/include/cuda.h"); err == nil {
		t.Skip("a CUDA toolkit is installed here, and found first")
	}
	env := t.TempDir()
	if _, err := FindHeaders(env); err == nil || !strings.Contains(err.Error(), "nvidia-cuda-runtime") {
		t.Errorf("without headers: %v", err)
	}
	dir := filepath.Join(env, "lib", "python3.12", "site-packages", "nvidia", "cu13", "include")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "cuda.h"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := FindHeaders(env); err != nil || got != dir {
		t.Errorf("got %s, %v; want %s", got, err, dir)
	}
}

package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/warpbook/warpbook/cuda/nvrtc"
)

// GPUProgram is the name of the program that serves GPUs, beside the notebook's.
const GPUProgram = "warpbook-gpu"

// ErrNoDriver is wrapped when no driver for NVIDIA's GPUs is loaded here.
var ErrNoDriver = errors.New("there is no NVIDIA driver here")

// FindDriver returns nil where the driver is loaded and can be opened.
func FindDriver() error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("%w: GPUs are used on Linux only", ErrNoDriver)
	}
	if _, err := os.Stat("/dev/nvidiactl"); err != nil {
		return ErrNoDriver
	}
	return nil
}

// FindHeaders finds a folder with cuda.h: of a CUDA toolkit, or of the wheel
// nvidia-cuda-runtime in one of the Python environments.
func FindHeaders(environments ...string) (string, error) {
	var places []string
	for _, key := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if home := os.Getenv(key); home != "" {
			places = append(places, filepath.Join(home, "include"))
		}
	}
	if nvcc, err := exec.LookPath("nvcc"); err == nil {
		places = append(places, filepath.Join(filepath.Dir(nvcc), "..", "include"))
	}
	places = append(places, "/usr/local/cuda/include")
	for _, env := range environments {
		for _, packages := range []string{"lib/python3*/site-packages", "."} {
			found, _ := filepath.Glob(filepath.Join(env, packages, "nvidia", "*", "include")) // the pattern is sound
			places = append(places, found...)
		}
	}
	for _, dir := range places {
		if _, err := os.Stat(filepath.Join(dir, "cuda.h")); err == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("cuda.h was not found: it comes with the CUDA toolkit, or with `pip install nvidia-cuda-runtime==13.0.96` in %s", strings.Join(environments, " or "))
}

// gpuProgram builds the program for GPUs beside the notebook's, where a driver is. It
// returns the program, or why there is none: kernels then run on the simulator.
func gpuProgram(ctx context.Context, o Options, program string, p Progress) (string, error) {
	exe := filepath.Join(filepath.Dir(program), GPUProgram)
	if err := FindDriver(); err != nil {
		return "", err
	}
	if o.Program != "" {
		if _, err := os.Stat(exe); err != nil {
			return "", fmt.Errorf("there is no %s beside %s, which was given with --program", GPUProgram, program)
		}
		return exe, nil
	}
	headers, err := FindHeaders(o.Place.Venv(), o.Place.Wheels())
	if err != nil {
		return "", err
	}
	s, err := o.Place.state()
	if err != nil {
		return "", err
	}
	from := s.Hash + " " + s.Build + " " + headers
	if _, err := os.Stat(exe); err == nil && s.GPU == from {
		return exe, nil
	}
	source, err := FindSource(ctx, o.Place, o.Source)
	if err != nil {
		return "", err
	}
	p.step("Building the program for GPUs")
	if err := BuildGPU(ctx, source, exe, headers); err != nil {
		return "", err
	}
	return exe, o.Place.remember(func(s *state) { s.GPU = from })
}

// Wheels is the folder for NVIDIA's compiler and headers where JupyterLab is not from
// the private environment, which holds them otherwise.
func (p Place) Wheels() string { return filepath.Join(p.Root, "nvrtc") }

// NeedCompiler installs NVIDIA's run-time compiler and headers with the pip of an
// environment, unless a compiler is found.
func NeedCompiler(ctx context.Context, place Place, python Python, p Progress) error {
	if _, err := nvrtc.Find(place.Venv(), place.Wheels()); err == nil || runtime.GOOS != "linux" {
		return nil
	}
	args := []string{"pip", "install", "--quiet", "--disable-pip-version-check", "--target", place.Wheels()}
	for line := range strings.Lines(string(requirements)) {
		if strings.HasPrefix(line, "nvidia-") {
			wheel, _, _ := strings.Cut(line, ";")
			args = append(args, strings.TrimSpace(wheel))
		}
	}
	p.step("Installing NVIDIA's run-time compiler (about 90 MB)")
	if err := output(python.Command(ctx, args...)); err != nil {
		return fmt.Errorf("NVIDIA's run-time compiler cannot be installed: %w; without it %%%%cuda cells do not compile, and pip needs to reach PyPI", err)
	}
	return nil
}

// BuildGPU builds the program for GPUs from the module in source, with the CUDA
// headers in a folder. It is linked against a stand-in for the driver's library that
// is made from the header, so it builds where no driver is.
func BuildGPU(ctx context.Context, source, exe, headers string) error {
	source, err := filepath.Abs(source)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "warpbook-gpu")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := buildStub(ctx, dir, headers); err != nil {
		return err
	}
	part := exe + ".part"
	if part, err = filepath.Abs(part); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags", "cuda", "-o", part, "./cuda/"+GPUProgram)
	cmd.Dir = source
	cmd.Env = append(os.Environ(), GPUEnvironment(source, headers, dir)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("the program for GPUs does not build with the headers in %s (%w): %s", headers, err, bytes.TrimSpace(out))
	}
	return os.Rename(part, exe)
}

// GPUEnvironment is what the go command needs to build with the tag cuda: stub is a
// folder with a libcuda.so to link.
func GPUEnvironment(source, headers, stub string) []string {
	return []string{"GOFLAGS=", "GOWORK=off", "CGO_ENABLED=1",
		fmt.Sprintf("CGO_CFLAGS=-O2 -I%s -I%s", filepath.Join(source, "cuda", "driver", "compat"), headers), "CGO_LDFLAGS=-L" + stub}
}

// buildStub makes a libcuda.so with all functions that the header declares; each says
// that there is no device.
func buildStub(ctx context.Context, dir, headers string) error {
	header, err := os.ReadFile(filepath.Join(headers, "cuda.h"))
	if err != nil {
		return fmt.Errorf("the CUDA headers cannot be read: %w", err)
	}
	c := filepath.Join(dir, "stub.c")
	if err := os.WriteFile(c, stubSource(header), 0o600); err != nil {
		return err
	}
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "cc"
	}
	cmd := exec.CommandContext(ctx, cc, "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o", filepath.Join(dir, "libcuda.so"), c)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("a stand-in for the driver's library cannot be built (%w): %s", err, bytes.TrimSpace(out))
	}
	return nil
}

// entry is a name of the driver's interface: functions begin with a small cu and a
// capital letter, types with a large CU.
var entry = regexp.MustCompile(`\bcu[A-Z]\w*`) // never changed

// stubSource is C for the functions that a header names, in any version of each.
func stubSource(header []byte) []byte {
	names := map[string]bool{"cuCtxCreate_v2": true} // which CUDA 13 has without declaring it
	for _, name := range entry.FindAll(header, -1) {
		names[string(name)] = true
	}
	sorted := make([]string, 0, len(names))
	for name := range names {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	var b bytes.Buffer
	const noDevice = 100 // CUDA_ERROR_NO_DEVICE
	for _, name := range sorted {
		fmt.Fprintf(&b, "int %s(void) { return %d; }\n", name, noDevice)
	}
	return b.Bytes()
}

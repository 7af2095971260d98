// Package nvrtc compiles CUDA C++ to PTX with NVIDIA's run-time compiler.
//
// NVRTC is a shared library that needs no GPU. It is found at run time and opened
// in a child process, one a compilation, so that an interrupt can end a
// compilation that does not end, and a crash costs nothing: a program that uses
// this package calls Child at the start of main. What was compiled once is kept on
// disk, by source, options and compiler.
//
// Every source sees the header warpbook.cuh, and the names of the toolkit's headers
// that lessons include lead to it, so no toolkit is needed.
package nvrtc

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

//go:embed warpbook.cuh
var header string

// HeaderName is the header that every source sees.
const HeaderName = "warpbook.cuh"

// headerNames are the headers of the toolkit that ours stands for.
var headerNames = []string{HeaderName, "cuda_fp16.h", "cuda_fp16.hpp", "cuda_bf16.h", "cuda_bf16.hpp", "math_constants.h",
	"stdint.h", "cstdint", "stddef.h", "cstddef", "cassert", "assert.h", "stdio.h", "cstdio", "math.h", "cmath", "float.h", "cfloat",
	"limits.h", "climits", "cuda_runtime.h", "cuda.h", "device_launch_parameters.h"}

// ErrNotFound is wrapped by Find's error when there is no NVRTC.
var ErrNotFound = errors.New("NVIDIA's compiler NVRTC is not installed")

// Compiler is an NVRTC that was found.
type Compiler struct {
	Library string // the shared library's path
	Version string // "13.0", once something was compiled
	Cache   string // the folder of compiled results; "" for the user's cache folder, "-" for none
}

// Source is CUDA C++ to compile.
type Source struct {
	Name string // as errors call it: "cell [3]" or "softmax.cu"
	Text string
}

// Options change how a source is compiled.
type Options struct {
	Arch      string   // "compute_80" when empty
	FastMath  bool     // --use_fast_math
	Defines   []string // NAME or NAME=VALUE
	Extra     []string // further NVRTC options
	Resources bool     // find out registers and memory, by compiling to machine code too
}

// Result is a compiled source.
type Result struct {
	PTX         string
	Kernels     []Signature
	Diagnostics []Diagnostic `json:"-"` // warnings
	Log         string       // NVRTC's own words
	Compiler    string       // "NVRTC 13.0"
	Arch        string
	Source      Source `json:"-"`
}

// Kernel finds a kernel's signature by the name in the source.
func (r *Result) Kernel(name string) (*Signature, error) {
	var known []string
	for i := range r.Kernels {
		k := &r.Kernels[i]
		if k.Name == name || k.Symbol == name {
			return k, nil
		}
		known = append(known, k.Name)
	}
	if len(known) == 0 {
		return nil, fmt.Errorf("%s has no __global__ function", r.Source.Name)
	}
	return nil, fmt.Errorf("%s has no kernel %q; it has %s", r.Source.Name, name, strings.Join(known, ", "))
}

// Find looks for NVRTC: what WARPBOOK_NVRTC names, the CUDA toolkit, the Python
// packages of the given environments and of the active one, the system's
// libraries. The error says how to get it.
func Find(environments ...string) (*Compiler, error) {
	if named := os.Getenv("WARPBOOK_NVRTC"); named != "" {
		if lib := libraryIn(named); lib != "" {
			return &Compiler{Library: lib}, nil
		}
		return nil, fmt.Errorf("%w where WARPBOOK_NVRTC says: there is no %s in %s", ErrNotFound, libraryPattern(), named)
	}
	for _, dir := range folders(environments) {
		if lib := libraryIn(dir); lib != "" {
			return &Compiler{Library: lib}, nil
		}
	}
	return nil, fmt.Errorf("%w: `warpbook lab` or `make lab` installs it, so does `pip install nvidia-cuda-nvrtc==13.0.88`; WARPBOOK_NVRTC may name its folder", ErrNotFound)
}

func libraryPattern() string {
	if runtime.GOOS == "windows" {
		return "nvrtc64_*_0.dll"
	}
	return "libnvrtc.so*"
}

// libraryIn finds the library in a folder, or is the file itself.
func libraryIn(path string) string {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return path
	}
	found, _ := filepath.Glob(filepath.Join(path, libraryPattern())) // the pattern is sound
	slices.SortFunc(found, func(a, b string) int {
		// The soname with the major version is the one that programs open.
		return len(filepath.Base(a)) - len(filepath.Base(b))
	})
	if len(found) == 0 {
		return ""
	}
	for _, f := range found {
		if strings.Count(filepath.Base(f), ".") == 2 {
			return f
		}
	}
	return found[0]
}

// folders lists where NVRTC may be, the best place first.
func folders(environments []string) (list []string) {
	for _, key := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if dir := os.Getenv(key); dir != "" {
			list = append(list, filepath.Join(dir, "lib64"), filepath.Join(dir, "bin"), filepath.Join(dir, "bin", "x64"))
		}
	}
	envs := slices.Clone(environments)
	if exe, err := os.Executable(); err == nil {
		dir := filepath.Dir(exe)
		for range 3 { // an installation's environment lies beside its program, a clone's in its root
			envs = append(envs, filepath.Join(dir, "venv"), filepath.Join(dir, ".venv"), filepath.Join(dir, "nvrtc"))
			dir = filepath.Dir(dir)
		}
	}
	if dir, err := os.Getwd(); err == nil {
		for range 6 { // a project's environment lies in its root
			envs = append(envs, filepath.Join(dir, ".venv"))
			dir = filepath.Dir(dir)
		}
	}
	for _, key := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if dir := os.Getenv(key); dir != "" {
			envs = append(envs, dir)
		}
	}
	for _, env := range envs {
		for _, packages := range []string{"lib/python3*/site-packages", "Lib/site-packages", "."} {
			for _, wheel := range []string{"nvidia/cu1[0-9]/lib", "nvidia/cu1[0-9]/bin", "nvidia/cuda_nvrtc/lib", "nvidia/cuda_nvrtc/bin"} {
				found, _ := filepath.Glob(filepath.Join(env, packages, wheel))
				list = append(list, found...)
			}
		}
		list = append(list, filepath.Join(env, "lib")) // conda
	}
	toolkits, _ := filepath.Glob("/usr/local/cuda*/lib64")
	slices.Reverse(toolkits)
	list = append(list, toolkits...)
	return append(list, "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/opt/cuda/lib64")
}

// Compile compiles a source. The error is a *CompileError when the source is at
// fault.
func (c *Compiler) Compile(ctx context.Context, src Source, o Options) (*Result, error) {
	req := request{Library: c.Library, Text: src.Text, Options: o.arguments(), Resources: o.Resources}
	key := c.key(req)
	if r := c.cached(key); r != nil {
		r.Source, r.Diagnostics = src, parseLog(r.Log, src)
		return r, nil
	}
	reply, err := run(ctx, req, src.Name)
	if err != nil {
		return nil, err
	}
	c.Version = reply.Version
	diagnostics := parseLog(reply.Log, src)
	if !reply.OK {
		return nil, &CompileError{Source: src, Diagnostics: diagnostics, Log: reply.Log}
	}
	r := &Result{PTX: reply.PTX, Diagnostics: diagnostics, Log: reply.Log, Compiler: "NVRTC " + reply.Version, Arch: o.arch(), Source: src}
	if r.Kernels, err = signatures(reply.PTX, src.Text); err != nil {
		return nil, fmt.Errorf("the PTX that NVRTC made of %s: %w", src.Name, err)
	}
	if len(reply.Cubin) > 0 {
		if err := resources(r.Kernels, reply.Cubin); err != nil {
			return nil, fmt.Errorf("the machine code that NVRTC made of %s: %w", src.Name, err)
		}
	}
	c.keep(key, r)
	return r, nil
}

func (o Options) arch() string {
	if o.Arch == "" {
		return "compute_80"
	}
	return strings.Replace(o.Arch, "sm_", "compute_", 1)
}

func (o Options) arguments() []string {
	args := []string{"--gpu-architecture=" + o.arch(), "-lineinfo", "-default-device", "--std=c++17", "--pre-include=" + HeaderName}
	if o.FastMath {
		args = append(args, "--use_fast_math")
	}
	for _, d := range o.Defines {
		args = append(args, "-D"+d)
	}
	return append(args, o.Extra...)
}

// childVariable tells a program that it is to compile and nothing else.
const childVariable = "WARPBOOK_NVRTC_CHILD"

// Child compiles one source and ends the program, when the program was started for
// that. Programs that use this package call it first in main.
func Child() {
	if os.Getenv(childVariable) == "" {
		return
	}
	var req request
	err := json.NewDecoder(os.Stdin).Decode(&req)
	var rep reply
	if err == nil {
		rep, err = compile(req)
	}
	if err != nil {
		rep = reply{Error: err.Error()}
	}
	if json.NewEncoder(os.Stdout).Encode(rep) != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// request and reply pass between a program and its child.
type request struct {
	Library   string
	Text      string
	Options   []string
	Resources bool
}

type reply struct {
	Error   string
	Version string
	OK      bool
	Log     string
	PTX     string
	Cubin   []byte
}

// run has a child carry out a request.
func run(ctx context.Context, req request, name string) (rep reply, err error) {
	exe, err := os.Executable()
	if err != nil {
		return rep, fmt.Errorf("start the compiler: %w", err)
	}
	in, err := json.Marshal(req)
	if err != nil {
		return rep, err
	}
	cmd := exec.CommandContext(ctx, exe)
	cmd.Env = append(os.Environ(), childVariable+"=1")
	cmd.Stdin = bytes.NewReader(in)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return rep, fmt.Errorf("the compilation of %s was stopped: %w", name, ctx.Err())
	case err != nil:
		return rep, fmt.Errorf("NVRTC ended while compiling %s (%w): %s", name, err, tail(errs.String()))
	}
	if err := json.Unmarshal(out.Bytes(), &rep); err != nil {
		return rep, fmt.Errorf("the compiler's answer cannot be read: %w; does the program %s call nvrtc.Child?", err, exe)
	}
	if rep.Error != "" {
		return rep, errors.New(rep.Error)
	}
	return rep, nil
}

func tail(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > 500 {
		s = "…" + s[len(s)-500:]
	}
	return s
}

package nvrtc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	Child()
	os.Exit(m.Run())
}

// compiler finds NVRTC, or skips by name: only `make test-python`'s environment and
// `make lab`'s have it.
func compiler(t testing.TB) *Compiler {
	t.Helper()
	c, err := Find()
	if err != nil {
		t.Skip("NVRTC is not installed here: ", err)
	}
	c.Cache = filepath.Join(t.TempDir(), "cache")
	return c
}

const saxpy = `
// __global__ void not_this(int);
template <typename T> __global__ void scale(T* x, T by, int n) { int i = threadIdx.x; if (i < n) x[i] *= by; }
template __global__ void scale<float>(float*, float, int);
__global__ void __launch_bounds__(256) saxpy(const float* __restrict__ x, float *y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
extern "C" __global__ void halves(const half* x, __nv_bfloat16* y, long long n) {
  __shared__ float tile[64];
  tile[threadIdx.x] = (float)x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = warpbook::warp_sum(tile[n]);
}
`

func TestCompile(t *testing.T) {
	c := compiler(t)
	r, err := c.Compile(context.Background(), Source{"cell [1]", saxpy}, Options{Resources: true})
	if err != nil {
		t.Fatal(err)
	}
	k, err := r.Kernel("saxpy")
	if err != nil {
		t.Fatal(err)
	}
	want := []Param{
		{Name: "x", Type: "const float*", Pointer: true, Element: "float", Const: true, Bytes: 8},
		{Name: "y", Type: "float*", Pointer: true, Element: "float", Bytes: 8},
		{Name: "a", Type: "float", Bytes: 4, Float: true},
		{Name: "n", Type: "int", Bytes: 4},
	}
	for i, p := range k.Params {
		if p != want[i] {
			t.Errorf("parameter %d is %+v, want %+v", i, p, want[i])
		}
	}
	if !k.Measured || k.Registers < 4 || k.Registers > 64 {
		t.Errorf("saxpy takes %d registers", k.Registers)
	}
	if k, err := r.Kernel("scale<float>"); err != nil || len(k.Params) != 3 || k.Params[1].Name != "by" || k.Params[0].Element != "float" {
		t.Errorf("the template's instance: %+v, %v", k, err)
	}
	if k, err := r.Kernel("halves"); err != nil || k.Shared != 256 || k.Params[0].Element != "half" || k.Params[1].Element != "bfloat16" || k.Params[2].Type != "long long" {
		t.Errorf("halves: %+v, %v", k, err)
	}
	if _, err := r.Kernel("sapxy"); err == nil || !strings.Contains(err.Error(), "saxpy") {
		t.Errorf("the error does not name the kernels: %v", err)
	}
	again, err := (&Compiler{Library: c.Library, Cache: c.Cache}).Compile(context.Background(), Source{"cell [2]", saxpy}, Options{Resources: true})
	if err != nil || again.PTX != r.PTX || again.Source.Name != "cell [2]" || len(again.Kernels) != 3 {
		t.Errorf("from the cache: %v", err)
	}
}

func TestErrors(t *testing.T) {
	c := compiler(t)
	for text, want := range map[string]string{
		"__global__ void f(int* x) {\n  x[0] = y;\n}\n": "cell [3], line 2, column 10: error: identifier \"y\" is undefined\n    2 |   x[0] = y;\n      |          ^",
		"__global__ void f( {\n":                        "cell [3], line 1",
		"#include <vector>\n":                           "could not open source file \"vector\"",
	} {
		_, err := c.Compile(context.Background(), Source{"cell [3]", text}, Options{})
		var e *CompileError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	r, err := c.Compile(context.Background(), Source{"w", "__global__ void f(int* x) {\n  int unused = 3;\n}\n"}, Options{})
	if err != nil || len(r.Diagnostics) != 1 || r.Diagnostics[0].Severity != "warning" || r.Diagnostics[0].Line != 2 {
		t.Errorf("a warning: %v, %v", err, r)
	}
}

// A compilation that does not end is stopped.
func TestInterrupt(t *testing.T) {
	c := compiler(t)
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	_, err := c.Compile(ctx, Source{"cell [1]", "template <int N> struct F { enum { v = F<N-1>::v + F<N-2>::v + F<(N*7)%91>::v }; };\n" +
		"constexpr long long slow(long long n) { long long s = 0; for (long long i = 0; i < n; i++) for (long long j = 0; j < n; j++) s += i ^ j; return s; }\n" +
		"__global__ void f(long long* x) { constexpr long long v = slow(100000000); x[0] = v; }\n"}, Options{})
	if err == nil {
		t.Error("it compiled")
	}
}

func TestFind(t *testing.T) {
	t.Setenv("WARPBOOK_NVRTC", t.TempDir())
	if _, err := Find(); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "WARPBOOK_NVRTC") {
		t.Errorf("an empty folder: %v", err)
	}
}

func TestScan(t *testing.T) {
	got := scan("#define K(n) __global__ void n(int a) {}\n/* __global__ void no(int); */ const char* s = \"__global__ void no2()\";\nnamespace a { __global__ static void __launch_bounds__(128, 2) f(float4 v, const unsigned long long *__restrict__ p = nullptr, void (*g)(int, int) = 0) {} }\n__global__ void none() {}")
	if len(got) != 2 || got[0].name != "f" || len(got[0].params) != 3 || got[0].params[1].Element != "unsigned long long" || got[0].params[1].Name != "p" || got[1].params != nil {
		t.Errorf("%+v", got)
	}
}

func FuzzScan(f *testing.F) {
	f.Add(saxpy)
	f.Add("__global__ void f(((")
	f.Fuzz(func(t *testing.T, text string) { scan(text) })
}

func FuzzLog(f *testing.F) {
	f.Add("source.cu(3): error: no\n  x = y;\n      ^\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range parseLog(text, Source{"c", "a\nb\n"}) {
			_ = d.String()
		}
	})
}

func BenchmarkCompile(b *testing.B) {
	c := compiler(b)
	c.Cache = "-"
	for b.Loop() {
		if _, err := c.Compile(context.Background(), Source{"c", saxpy}, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCached(b *testing.B) {
	c := compiler(b)
	for b.Loop() {
		if _, err := c.Compile(context.Background(), Source{"c", saxpy}, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

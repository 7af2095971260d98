package cuda_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/warpbook/warpbook/cuda"
)

const profiled = `extern "C" __global__ void transpose(const float* x, float* y, int n) {
  __shared__ float tile[32][32];
  tile[threadIdx.y][threadIdx.x] = x[threadIdx.y * n + threadIdx.x];
  __syncthreads();
  y[threadIdx.y * n + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
extern "C" __global__ void late(float* y, int* flag) {
  if (threadIdx.x == 0) { if (atomicAdd(flag, 1) == 0) y[0] = blockIdx.x; }
}
`

func profiledKernel(t *testing.T, name string) (*cuda.Device, *cuda.Kernel) {
	t.Helper()
	d, err := cuda.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	m, err := cuda.Compile(t.Context(), "transpose.cu", profiled)
	if err != nil {
		t.Fatal(err)
	}
	return d, cuda.Must(m.Kernel(name))
}

// A profile names the line whose shared memory is read along a bank.
func TestProfile(t *testing.T) {
	d, k := profiledKernel(t, "transpose")
	x, y := cuda.Must(d.Arange(cuda.F32, 1024)), cuda.Must(d.Empty(cuda.F32, 1024))
	p, err := d.Profile(func() error {
		return k.Launch(cuda.Config{Grid: cuda.D(1), Block: cuda.D(32, 32)}, x, y, 32)
	})
	if err != nil || len(p) != 1 {
		t.Fatal(p, err)
	}
	for _, want := range []string{"5 |   y[threadIdx.y * n + threadIdx.x] = tile[threadIdx.x][threadIdx.y];   // bank conflicts: 32.0 passes instead of 1", "H100/H200"} {
		if text := p.String(); !strings.Contains(text, want) {
			t.Errorf("got %s\nwant %s", text, want)
		}
	}
	if page, _ := p.MIMEBundle()["text/html"].(string); !strings.Contains(page, "bank conflicts: 32.0 passes") {
		t.Errorf("got %s", page)
	}
	if _, err := d.Profile(func() error { return nil }); err == nil {
		t.Error("a profile of nothing")
	}
	wrong := errors.New("wrong")
	if _, err := d.Profile(func() error { return wrong }); !errors.Is(err, wrong) {
		t.Errorf("got %v", err)
	}
}

// A result that hangs on the order of the blocks is found when several are tried.
func TestSchedules(t *testing.T) {
	d, k := profiledKernel(t, "late")
	run := func() error {
		y, flag := cuda.Must(d.Zeros(cuda.F32, 1)), cuda.Must(d.Zeros(cuda.I32, 1))
		return errors.Join(k.Launch(cuda.Config{Grid: cuda.D(8), Block: cuda.D(32)}, y, flag), d.Sync())
	}
	if err := run(); err != nil {
		t.Fatalf("one schedule: %v", err)
	}
	if err := d.SetOption("schedules", "8"); err != nil {
		t.Fatal(err)
	}
	if err := run(); err == nil || !strings.Contains(err.Error(), "y[0]") {
		t.Errorf("eight schedules: %v", err)
	}
	if err := d.SetOption("schedules", "1"); err != nil {
		t.Fatal(err)
	}
	if err := d.SetOption("schedules", "many"); err == nil {
		t.Error("many schedules")
	}
}

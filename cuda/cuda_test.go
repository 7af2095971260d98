package cuda_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/warpbook/warpbook/cuda"
	"github.com/warpbook/warpbook/cuda/device"
	"github.com/warpbook/warpbook/cuda/nvrtc"
)

func TestMain(m *testing.M) {
	nvrtc.Child()
	device.Child(nil)
	code := m.Run()
	cuda.Close()
	os.Exit(code)
}

func open(t testing.TB) *cuda.Device {
	t.Helper()
	d, err := cuda.Open(testDevice())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// testDevice is what the tests run on: the simulator, or what WARPBOOK_TEST_DEVICE says.
func testDevice() string { return cmp.Or(os.Getenv("WARPBOOK_TEST_DEVICE"), "sim") }

// simulated skips a test of what only the simulator says.
func simulated(t *testing.T) {
	if testDevice() != "sim" {
		t.Skip("only the simulator says this")
	}
}

const kernels = `
extern "C" __global__ void saxpy(const float* x, float* y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
extern "C" __global__ void beyond(float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i + n] = 1;
}
extern "C" __global__ void forever(int* stop) {
  while (*(volatile int*)stop == 0) {}
}
extern "C" __global__ void say(int n) { if (threadIdx.x == 0) printf("n is %d\n", n); }
`

func module(t testing.TB) *cuda.Module {
	t.Helper()
	m, err := cuda.Compile(context.Background(), "test.cu", kernels)
	if errors.Is(err, nvrtc.ErrNotFound) {
		t.Skip("NVRTC is not installed here: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestLaunch(t *testing.T) {
	d, m := open(t), module(t)
	x := cuda.Must(d.Arange(cuda.F32, 1000))
	y := cuda.Must(d.Full(cuda.F32, 1, 1000))
	k := cuda.Must(m.Kernel("saxpy"))
	c := cuda.Config{Grid: cuda.D(8), Block: cuda.D(128)}
	if err := k.Launch(c, x, y, 0.5, 1000); err != nil {
		t.Fatal(err)
	}
	got, err := y.Float64s()
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if v != 1+float64(i)/2 {
			t.Fatalf("y[%d] is %v", i, v)
		}
	}
	for _, bad := range []struct {
		args []any
		want string
	}{
		{[]any{x, y, 0.5}, "saxpy takes 4 arguments and got 3: saxpy(const float* x, float* y, float a, int n)"},
		{[]any{x, y, 0.5, "n"}, "saxpy: argument 4 (n) wants int, got string"},
		{[]any{x, y, 0.5, 1 << 40}, "saxpy: argument 4 (n) wants int, got int: 1099511627776 does not fit"},
		{[]any{x, y, 0.5, 2.5}, "saxpy: argument 4 (n) wants int, got float64"},
		{[]any{x, 3, 0.5, 1}, "saxpy: argument 2 (y) wants a tensor for float*, got int"},
		{[]any{x, cuda.Must(d.Zeros(cuda.F16, 4)), 0.5, 1}, "saxpy: argument 2 (y) wants a tensor for float*, got a tensor of f16"},
		{[]any{x, y, x, 1}, "saxpy: argument 3 (a) wants float, got a tensor of f32"},
	} {
		if err := k.Launch(c, bad.args...); err == nil || err.Error() != bad.want {
			t.Errorf("got %v, want %s", err, bad.want)
		}
	}
	if _, err := m.Kernel("saxpi"); err == nil || !strings.Contains(err.Error(), "saxpy") {
		t.Errorf("the error names no kernels: %v", err)
	}
}

func TestFinding(t *testing.T) {
	simulated(t)
	d, m := open(t), module(t)
	y := cuda.Must(d.Zeros(cuda.F32, 4, 16))
	if err := cuda.Must(m.Kernel("beyond")).Launch(cuda.Config{Grid: cuda.D(1), Block: cuda.D(64)}, y, 60); err != nil {
		t.Fatal(err)
	}
	err := d.Sync()
	for _, want := range []string{"out-of-bounds access at test.cu, line 8", "thread (4,0,0) of block (0,0,0) writes 4 bytes at y[64], behind its end (it has 256 bytes); 60 times in all", "    8 |   y[i + n] = 1;"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if err := d.Sync(); err != nil {
		t.Errorf("a finding is told twice: %v", err)
	}
	if v, err := y.At(3, 15); err != nil || v != 1 {
		t.Errorf("what the kernel wrote inside is %v, %v", v, err)
	}
}

func TestInterrupt(t *testing.T) {
	d, m := open(t), module(t)
	stop := cuda.Must(d.Zeros(cuda.I32, 1))
	if err := cuda.Must(m.Kernel("forever")).Launch(cuda.Config{Grid: cuda.D(1), Block: cuda.D(32)}, stop); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(200*time.Millisecond, cuda.Interrupt)
	if err := d.Sync(); !errors.Is(err, device.ErrInterrupted) {
		t.Fatalf("the wait ends with %v", err)
	}
	if _, err := stop.Float64s(); !errors.Is(err, device.ErrEnded) {
		t.Errorf("a tensor of the dead process: %v", err)
	}
	if err := stop.Release(); err != nil {
		t.Errorf("its release: %v", err)
	}
	TestLaunch(t)
}

func TestReleased(t *testing.T) {
	d := open(t)
	before := d.Memory()
	x := cuda.Must(d.Randn(cuda.F32, 1, 100))
	if d.Memory() != before+400 {
		t.Errorf("%d bytes", d.Memory()-before)
	}
	v := x.T()
	if err := x.Release(); err != nil || x.Release() != nil || d.Memory() != before {
		t.Errorf("release: %v, %d bytes", err, d.Memory()-before)
	}
	if _, err := v.Float64s(); !errors.Is(err, device.ErrReleased) {
		t.Errorf("a view of released memory: %v", err)
	}
}

func TestViews(t *testing.T) {
	d := open(t)
	x := cuda.Must(cuda.FromHost(d, []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 3, 4))
	for name, c := range map[string]struct {
		v    *cuda.Tensor
		want []float64
	}{
		"T":         {x.T(), []float64{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}},
		"slice":     {cuda.Must(cuda.Must(x.Slice(0, 1, 3, 1)).Slice(1, 1, 4, 2)), []float64{5, 7, 9, 11}},
		"row":       {cuda.Must(x.Row(2)), []float64{8, 9, 10, 11}},
		"broadcast": {cuda.Must(cuda.Must(x.Slice(0, 1, 2, 1)).Broadcast(2, 4)), []float64{4, 5, 6, 7, 4, 5, 6, 7}},
		"reshape":   {cuda.Must(x.Reshape(2, -1)), []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
		"split":     {cuda.Must(x.T().Reshape(2, 2, 3)), []float64{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}},
		"copy":      {cuda.Must(x.T().Contiguous()), []float64{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}},
	} {
		got, err := c.v.Float64s()
		if err != nil || len(got) != len(c.want) {
			t.Errorf("%s: %v, %v", name, got, err)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: %v, want %v", name, got, c.want)
				break
			}
		}
		if shares := c.v.SharesMemory(x); shares != (name != "copy") {
			t.Errorf("%s shares memory: %v", name, shares)
		}
	}
	if _, err := x.T().Reshape(12); err == nil {
		t.Error("a transposed matrix has no view as a row")
	}
}

func TestRandn(t *testing.T) {
	d := open(t)
	a := cuda.Must(cuda.Must(d.Randn(cuda.F64, 2026, 10000)).Float64s())
	b := cuda.Must(cuda.Must(d.Randn(cuda.F16, 2026, 10000)).Float64s())
	sum, square := 0.0, 0.0
	for i := range a {
		sum += a[i]
		square += a[i] * a[i]
		if math.Abs(a[i]-b[i]) > 1e-3*math.Abs(a[i])+1e-6 {
			t.Fatalf("element %d is %v as f64 and %v as f16", i, a[i], b[i])
		}
	}
	if mean := sum / 1e4; math.Abs(mean) > 0.05 || math.Abs(square/1e4-1) > 0.05 {
		t.Errorf("mean %v, mean square %v", mean, square/1e4)
	}
}

// A launch from compiled Go: what the caller waits for, and what it takes until the
// device has done it ("us/done").
func BenchmarkLaunch(b *testing.B) {
	d, m := open(b), module(b)
	k := cuda.Must(m.Kernel("saxpy"))
	x := cuda.Must(d.Zeros(cuda.F32, 128))
	c := cuda.Config{Grid: cuda.D(1), Block: cuda.D(32)}
	if err := d.Sync(); err != nil {
		b.Fatal(err)
	}
	start, n := time.Now(), 0
	for b.Loop() {
		if err := k.Launch(c, x, x, 1, 0); err != nil {
			b.Fatal(err)
		}
		n++
	}
	b.StopTimer()
	if err := d.Sync(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(time.Since(start).Microseconds())/float64(n), "us/done")
}

func TestShow(t *testing.T) {
	simulated(t)
	d := open(t)
	x := cuda.Must(d.Arange(cuda.F32, 100))
	if got, want := x.String(), "tensor f32[100] on sim\n[0, 1, 2, ..., 97, 98, 99]"; got != want {
		t.Errorf("got %s", got)
	}
	m := cuda.Must(d.From(cuda.F16, []float64{1, -0.5, math.Inf(-1), 4}, 2, 2))
	if got, want := m.T().String(), "tensor f16[2,2] on sim, strides [1,2]\n[[1, -Inf],\n [-0.5, 4]]"; got != want {
		t.Errorf("got %s", got)
	}
	for _, c := range []struct {
		t    *cuda.Tensor
		want string
	}{{x, "histogram"}, {m, "1 values are infinite"}, {cuda.Must(d.Zeros(cuda.I32, 0, 3)), "[]"}} {
		if page, _ := c.t.MIMEBundle()["text/html"].(string); !strings.Contains(page, c.want) {
			t.Errorf("%s shows no %s", c.t.String(), c.want)
		}
	}
}

func TestHost(t *testing.T) {
	h := cuda.Must(cuda.Host(cuda.F16, []float64{1, 2, 3, 4, 5, 6}, 2, 3))
	if !h.IsHost() || h.Device() != nil {
		t.Fatal("a host tensor that has a device")
	}
	x := cuda.Must(h.T().To(open(t)))
	back := cuda.Must(x.To(nil))
	if v := cuda.Must(back.Float64s()); x.IsHost() || fmt.Sprint(v) != "[1 4 2 5 3 6]" {
		t.Fatalf("a round trip gave %v", v)
	}
	k := cuda.Must(module(t).Kernel("saxpy"))
	y := cuda.Must(cuda.Host(cuda.F32, []float64{1}))
	if err := k.Launch(cuda.Config{Device: open(t)}, y, y, 1, 1); err == nil || !strings.Contains(err.Error(), "host's memory") {
		t.Fatalf("a launch on host memory: %v", err)
	}
	if err := h.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Bytes(); !errors.Is(err, device.ErrReleased) {
		t.Fatalf("a released host tensor: %v", err)
	}
}

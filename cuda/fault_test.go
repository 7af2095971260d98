package cuda_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/warpbook/warpbook/cuda"
	"github.com/warpbook/warpbook/cuda/device"
)

const mistakes = `
extern "C" __global__ void far(float* y) { y[1ull << 40] = 1; }
extern "C" __global__ void crooked(char* y) { *(int*)(y + 1) = 1; }
extern "C" __global__ void trap(float* y) { asm volatile("trap;"); }
extern "C" __global__ void forever(volatile int* stop) { while (*stop == 0) {} }
extern "C" __global__ void one(float* y) { y[threadIdx.x] = 1; }
`

// Whatever a kernel does, its launch is named, Go goes on, and the next launch works.
func TestMistakes(t *testing.T) {
	d := open(t)
	m, err := cuda.Compile(context.Background(), "mistakes.cu", mistakes)
	if err != nil {
		t.Fatal(err)
	}
	run := func(kernel string, y *cuda.Tensor) error {
		if err := cuda.Must(m.Kernel(kernel)).Launch(cuda.Config{Grid: cuda.D(1), Block: cuda.D(32)}, y); err != nil {
			return err
		}
		return d.Sync()
	}
	for _, c := range []struct {
		name string
		do   func(y *cuda.Tensor) error
		want string
	}{
		{"out of bounds", func(y *cuda.Tensor) error { return run("far", y) }, "far"},
		{"misaligned", func(*cuda.Tensor) error { return run("crooked", cuda.Must(d.Zeros(cuda.U8, 64))) }, "align"},
		{"trap", func(y *cuda.Tensor) error { return run("trap", y) }, "trap"},
		{"endless", func(*cuda.Tensor) error {
			stop := cuda.Must(d.Zeros(cuda.I32, 1))
			time.AfterFunc(200*time.Millisecond, cuda.Interrupt)
			return run("forever", stop)
		}, "interrupted"},
		{"too much memory", func(*cuda.Tensor) error {
			info, err := d.Info()
			if err != nil {
				return err
			}
			for range info.MemoryBytes>>32 + 1 {
				if _, err := d.Empty(cuda.F32, 1<<30); err != nil {
					cuda.Close() // or the memory stays until it is collected
					return err
				}
			}
			return nil
		}, "free"},
		{"refused", func(y *cuda.Tensor) error {
			if err := cuda.Must(m.Kernel("one")).Launch(cuda.Config{Grid: cuda.D(1), Block: cuda.D(2048)}, y); err != nil {
				return err
			}
			return d.Sync()
		}, "1024"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := cuda.Must(d.Full(cuda.F32, 7, 64))
			if err := d.Sync(); err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			err := c.do(before)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want it to say %q", err, c.want)
			}
			if v, err := before.At(0); v != 7 && !errors.Is(err, device.ErrEnded) {
				t.Errorf("a tensor from before is %v, %v", v, err)
			}
			y := cuda.Must(d.Zeros(cuda.F32, 32))
			if err := run("one", y); err != nil {
				t.Fatalf("the next launch: %v", err)
			}
			if v := cuda.Must(y.Float64s()); v[31] != 1 {
				t.Errorf("the next launch gave %v", v)
			}
			t.Logf("%v from the mistake to the next result: %v", time.Since(start).Round(time.Millisecond), err)
		})
	}
}

const unsafe = `
extern "C" __global__ void behind(float* y, int n) {
  y[n + threadIdx.x] = 1;
}
extern "C" __global__ void racing(float* y) {
  __shared__ float s[64];
  s[threadIdx.x] = threadIdx.x;
  y[threadIdx.x] = s[63 - threadIdx.x];
}
`

// On a GPU, compute-sanitizer names the line, the thread and the tensor.
func TestSanitizer(t *testing.T) {
	if testDevice() == "sim" {
		t.Skip("compute-sanitizer needs a GPU; set WARPBOOK_TEST_DEVICE=gpu")
	}
	m, err := cuda.Compile(context.Background(), "unsafe.cu", unsafe)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ tool, kernel, want string }{
		{"memcheck", "behind", "element 64 of y (f32[64]), which has 64"},
		{"memcheck", "behind", "    3 |   y[n + threadIdx.x] = 1;"},
		{"racecheck", "racing", "a race in shared memory between a write at unsafe.cu, line 7 and a read at unsafe.cu, line 8"},
	} {
		cuda.Close()
		t.Setenv(device.Sanitizer, c.tool)
		y := cuda.Must(open(t).Zeros(cuda.F32, 64))
		args := []any{y, 64}
		if c.kernel == "racing" {
			args = args[:1]
		}
		err := errors.Join(cuda.Must(m.Kernel(c.kernel)).Launch(cuda.Config{Grid: cuda.D(1), Block: cuda.D(64)}, args...), open(t).Sync())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %s: %v\nwant %s", c.tool, c.kernel, err, c.want)
		}
	}
	cuda.Close()
}

package cuda_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/warpbook/warpbook/cuda"
)

const queued = `
extern "C" __global__ void slow(float* y, int n, int rounds) {
  float v = 0;
  for (int i = 0; i < rounds; i++) v = v * 0.5f + 1;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = v > 0 ? y[i] + 1 : 0;
}
extern "C" __global__ void twice(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
extern "C" __global__ void sum(const float* x, float* y, int n) {
  extern __shared__ float whole[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) whole[i] = x[i];
  __syncthreads();
  if (threadIdx.x == 0) { float s = 0; for (int i = 0; i < n; i++) s += whole[i]; y[0] = s; }
}
extern "C" __global__ void beside(float* y, int n) { y[n] = 1; }
`

func queuedModule(t *testing.T) *cuda.Module {
	t.Helper()
	m, err := cuda.Compile(context.Background(), "queue.cu", queued)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Work on a stream comes after what it waits for, also when a tensor was made on
// another stream, and memory that is released while it is used stays until then.
func TestStreams(t *testing.T) {
	d, m := open(t), queuedModule(t)
	const n = 1 << 10
	slow, twice := cuda.Must(m.Kernel("slow")), cuda.Must(m.Kernel("twice"))
	s, u := cuda.Must(d.NewStream()), cuda.Must(d.NewStream())
	rounds := 1 << 18
	if testDevice() == "sim" {
		rounds = 16
	}
	grid := cuda.Config{Grid: cuda.D(n / 128), Block: cuda.D(128)}
	on := func(s *cuda.Stream) cuda.Config { c := grid; c.Stream = s; return c }
	for range 5 {
		x, y := cuda.Must(d.Zeros(cuda.F32, n)), cuda.Must(d.Empty(cuda.F32, n))
		for range 3 {
			if err := slow.Launch(on(s), x, n, rounds); err != nil {
				t.Fatal(err)
			}
		}
		done := cuda.Must(record(d, s))
		if err := errors.Join(u.Wait(done), twice.Launch(on(u), x, y, n), x.Release(), done.Release()); err != nil {
			t.Fatal(err)
		}
		for range 4 { // would take x's memory, were it free
			cuda.Must(d.Full(cuda.F32, 100, n))
		}
		if v := cuda.Must(y.Float64s()); v[0] != 6 || v[n-1] != 6 {
			t.Fatalf("got %v, %v", v[0], v[n-1])
		}
	}
	if err := errors.Join(s.Release(), u.Release()); err != nil {
		t.Fatal(err)
	}
}

func TestGraph(t *testing.T) {
	d, m := open(t), queuedModule(t)
	const n = 256
	x := cuda.Must(d.Zeros(cuda.F32, n))
	c := cuda.Config{Grid: cuda.D(1), Block: cuda.D(n)}
	g, err := d.Capture(func() error {
		scratch := cuda.Must(d.Empty(cuda.F32, n))
		err := errors.Join(
			cuda.Must(m.Kernel("slow")).Launch(c, x, n, 1),
			cuda.Must(m.Kernel("twice")).Launch(c, x, scratch, n),
			cuda.Must(m.Kernel("twice")).Launch(c, scratch, x, n))
		return errors.Join(err, scratch.Release())
	})
	if err != nil {
		t.Fatal(err)
	}
	if v := cuda.Must(x.At(0)); v != 0 {
		t.Errorf("a capture did its work: %v", v)
	}
	for range 3 {
		if err := g.Replay(); err != nil {
			t.Fatal(err)
		}
	}
	if v := cuda.Must(x.At(n - 1)); v != 84 { // ((0+1)*4+1)*4+1)*4
		t.Errorf("after three replays %v, want 84", v)
	}
	if err := g.Release(); err != nil {
		t.Fatal(err)
	}
	if err := d.Sync(); err != nil {
		t.Fatal(err)
	}
}

// What is measured may allocate its result and scratch memory.
func TestTime(t *testing.T) {
	d, m := open(t), queuedModule(t)
	const n = 1 << 12
	x := cuda.Must(d.Zeros(cuda.F32, n))
	twice := cuda.Must(m.Kernel("twice"))
	before := cuda.Must(d.Info())
	for _, spec := range []cuda.Timing{{Warmups: 2, Samples: 3, Calls: 4}, {Graph: true, Warmups: 2, Samples: 3, Calls: 4}, {Graph: true, Warmups: 1, Samples: 2, Calls: 2, Flush: 1 << 20}} {
		micros, err := d.Time(spec, func() error {
			scratch, err := d.Empty(cuda.F32, n)
			if err != nil {
				return err
			}
			y, err := d.Empty(cuda.F32, n)
			if err != nil {
				return err
			}
			c := cuda.Config{Grid: cuda.D(n / 128), Block: cuda.D(128)}
			return errors.Join(twice.Launch(c, x, scratch, n), twice.Launch(c, scratch, y, n), scratch.Release())
		})
		if err != nil || len(micros) != spec.Samples || micros[0] <= 0 {
			t.Errorf("%+v: %v, %v", spec, micros, err)
		}
		t.Logf("%s, graph %v: %.2f us a call", before.Name, spec.Graph, micros)
	}
}

func TestSharedMemory(t *testing.T) {
	d, m := open(t), queuedModule(t)
	info := cuda.Must(d.Info())
	const n = 20000 // 80 kB
	x, y := cuda.Must(d.Full(cuda.F32, 1, n)), cuda.Must(d.Zeros(cuda.F32, 1))
	sum := cuda.Must(m.Kernel("sum"))
	if err := sum.Launch(cuda.Config{Grid: cuda.D(1), Block: cuda.D(256), Shared: n * 4}, x, y, n); err != nil {
		t.Fatal(err)
	}
	if v := cuda.Must(y.At(0)); v != n {
		t.Errorf("got %v", v)
	}
	err := errors.Join(sum.Launch(cuda.Config{Grid: cuda.D(1), Block: cuda.D(256), Shared: info.SharedBytes + 1024}, x, y, n), d.Sync())
	if err == nil || !strings.Contains(err.Error(), "shared memory") {
		t.Errorf("more than there is: %v", err)
	}
}

func TestTrace(t *testing.T) {
	d, m := open(t), queuedModule(t)
	s := cuda.Must(d.NewStream())
	x := cuda.Must(d.Zeros(cuda.F32, 64))
	c := cuda.Config{Grid: cuda.D(2), Block: cuda.D(32)}
	var got []cuda.Action
	err := d.Use(s, func() (err error) {
		got, err = d.Trace(func() error {
			y := cuda.Must(d.Empty(cuda.F32, 64))
			if err := cuda.Must(m.Kernel("twice")).Launch(c, x, y, 64); err != nil {
				return err
			}
			return d.Use(nil, func() error { return cuda.Must(m.Kernel("slow")).Launch(c, x, 64, 1) })
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []cuda.Action{{Kind: "alloc", Current: true, Bytes: 256},
		{Kind: "launch", Current: true, Kernel: "twice", Grid: cuda.D(2), Block: cuda.D(32)},
		{Kind: "launch", Default: true, Kernel: "slow", Grid: cuda.D(2), Block: cuda.D(32)}}
	if len(got) != len(want) || got[0].Kind != want[0].Kind || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("got %+v", got)
	}
}

func TestGuard(t *testing.T) {
	d, m := open(t), queuedModule(t)
	write := func(at int) (values []float64, err error) {
		err = d.Guard(func() error {
			y := cuda.Must(d.Empty(cuda.F32, 8))
			if err := cuda.Must(m.Kernel("beside")).Launch(cuda.Config{Grid: cuda.D(1), Block: cuda.D(1)}, y, at); err != nil {
				return err
			}
			values, err = y.Float64s()
			return errors.Join(err, y.Release())
		})
		return values, err
	}
	if v, err := write(3); err != nil || v[3] != 1 || v[2] == v[2] {
		t.Errorf("inside: %v, %v; what was not written should be NaN", v, err)
	}
	if _, err := write(9); err == nil {
		t.Error("a write behind the end is not seen")
	}
	if v, err := write(3); err != nil || v[3] != 1 {
		t.Errorf("afterwards: %v, %v", v, err)
	}
}

func record(d *cuda.Device, s *cuda.Stream) (e *cuda.Event, err error) {
	err = d.Use(s, func() error {
		e, err = d.Record()
		return err
	})
	return e, err
}

func TestWriter(t *testing.T) {
	simulated(t)
	d, m := open(t), queuedModule(t)
	x := cuda.Must(d.Zeros(cuda.F32, 4, 32))
	got := d.Writer([]int{3, 5}, func() (*cuda.Tensor, error) {
		y := cuda.Must(d.Empty(cuda.F32, 4, 32))
		return y, cuda.Must(m.Kernel("twice")).Launch(cuda.Config{Grid: cuda.D(2), Block: cuda.D(64)}, x, y, 128)
	})
	want := "thread (37,0,0) of block (1,0,0) in twice, queue.cu, line 10\n   10 |   if (i < n) y[i] = 2 * x[i];"
	if !strings.HasPrefix(got, want) {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// Blocks of a cluster know each other, and read each other's shared memory.
func TestClusters(t *testing.T) {
	d := open(t)
	m, err := cuda.Compile(t.Context(), "cluster.cu", `extern "C" __global__ void neighbour(int* y) {
  __shared__ int mine;
  unsigned rank, size, there;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  if (threadIdx.x == 0) mine = blockIdx.x;
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  if (threadIdx.x == 0) {
    int value;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"((unsigned)__cvta_generic_to_shared(&mine)), "r"((rank + 1) % size));
    asm volatile("ld.shared::cluster.b32 %0, [%1];" : "=r"(value) : "r"(there) : "memory");
    y[blockIdx.x] = 100 * size + value;
  }
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}`, cuda.Arch("compute_90"))
	if err != nil {
		t.Fatal(err)
	}
	y := cuda.Must(d.Zeros(cuda.I32, 8))
	k := cuda.Must(m.Kernel("neighbour"))
	if err := k.Launch(cuda.Config{Grid: cuda.D(8), Block: cuda.D(32), Cluster: cuda.D(4)}, y); err != nil {
		t.Fatal(err)
	}
	got, err := y.Ints()
	if want := []int{401, 402, 403, 400, 405, 406, 407, 404}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}

// A tensor whose last use is a launch lives until the launch is queued, whenever the
// garbage collector comes.
func TestLaunchKeepsTensors(t *testing.T) {
	d, m := open(t), queuedModule(t)
	twice := cuda.Must(m.Kernel("twice"))
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	}()
	for range 200 {
		x, y := cuda.Must(d.Zeros(cuda.F32, 32)), cuda.Must(d.Empty(cuda.F32, 32))
		if err := twice.Launch(cuda.Config{Grid: cuda.D(1), Block: cuda.D(32)}, x, y, 32); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Sync(); err != nil {
		t.Fatal(err)
	}
}

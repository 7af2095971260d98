package device

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	Child(nil)
	signal.Ignore(syscall.SIGPIPE)
	os.Exit(m.Run())
}

const spin = `.version 9.0
.target sm_80
.address_size 64
.visible .entry spin() { L: bra L; }
.visible .entry trap() { trap; }
.visible .entry one(.param .u64 p) { .reg .b64 %rd<2>; .reg .b32 %r<2>; ld.param.u64 %rd1, [p]; mov.u32 %r1, 7; st.global.u32 [%rd1], %r1; ret; }
`

// testKind is what the tests run on: the simulator, or what WARPBOOK_TEST_DEVICE says.
func testKind() string { return cmp.Or(os.Getenv("WARPBOOK_TEST_DEVICE"), "sim") }

func client(t *testing.T) *Client {
	c := NewClient(testKind(), 0, nil)
	t.Cleanup(c.Close)
	return c
}

// one launches the kernel that writes 7, and reads it.
func one(t *testing.T, c *Client) {
	t.Helper()
	ctx := context.Background()
	h, err := c.Alloc(ctx, 0, 4, Label{Name: "x"})
	if err != nil {
		t.Fatal(err)
	}
	mod, kernels, err := c.Load(ctx, spin, Source{})
	if err != nil || len(kernels) != 3 {
		t.Fatal(kernels, err)
	}
	d := Dim{1, 1, 1}
	if err := c.Launch(0, mod, &Launch{Kernel: 2, Grid: d, Block: d, Params: make([]byte, 8)}, []Patch{{0, h.ID, 0}}); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 4)
	if err := c.Read(ctx, h, 0, b); err != nil || b[0] != 7 {
		t.Errorf("got %v, %v", b, err)
	}
}

func launch(t *testing.T, c *Client, kernel uint32) Handle {
	t.Helper()
	mod, _, err := c.Load(context.Background(), spin, Source{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Launch(0, mod, &Launch{Kernel: kernel, Grid: Dim{1, 1, 1}, Block: Dim{32, 1, 1}}, nil); err != nil {
		t.Fatal(err)
	}
	return mod
}

// Whatever becomes of the process, the next launch works.
func TestDeaths(t *testing.T) {
	for name, kill := range map[string]func(c *Client) error{
		"interrupted": func(c *Client) error {
			launch(t, c, 0)
			time.AfterFunc(50*time.Millisecond, c.Interrupt)
			err := c.Sync(context.Background(), 0, 0)
			if !errors.Is(err, ErrInterrupted) {
				t.Errorf("the wait ends with %v", err)
			}
			return err
		},
		"timed out": func(c *Client) error {
			launch(t, c, 0)
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			defer cancel()
			return c.Sync(ctx, 0, 0)
		},
		"killed": func(c *Client) error {
			launch(t, c, 0)
			_ = syscall.Kill(c.PID(), syscall.SIGKILL)
			return c.Sync(context.Background(), 0, 0)
		},
		"closed": func(c *Client) error {
			launch(t, c, 0)
			c.Close()
			return io.EOF
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := client(t)
			h, err := c.Alloc(context.Background(), 0, 16, Label{})
			if err != nil {
				t.Fatal(err)
			}
			if kill(c) == nil {
				t.Error("nothing is told")
			}
			if err := c.Read(context.Background(), h, 0, make([]byte, 16)); !errors.Is(err, ErrEnded) {
				t.Errorf("memory of the dead process: %v", err)
			}
			if err := c.Free(h); err != nil {
				t.Errorf("its release: %v", err)
			}
			one(t, c)
		})
	}
}

// A finding is told once, by the next answer, and the process lives.
func TestFinding(t *testing.T) {
	if testKind() != "sim" {
		t.Skip("a GPU does not survive a trap")
	}
	c := client(t)
	mod := launch(t, c, 1)
	err := c.Sync(context.Background(), mod.Gen, 0)
	var f *Fault
	if !errors.As(err, &f) || f.Kernel != "trap" || f.Geometry == "" || f.Fatal {
		t.Errorf("got %v", err)
	}
	if err := c.Sync(context.Background(), mod.Gen, 0); err != nil {
		t.Errorf("it is told twice: %v", err)
	}
	one(t, c)
}

func TestBulk(t *testing.T) {
	c := client(t)
	n := int64(sharedBytes + 12345)
	h, err := c.Alloc(context.Background(), 0, n, Label{})
	if err != nil {
		t.Fatal(err)
	}
	in := bytes.Repeat([]byte("0123456789abcdef-"), int(n/17)+1)[:n]
	if err := c.Write(context.Background(), h, 0, in); err != nil {
		t.Fatal(err)
	}
	out := make([]byte, n)
	if err := c.Read(context.Background(), h, 0, out); err != nil || !bytes.Equal(in, out) {
		t.Errorf("what comes back differs: %v", err)
	}
	if err := c.Write(context.Background(), h, n-4, make([]byte, 8)); err != nil {
		t.Fatal(err) // it is found later
	}
	if err := c.Sync(context.Background(), 0, 0); err == nil || !strings.Contains(err.Error(), "8 bytes at") {
		t.Errorf("a write behind the end: %v", err)
	}
}

func TestRestarts(t *testing.T) {
	c := client(t)
	one(t, c)
	count := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("this system does not show descriptors: ", err)
		}
		return len(list)
	}
	before, routines := count(), runtime.NumGoroutine()
	for range 20 {
		c.Close()
		one(t, c)
	}
	if after := count(); after > before+2 {
		t.Errorf("%d descriptors before, %d after 20 restarts", before, after)
	}
	if after := runtime.NumGoroutine(); after > routines+10 {
		t.Errorf("%d goroutines before, %d after", routines, after)
	}
}

func TestTime(t *testing.T) {
	c := client(t)
	mod, _, err := c.Load(context.Background(), spin, Source{})
	if err != nil {
		t.Fatal(err)
	}
	h, err := c.Alloc(context.Background(), 0, 4, Label{})
	if err != nil {
		t.Fatal(err)
	}
	tape, err := c.Tape(func() error {
		return c.Launch(0, mod, &Launch{Kernel: 2, Grid: Dim{1, 1, 1}, Block: Dim{1, 1, 1}, Params: make([]byte, 8)}, []Patch{{0, h.ID, 0}})
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, graph := range []bool{false, true} {
		samples, err := c.Time(context.Background(), mod.Gen, 0, tape, Timing{Graph: graph, Warmups: 2, Samples: 7, Calls: 20})
		if err != nil || len(samples) != 7 {
			t.Errorf("graph %v: %v, %v", graph, samples, err)
		}
	}
	if _, err := c.Tape(func() error { return c.Sync(context.Background(), mod.Gen, 0) }); err == nil {
		t.Error("a wait is recorded")
	}
}

// FuzzServe gives a child malformed commands: it answers or refuses, and never panics.
func FuzzServe(f *testing.F) {
	var e encoder
	e.u32(1)
	e.u32(0)
	e.u64(64)
	e.bytes([]byte("{}"))
	f.Add(frame(frame(nil, opAlloc, e), opSync, []byte{1, 0, 0, 0, 0, 0, 0, 0}))
	f.Add(frame(nil, opLaunch, make([]byte, 80)))
	f.Add(frame(nil, opTime, []byte{1, 0, 0, 0, 2, 0, 0, 0, '{', '}', 0, 0, 0, 0}))
	f.Fuzz(func(t *testing.T, in []byte) {
		err := serve(bytes.NewReader(in), io.Discard, make([]byte, 4096), func(print io.Writer) (Backend, error) { return OpenSimulator(print) })
		_ = err // some inputs are refused, as they should be
	})
}

// null is a device that does nothing.
type null struct{ Backend }

func (null) Launch(Stream, Launch) error { return nil }

func (null) Load(string, Source) (uint32, []KernelInfo, error) {
	return 1, []KernelInfo{{ID: 1, Name: "k"}}, nil
}

// What the server itself adds to a launch.
func BenchmarkServe(b *testing.B) {
	sim, err := OpenSimulator(io.Discard)
	if err != nil {
		b.Fatal(err)
	}
	var alloc, load, launch encoder
	alloc.u32(1)
	alloc.u32(0)
	alloc.u64(64)
	alloc.text("{}")
	load.u32(1)
	load.u32(1)
	load.text("")
	load.text("{}")
	for _, v := range []uint32{0, 1, 0, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0} {
		launch.u32(v)
	}
	launch.u8(0)
	launch.bytes(make([]byte, 24))
	launch.u32(2)
	for at := range uint32(2) {
		launch.u32(8 * at)
		launch.u32(1)
		launch.u64(0)
	}
	in := frame(frame(nil, opAlloc, alloc), opLoad, load)
	one := frame(nil, opLaunch, launch)
	for range b.N {
		in = append(in, one...)
	}
	b.ResetTimer()
	if err := serve(bytes.NewReader(in), io.Discard, nil, func(io.Writer) (Backend, error) { return null{sim}, nil }); err != nil {
		b.Fatal(err)
	}
}

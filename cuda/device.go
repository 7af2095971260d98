package cuda

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/warpbook/warpbook/cuda/device"
)

// Device is a GPU or the simulator.
type Device struct {
	name   string
	client *device.Client

	mu     sync.Mutex
	stream *Stream // the current one; nil for the default stream
	used   atomic.Int64
	busy   atomic.Bool // work was queued since the last wait
}

// Info describes a device.
type Info = device.Info

// registry holds the devices that are open: one process each, whoever asks. It is
// the package's only state, and what the session waits for at the end of a cell.
var registry struct {
	mu      sync.Mutex
	devices map[string]*Device
	print   io.Writer
	shipped map[string]shipped // by nvrtc.Hash
}

// Output sets where the output of kernels' printf goes; standard output when it is
// not called. It counts for devices that are opened later.
func Output(w io.Writer) {
	registry.mu.Lock()
	defer registry.mu.Unlock()
	registry.print = w
}

// Open returns a device: "gpu" or "gpu:1" for a GPU, "sim" for the simulator, and
// "auto" for a GPU where there is one and the simulator elsewhere. WARPBOOK_DEVICE
// says what "auto" is. Whoever opens the same device gets the same one.
func Open(name string) (*Device, error) {
	kind, index, err := resolve(name)
	if err != nil {
		return nil, err
	}
	registry.mu.Lock()
	defer registry.mu.Unlock()
	key := fmt.Sprintf("%s:%d", kind, index)
	if d := registry.devices[key]; d != nil {
		return d, nil
	}
	var print io.Writer = stdout{}
	if registry.print != nil {
		print = registry.print
	}
	d := &Device{name: kind, client: device.NewClient(kind, index, print)}
	if kind == "gpu" {
		d.name = key
	}
	if _, err := d.Info(); err != nil {
		return nil, fmt.Errorf("the device %s cannot be used: %w", name, err)
	}
	if registry.devices == nil {
		registry.devices = map[string]*Device{}
	}
	registry.devices[key] = d
	return d, nil
}

type stdout struct{}

func (stdout) Write(p []byte) (int, error) { return os.Stdout.Write(p) }

// resolve reads a device's name.
func resolve(name string) (kind string, index int, err error) {
	if name == "" || name == "auto" {
		name = os.Getenv(deviceVariable)
		if name == "" || name == "auto" {
			name = "sim"
			if gpuPresent() {
				name = "gpu"
			}
		}
	}
	kind, number, numbered := strings.Cut(name, ":")
	switch {
	case kind == "sim" && !numbered:
		return kind, 0, nil
	case kind == "gpu" && !numbered:
		return kind, 0, nil
	case kind == "gpu":
		index, err = strconv.Atoi(number)
		if err == nil && index >= 0 {
			return kind, index, nil
		}
	}
	return "", 0, fmt.Errorf("there is no device %q; devices are auto, gpu, gpu:1 and so on, and sim", name)
}

// gpuPresent reports whether a driver and our program for GPUs are here.
func gpuPresent() bool {
	if _, err := os.Stat("/dev/nvidiactl"); err != nil {
		return false
	}
	if os.Getenv("WARPBOOK_GPU_PROGRAM") != "" {
		return true
	}
	exe, err := os.Executable()
	if err != nil {
		return false
	}
	_, err = os.Stat(filepath.Join(filepath.Dir(exe), "warpbook-gpu"))
	return err == nil
}

// String is the device's name: "sim" or "gpu:0".
func (d *Device) String() string { return d.name }

// Info asks the device what it is.
func (d *Device) Info() (Info, error) {
	return d.client.Info(context.Background())
}

// Memory is the number of bytes that tensors of the device hold.
func (d *Device) Memory() int64 { return d.used.Load() }

// Sync waits until all work of the device is done, and returns what went wrong
// since the last wait.
func (d *Device) Sync() error { return d.SyncContext(context.Background()) }

// SyncContext is Sync with a context. When that ends first, the device is
// interrupted: its process ends, and tensors made before are gone.
func (d *Device) SyncContext(ctx context.Context) error {
	if !d.client.Running() {
		return nil
	}
	d.busy.Store(false)
	return d.client.Sync(ctx, 0, 0) // of all streams
}

// SetOption sets what only some devices have. The simulator has "seed", the order of
// blocks and warps; "schedules", under how many such orders it tries each launch; and
// "budget", the instructions after which a kernel counts as endless.
func (d *Device) SetOption(name, value string) error {
	return d.client.Option(context.Background(), name, value)
}

// Settle waits for the work of all devices and returns what went wrong. The session
// calls it at the end of a cell.
func Settle(ctx context.Context) error {
	var errs []error
	for _, d := range opened() {
		if d.busy.Swap(false) {
			errs = append(errs, d.SyncContext(ctx))
		}
	}
	return errors.Join(errs...)
}

// Interrupt ends the process of every device that somebody waits for. The session
// calls it when a cell is interrupted.
func Interrupt() {
	for _, d := range opened() {
		d.client.Interrupt()
	}
}

// Close ends the processes of all devices.
func Close() {
	for _, d := range opened() {
		d.client.Close()
	}
}

func opened() (list []*Device) {
	registry.mu.Lock()
	defer registry.mu.Unlock()
	for _, d := range registry.devices {
		list = append(list, d)
	}
	return list
}

// Must returns v, and panics with the error when there is one: for cells.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

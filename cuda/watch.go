package cuda

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/warpbook/warpbook/cuda/device"
)

// Action is something that a device was told to do: Kind is "launch", "alloc", "copy"
// or "fill".
type Action struct {
	Kind        string
	Default     bool   // on the default stream
	Current     bool   // on the stream that was current when Trace began
	Kernel      string // of a launch
	Grid, Block Dim
	Bytes       int64 // of the others
}

// Trace runs f and returns what the device was told to do meanwhile, in order. It
// waits for the device; what went wrong there is part of the error.
func (d *Device) Trace(f func() error) ([]Action, error) {
	stream := d.streamID()
	var list []device.Action
	err := d.watched("actions", &list, func() error { return errors.Join(f(), d.Sync()) })
	actions := make([]Action, len(list))
	for i, a := range list {
		actions[i] = Action{Kind: a.Kind, Default: a.Stream == 0, Current: a.Stream == stream, Kernel: a.Kernel, Grid: toDim(a.Grid), Block: toDim(a.Block), Bytes: a.Bytes}
	}
	return actions, err
}

func toDim(d device.Dim) Dim { return Dim{int(d.X), int(d.Y), int(d.Z)} }

// ErrGuard is wrapped when something wrote beside a tensor.
var ErrGuard = errors.New("memory beside a tensor was written")

// Guard runs f with every new tensor of the device between two stretches that nothing
// may write, and filled with NaN: what a kernel leaves out shows in the values. It waits
// for the device.
func (d *Device) Guard(f func() error) error {
	var broken []string
	err := d.watched("guards", &broken, f)
	if len(broken) > 0 {
		err = errors.Join(err, fmt.Errorf("%w: %s", ErrGuard, strings.Join(broken, "; ")))
	}
	return err
}

// watched runs f while the device gathers something, and reads what that was. Where the
// device process has ended meanwhile, there is nothing to read.
func (d *Device) watched(what string, into any, f func() error) error {
	if err := d.SetOption(what, "on"); err != nil {
		return err
	}
	err := f()
	raw, rerr := d.client.Report(context.Background(), what)
	if rerr != nil {
		return errors.Join(err, rerr)
	}
	if jerr := json.Unmarshal(raw, into); jerr != nil {
		err = errors.Join(err, fmt.Errorf("the device's %s cannot be read: %w", what, jerr))
	}
	return errors.Join(err, d.SetOption(what, "off"))
}

// Writer runs f, which makes a tensor, and says who wrote the element of it that index
// names: thread, block and line. Only the simulator knows; elsewhere it says "".
func (d *Device) Writer(index []int, f func() (*Tensor, error)) string {
	if d.name != "sim" {
		return ""
	}
	y, err := f() // to know where the element lies
	if err != nil || len(index) != len(y.shape) {
		return ""
	}
	at := y.offset
	for i, v := range index {
		at += v * y.strides[i]
	}
	if d.SetOption("writers", fmt.Sprint(at*y.dtype.Size())) != nil {
		return ""
	}
	defer d.SetOption("writers", "off")
	if y, err = f(); err != nil || y.Len() == 0 || d.Sync() != nil {
		return ""
	}
	words, err := d.client.Report(context.Background(), fmt.Sprintf("writer %d", y.buf.handle.ID))
	if err != nil {
		return ""
	}
	return string(words)
}

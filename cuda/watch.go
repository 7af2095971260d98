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
	if err := d.SetOption("actions", "on"); err != nil {
		return nil, err
	}
	err := errors.Join(f(), d.Sync())
	raw, rerr := d.client.Report(context.Background(), "actions")
	if rerr != nil { // the device process has ended
		return nil, errors.Join(err, rerr)
	}
	var list []device.Action
	if jerr := json.Unmarshal(raw, &list); jerr != nil {
		return nil, errors.Join(err, fmt.Errorf("what the device did cannot be read: %w", jerr))
	}
	actions := make([]Action, len(list))
	for i, a := range list {
		actions[i] = Action{Kind: a.Kind, Default: a.Stream == 0, Current: a.Stream == stream, Kernel: a.Kernel, Grid: toDim(a.Grid), Block: toDim(a.Block), Bytes: a.Bytes}
	}
	return actions, errors.Join(err, d.SetOption("actions", "off"))
}

func toDim(d device.Dim) Dim { return Dim{int(d.X), int(d.Y), int(d.Z)} }

// ErrGuard is wrapped when something wrote beside a tensor.
var ErrGuard = errors.New("memory beside a tensor was written")

// Guard runs f with every new tensor of the device between two
// stretches that nothing may write, and filled with NaN: what a kernel leaves out shows
// in the values. It waits for the device.
func (d *Device) Guard(f func() error) error {
	if err := d.SetOption("guards", "on"); err != nil {
		return err
	}
	err := f()
	raw, rerr := d.client.Report(context.Background(), "guards")
	if rerr != nil {
		return errors.Join(err, rerr)
	}
	var broken []string
	if jerr := json.Unmarshal(raw, &broken); jerr != nil {
		return errors.Join(err, fmt.Errorf("what the guards saw cannot be read: %w", jerr))
	}
	if len(broken) > 0 {
		err = errors.Join(err, fmt.Errorf("%w: %s", ErrGuard, strings.Join(broken, "; ")))
	}
	return errors.Join(err, d.SetOption("guards", "off"))
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

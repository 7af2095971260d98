// Package trial is what all checks of GPU workshops share.
//
// The model: a T is one check under way on a device. It draws inputs, calls the
// learner's function on them, and asserts of every call what every contract asks for:
// the output is fresh, contiguous and of the right shape, type and device; it holds no
// NaN that was not there before, since its memory is poisoned; nothing is written beside
// it; inputs stay as they are; all work goes to the current stream; and the simulator
// finds nothing wrong with what the kernels do. The check then compares values. Whatever
// does not hold ends the check, as FailNow ends a test.
package trial

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/warpbook/warpbook/cuda"
	"github.com/warpbook/warpbook/cuda/device"
	"github.com/warpbook/warpbook/workshops"
)

// Seed is that of every check's inputs.
const Seed = 2026

// T is a check under way.
type T struct {
	Dev *cuda.Device

	ctx     context.Context
	normal  func() float64
	inputs  []*Input
	outputs []*cuda.Tensor
}

// stop ends a check: its error is the result.
type stop struct{ err error }

// Check makes a check of an exercise of type E, which needs the functions that needs
// names, separated by spaces.
func Check[E any](name, needs string, run func(*T, E)) workshops.NamedCheck {
	return workshops.On(name, needs, func(ctx context.Context, e E) error {
		return Run(ctx, Seed, func(t *T) { run(t, e) })
	})
}

// Run runs a check on the context's device. When the context ends, so does the device
// process, and whatever waits for it.
func Run(ctx context.Context, seed uint64, run func(*T)) (err error) {
	dev, err := cuda.Open(workshops.DeviceOf(ctx))
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, cuda.Interrupt)()
	t := &T{Dev: dev, ctx: ctx, normal: cuda.Normal(seed)}
	defer t.release()
	defer func() {
		if r := recover(); r != nil {
			s, ok := r.(stop)
			if !ok {
				panic(r) // the exercise's
			}
			err = s.err
		}
	}()
	run(t)
	return nil
}

// release gives back what the check has made, whatever the device says.
func (t *T) release() {
	for _, x := range t.inputs {
		_ = x.base.Release()
	}
	for _, y := range t.outputs {
		_ = y.Release()
	}
}

// Fail ends the check with a failure.
func (t *T) Fail(f *workshops.Failure) { panic(stop{f}) }

// failf is Fail with a property that does not hold and what is instead.
func (t *T) failf(property, detail string, args ...any) {
	t.Fail(&workshops.Failure{Property: property, Detail: fmt.Sprintf(detail, args...)})
}

// must ends the check with an error that is not the learner's.
func (t *T) must(err error) {
	if err != nil {
		panic(stop{err})
	}
}

// Input is a tensor of a check.
type Input struct {
	*cuda.Tensor
	Name   string
	Values []float64 // in row-major order, as the tensor holds them

	base   *cuda.Tensor // all of its memory
	before []byte
}

// From makes an input of values, each rounded once to the type.
func (t *T) From(name string, d cuda.DType, values []float64, shape ...int) *Input {
	x, err := t.Dev.From(d, values, shape...)
	t.must(err)
	x.Name(name)
	before, err := x.Bytes()
	t.must(err)
	in := &Input{Tensor: x, Name: name, base: x, before: before, Values: make([]float64, len(values))}
	for i, v := range values {
		in.Values[i] = d.Round(v)
	}
	t.inputs = append(t.inputs, in)
	return in
}

// Normal makes an input of standard-normal numbers, the next of the check's seed.
func (t *T) Normal(name string, d cuda.DType, shape ...int) *Input {
	return t.From(name, d, t.Numbers(shape...), shape...)
}

// Numbers are the next standard-normal numbers of the check's seed.
func (t *T) Numbers(shape ...int) []float64 {
	n := 1
	for _, d := range shape {
		n *= d
	}
	values := make([]float64, n)
	for i := range values {
		values[i] = t.normal()
	}
	return values
}

// View makes an input that is a view of another one's memory.
func (t *T) View(in *Input, view func(*cuda.Tensor) (*cuda.Tensor, error)) *Input {
	v, err := view(in.Tensor)
	t.must(err)
	values, err := v.Float64s()
	t.must(err)
	return &Input{Tensor: v, Name: in.Name, Values: values, base: in.base}
}

// Want is what an output must be.
type Want struct {
	DType cuda.DType
	Shape []int
}

// Like wants what an input is.
func Like(x *Input) Want { return Want{x.DType(), x.Shape()} }

// Output is what a call gave.
type Output struct {
	*cuda.Tensor
	Values  []float64
	Actions []cuda.Action

	call func() (*cuda.Tensor, error)
}

// Call calls the learner's function and asserts what every contract asks for.
func (t *T) Call(name string, want Want, call func() (*cuda.Tensor, error)) *Output {
	out := &Output{call: call}
	err := t.Dev.Guard(func() error {
		var err error
		out.Actions, err = t.Dev.Trace(func() (err error) {
			out.Tensor, err = call()
			return err
		})
		return err
	})
	t.called(name, err)
	if out.Tensor == nil {
		t.failf(name+" returns a tensor", "it returned nil, and no error")
	}
	defer func() { t.outputs = append(t.outputs, out.Tensor) }()
	t.conforms(name, want, out)
	var rerr error
	out.Values, rerr = out.Float64s()
	t.called(name, rerr)
	t.unchanged()
	return out
}

// called ends the check when a call has failed.
func (t *T) called(name string, err error) {
	var fault *device.Fault
	switch {
	case err == nil:
	case t.ctx.Err() != nil, errors.Is(err, workshops.ErrTODO), errors.Is(err, device.ErrInterrupted):
		panic(stop{err})
	case errors.Is(err, cuda.ErrGuard):
		t.failf("kernels write the output only", "%v", err)
	case errors.As(err, &fault) && fault.Code == "kernel":
		t.failf("kernels access only what is theirs, in an order that is defined", "%v", fault)
	case errors.As(err, &fault):
		t.failf("kernels run to their end", "%v", fault)
	default:
		t.failf(name+" takes what its contract allows", "it returned the error: %v", err)
	}
}

// conforms asserts what an output is, apart from its values.
func (t *T) conforms(name string, want Want, out *Output) {
	y := out.Tensor
	switch {
	case y.Err() != nil:
		t.failf("the output can be used", "%v", y.Err())
	case y.IsHost() || y.Device() != t.Dev:
		t.failf("the output is on the inputs' device", "it is not on %v", t.Dev)
	case !slices.Equal(y.Shape(), want.Shape):
		t.Fail(&workshops.Failure{Property: "the output has the right shape", Expected: want.Shape, Actual: y.Shape()})
	case y.DType() != want.DType:
		t.Fail(&workshops.Failure{Property: "the output has the right element type", Expected: want.DType, Actual: y.DType()})
	case !y.IsContiguous():
		t.failf("the output is contiguous", "its strides are %v for the shape %v", y.Strides(), y.Shape())
	}
	if y.Len() == 0 {
		if n := out.Launches(); n > 0 {
			t.failf("an empty output launches nothing", "%d kernels were launched", n)
		}
		return
	}
	for _, x := range t.inputs {
		if y.SharesMemory(x.base) {
			t.failf("the output is fresh", "it shares memory with the input %s", x.Name)
		}
	}
	for _, before := range t.outputs {
		if y.SharesMemory(before) {
			t.failf("the output is fresh", "it shares memory with the output of an earlier call")
		}
	}
	for _, a := range out.Actions {
		if a.Kind == "launch" && !a.Current {
			t.failf("all work goes to the current stream", "%s was launched on another one", a.Kernel)
		}
	}
}

// Launches counts the kernels that the call has launched.
func (o *Output) Launches() (n int) {
	for _, a := range o.Actions {
		if a.Kind == "launch" {
			n++
		}
	}
	return n
}

// unchanged asserts that every input still holds its bytes.
func (t *T) unchanged() {
	for _, x := range t.inputs {
		after, err := x.base.Bytes()
		t.must(err)
		if bytes.Equal(after, x.before) {
			continue
		}
		size := x.DType().Size()
		at := 0
		for i := range after {
			if after[i] != x.before[i] {
				at = i / size
				break
			}
		}
		t.failf("inputs are not changed", "element %d of the memory of %s was written", at, x.Name)
	}
}

// Tolerance is how far a value may be from the right one: Abs + Rel*|right|.
type Tolerance struct{ Abs, Rel float64 }

// within says whether got is close enough; NaN never is, and infinities are when they
// are equal.
func (l Tolerance) within(got, want float64) bool {
	if got == want {
		return true
	}
	return math.Abs(got-want) <= l.Abs+l.Rel*math.Abs(want) // false for NaN and for one infinity
}

// Near asserts that the output's values are the right ones, rounded to its type.
func (t *T) Near(property string, out *Output, want []float64, within Tolerance) {
	for i, got := range out.Values {
		right := out.DType().Round(want[i])
		if within.within(got, right) {
			continue
		}
		index := unflatten(i, out.Shape())
		t.Fail(&workshops.Failure{Property: property, Index: index, Expected: right, Actual: got, Detail: t.wrote(index, out)})
	}
}

// wrote says who wrote a wrong element, where that is known.
func (t *T) wrote(index []int, out *Output) string {
	words := t.Dev.Writer(index, out.call)
	if words == "" {
		return ""
	}
	return "it was written by " + words
}

// unflatten makes a row-major position an index.
func unflatten(i int, shape []int) []int {
	index := make([]int, len(shape))
	for d := len(shape) - 1; d >= 0; d-- {
		index[d] = i % shape[d]
		i /= shape[d]
	}
	return index
}

// RowSums asserts that each row of the output sums to want.
func (t *T) RowSums(property string, out *Output, want, within float64) {
	columns := out.Shape()[len(out.Shape())-1]
	if columns == 0 {
		return
	}
	for row := range len(out.Values) / columns {
		sum := 0.0
		for _, v := range out.Values[row*columns : (row+1)*columns] {
			sum += v
		}
		if !(math.Abs(sum-want) <= within) {
			t.Fail(&workshops.Failure{Property: property, Index: []int{row}, Expected: want, Actual: sum})
		}
	}
}

// Rejects asserts that a call returns an error before it launches anything.
func (t *T) Rejects(what string, call func() (*cuda.Tensor, error)) {
	var given error
	actions, err := t.Dev.Trace(func() error {
		y, err := call()
		if y != nil {
			t.outputs = append(t.outputs, y)
		}
		given = err
		return nil
	})
	if errors.Is(given, workshops.ErrTODO) {
		panic(stop{given})
	}
	if given == nil {
		t.Fail(&workshops.Failure{Property: "the function rejects " + what, Expected: "an error that names the argument and the limit", Actual: "no error"})
	}
	t.called("the function", err)
	for _, a := range actions {
		if a.Kind == "launch" {
			t.failf("arguments are validated before anything is launched", "%s was launched with %s", a.Kernel, what)
		}
	}
}

// OnStream runs f with a stream of its own as the current one.
func (t *T) OnStream(f func()) {
	s, err := t.Dev.NewStream()
	t.must(err)
	defer s.Release()
	t.must(t.Dev.Use(s, func() error {
		f()
		return nil
	}))
}

package online

import (
	"reflect"
	"strings"
	"unsafe"
)

// State is the summary of values: the greatest, and the sum of exp(x - Max).
type State struct{ Max, Sum float64 }

// Exercise is the learner's work as the checks call it; a function that the
// learner did not give is nil. The chunk is a float64 because a learner's may
// be: Fractional says that it is, Signed that it can be negative.
type Exercise struct {
	Summarize        func(values []float64) State
	Merge            func(a, b State) State
	StreamingSoftmax func(values []float64, chunk float64) ([]float64, error)
	Fractional       bool
	Signed           bool
}

var (
	floats  = reflect.TypeFor[[]float64]()
	failure = reflect.TypeFor[error]()
)

func isFloats(t reflect.Type) bool { return t.Kind() == reflect.Slice && t.Elem() == floats.Elem() }

// isState accepts any struct of two float64 fields called max and sum.
func isState(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.NumField() == 2 && field(t, "max") >= 0 && field(t, "sum") >= 0
}

// field finds a float64 field by its name, in upper or lower case; yaegi calls
// the unexported field max Xmax.
func field(t reflect.Type, name string) int {
	for i := range t.NumField() {
		got := strings.ToLower(t.Field(i).Name)
		if (got == name || got == "x"+name) && t.Field(i).Type == floats.Elem() {
			return i
		}
	}
	return -1
}

func isSummarize(fn any) bool {
	t := reflect.TypeOf(fn)
	return !t.IsVariadic() && t.NumIn() == 1 && t.NumOut() == 1 && isFloats(t.In(0)) && isState(t.Out(0))
}

func isMerge(fn any) bool {
	t := reflect.TypeOf(fn)
	return t.NumIn() == 2 && t.NumOut() == 1 && isState(t.In(0)) && t.In(0) == t.In(1) && t.In(0) == t.Out(0)
}

func isStreamingSoftmax(fn any) bool {
	t := reflect.TypeOf(fn)
	return !t.IsVariadic() && t.NumIn() == 2 && t.NumOut() == 2 && isFloats(t.In(0)) && isChunk(t.In(1).Kind()) &&
		isFloats(t.Out(0)) && t.Out(1) == failure
}

func isChunk(k reflect.Kind) bool {
	return k >= reflect.Int && k <= reflect.Uint64 || k == reflect.Float32 || k == reflect.Float64
}

// bind makes an Exercise of the functions that Accepts has let through.
func bind(given map[string]any) (any, error) {
	var e Exercise
	if fn := given["Summarize"]; fn != nil {
		f := reflect.ValueOf(fn)
		e.Summarize = func(values []float64) State {
			return toState(f.Call([]reflect.Value{reflect.ValueOf(values).Convert(f.Type().In(0))})[0])
		}
	}
	if fn := given["Merge"]; fn != nil {
		f := reflect.ValueOf(fn)
		e.Merge = func(a, b State) State {
			t := f.Type().In(0)
			return toState(f.Call([]reflect.Value{fromState(a, t), fromState(b, t)})[0])
		}
	}
	if fn := given["StreamingSoftmax"]; fn != nil {
		f := reflect.ValueOf(fn)
		chunk := f.Type().In(1)
		e.Fractional = chunk.Kind() == reflect.Float32 || chunk.Kind() == reflect.Float64
		e.Signed = e.Fractional || chunk.Kind() <= reflect.Int64
		e.StreamingSoftmax = func(values []float64, n float64) ([]float64, error) {
			out := f.Call([]reflect.Value{reflect.ValueOf(values).Convert(f.Type().In(0)), reflect.ValueOf(n).Convert(chunk)})
			p, _ := out[0].Convert(floats).Interface().([]float64)
			err, _ := out[1].Interface().(error) // nil when there is none
			return p, err
		}
	}
	return e, nil
}

// toState reads a learner's state; reading unexported fields is allowed.
func toState(v reflect.Value) State {
	return State{v.Field(field(v.Type(), "max")).Float(), v.Field(field(v.Type(), "sum")).Float()}
}

// fromState makes a learner's state. Its fields may be unexported, and reflect
// sets those only through their address.
func fromState(s State, t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	set := func(name string, x float64) {
		f := v.Field(field(t, name))
		*(*float64)(unsafe.Pointer(f.UnsafeAddr())) = x
	}
	set("max", s.Max)
	set("sum", s.Sum)
	return v
}

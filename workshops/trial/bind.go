package trial

import (
	"fmt"
	"reflect"

	"github.com/warpbook/warpbook/cuda"
)

// Function is a learner's function: tensors and options, by name, to a tensor.
type Function func(tensors []*cuda.Tensor, options map[string]any) (*cuda.Tensor, error)

var (
	tensorType = reflect.TypeFor[*cuda.Tensor]()
	errorType  = reflect.TypeFor[error]()
)

// Accepts returns a function that tells whether one takes n tensors and a struct whose
// fields are the options, numbers or flags, and returns a tensor and an error. The
// learner may call the struct as they like.
func Accepts(n int, options ...string) func(fn any) bool {
	return func(fn any) bool {
		t := reflect.TypeOf(fn)
		if t == nil || t.Kind() != reflect.Func || t.IsVariadic() || t.NumIn() != n+1 || t.NumOut() != 2 || t.Out(0) != tensorType || t.Out(1) != errorType {
			return false
		}
		for i := range n {
			if t.In(i) != tensorType {
				return false
			}
		}
		o := t.In(n)
		if o.Kind() != reflect.Struct || o.NumField() != len(options) {
			return false
		}
		for _, name := range options {
			f, ok := o.FieldByName(name)
			if !ok || f.Type.Kind() != reflect.Bool && !f.Type.ConvertibleTo(reflect.TypeFor[int]()) {
				return false
			}
		}
		return true
	}
}

// Bind makes a Function of one that Accepts lets through.
func Bind(fn any) Function {
	f := reflect.ValueOf(fn)
	return func(tensors []*cuda.Tensor, options map[string]any) (*cuda.Tensor, error) {
		args := make([]reflect.Value, 0, len(tensors)+1)
		for _, t := range tensors {
			args = append(args, reflect.ValueOf(t))
		}
		o := reflect.New(f.Type().In(len(tensors))).Elem()
		for name, value := range options {
			field := o.FieldByName(name)
			if !field.IsValid() {
				return nil, fmt.Errorf("the options have no field %s", name)
			}
			field.Set(reflect.ValueOf(value).Convert(field.Type()))
		}
		out := f.Call(append(args, o))
		y, _ := out[0].Interface().(*cuda.Tensor) // nil when there is none
		err, _ := out[1].Interface().(error)
		return y, err
	}
}

package rt

import (
	"reflect"
	"unsafe"
)

// What follows is for lowered code, which does not use Go's own new, nil and
// string: a cell may give these names other meanings.

// Symbols are what a package tells the engine of itself.
type Symbols = map[string]reflect.Value

// Ref returns a pointer to a copy of v: unexported fields of a value are reached
// through a pointer, and not every value has an address.
func Ref[T any](v T) *T { return &v }

// New is new(T).
func New[T any]() *T { return new(T) }

// Zero puts a zero T into a slot that is empty yet: a function may use a
// variable before the statement that defines it has run.
func Zero[T any](slot int) {
	if s := Slot(slot); *s == nil {
		*s = unsafe.Pointer(new(T))
	}
}

package engine

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"github.com/warpbook/warpbook/kernel/engine/symbols"
	"github.com/warpbook/warpbook/kernel/rt"
)

// predeclared are the types of the universe, and unsafe.Pointer.
func predeclared(name string) (reflect.Type, bool) {
	t, ok := map[string]reflect.Type{
		"bool": reflect.TypeFor[bool](), "string": reflect.TypeFor[string](),
		"int": reflect.TypeFor[int](), "int8": reflect.TypeFor[int8](), "int16": reflect.TypeFor[int16](),
		"int32": reflect.TypeFor[int32](), "int64": reflect.TypeFor[int64](), "rune": reflect.TypeFor[rune](),
		"uint": reflect.TypeFor[uint](), "uint8": reflect.TypeFor[uint8](), "uint16": reflect.TypeFor[uint16](),
		"uint32": reflect.TypeFor[uint32](), "uint64": reflect.TypeFor[uint64](), "byte": reflect.TypeFor[byte](),
		"uintptr": reflect.TypeFor[uintptr](),
		"float32": reflect.TypeFor[float32](), "float64": reflect.TypeFor[float64](),
		"complex64": reflect.TypeFor[complex64](), "complex128": reflect.TypeFor[complex128](),
		"error": reflect.TypeFor[error](), "any": reflect.TypeFor[any](), "interface{}": reflect.TypeFor[any](),
		"unsafe.Pointer": reflect.TypeFor[unsafe.Pointer](),
	}[name]
	return t, ok
}

// reflect finds or builds the type.
func (t *Type) reflect() (reflect.Type, error) {
	switch t.Kind {
	case "named":
		return namedType(t.Path, t.Name)
	case "func":
		in, err := reflectAll(t.Params)
		if err != nil {
			return nil, err
		}
		out, err := reflectAll(t.Result)
		if err != nil {
			return nil, err
		}
		if t.Dots && (len(in) == 0 || in[len(in)-1].Kind() != reflect.Slice) {
			return nil, errors.New("a variadic function's last parameter must be a slice")
		}
		return reflect.FuncOf(in, out, t.Dots), nil
	}
	if t.Elem == nil {
		return nil, fmt.Errorf("a type of kind %q needs an element", t.Kind)
	}
	elem, err := t.Elem.reflect()
	if err != nil {
		return nil, err
	}
	switch t.Kind {
	case "pointer":
		return reflect.PointerTo(elem), nil
	case "slice":
		return reflect.SliceOf(elem), nil
	case "array":
		if t.Len < 0 {
			return nil, fmt.Errorf("an array of length %d", t.Len)
		}
		return reflect.ArrayOf(int(t.Len), elem), nil
	case "chan":
		return reflect.ChanOf(reflect.ChanDir(t.Dir), elem), nil
	case "map":
		if t.Key == nil {
			return nil, errors.New("a map type needs a key")
		}
		key, err := t.Key.reflect()
		if err != nil {
			return nil, err
		}
		if !key.Comparable() {
			return nil, fmt.Errorf("%v is no map key", key)
		}
		return reflect.MapOf(key, elem), nil
	}
	return nil, fmt.Errorf("types of kind %q cannot be built at run time", t.Kind)
}

func reflectAll(list []Type) ([]reflect.Type, error) {
	var out []reflect.Type
	for i := range list {
		t, err := list[i].reflect()
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// namedType looks a type up among the predeclared ones, the plugins' and the
// interpreter's symbols.
func namedType(path, name string) (reflect.Type, error) {
	if path == "" {
		if t, ok := predeclared(name); ok {
			return t, nil
		}
		return nil, fmt.Errorf("there is no type %s", name)
	}
	var v reflect.Value
	if strings.HasPrefix(path, "wb/") {
		if pkg, ok := rt.Lookup(path); ok {
			v = pkg.Symbols[name]
		}
	} else {
		v, _ = symbols.Lookup(path, name)
	}
	if !v.IsValid() || v.Kind() != reflect.Pointer || !v.IsNil() {
		return nil, fmt.Errorf("the type %s.%s is not known at run time", path, name)
	}
	return v.Type().Elem(), nil
}

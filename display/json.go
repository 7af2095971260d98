package display

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
)

// marshal is json.Marshal for values from cells: NaN and infinities become
// null, and a MarshalJSON that panics is an error.
func marshal(v any) (text json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			text, err = nil, fmt.Errorf("its JSON methods panicked: %v; correct MarshalJSON", p)
		}
	}()
	text, err = json.Marshal(v)
	var unsupported *json.UnsupportedValueError
	if errors.As(err, &unsupported) && isNonFinite(unsupported.Value) {
		var plain any
		if plain, err = withNulls(reflect.ValueOf(v), 0); err == nil {
			text, err = json.Marshal(plain)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("a value of type %T cannot be JSON (%w); give numbers, strings, slices, maps or structs of them", v, err)
	}
	return text, nil
}

func isNonFinite(v reflect.Value) bool {
	return v.CanFloat() && (math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0))
}

// withNulls copies v into maps and slices in which NaN and infinities are nil.
func withNulls(v reflect.Value, depth int) (any, error) {
	if depth > 1000 {
		return nil, errors.New("it contains itself")
	}
	if !v.IsValid() {
		return nil, nil
	}
	if _, ok := v.Interface().(json.Marshaler); ok {
		return marshal(v.Interface())
	}
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		if isNonFinite(v) {
			return nil, nil
		}
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil, nil
		}
		return withNulls(v.Elem(), depth+1)
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && (v.IsNil() || v.Type().Elem().Kind() == reflect.Uint8) {
			break
		}
		list := make([]any, v.Len())
		for i := range list {
			item, err := withNulls(v.Index(i), depth+1)
			if err != nil {
				return nil, err
			}
			list[i] = item
		}
		return list, nil
	case reflect.Map:
		return mapWithNulls(v, depth)
	case reflect.Struct:
		return structWithNulls(v, depth)
	}
	return v.Interface(), nil
}

// mapWithNulls keeps the type of the keys, so that encoding/json spells them.
func mapWithNulls(v reflect.Value, depth int) (any, error) {
	if v.IsNil() {
		return nil, nil
	}
	out := reflect.MakeMap(reflect.MapOf(v.Type().Key(), reflect.TypeFor[any]()))
	for it := v.MapRange(); it.Next(); {
		item, err := withNulls(it.Value(), depth+1)
		if err != nil {
			return nil, err
		}
		slot := reflect.New(reflect.TypeFor[any]()).Elem()
		if item != nil {
			slot.Set(reflect.ValueOf(item))
		}
		out.SetMapIndex(it.Key(), slot)
	}
	return out.Interface(), nil
}

// structWithNulls follows the names and the omitempty of json tags.
func structWithNulls(v reflect.Value, depth int) (any, error) {
	out := map[string]any{}
	for _, f := range reflect.VisibleFields(v.Type()) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" || f.Anonymous && name == "" {
			continue
		}
		field, err := v.FieldByIndexErr(f.Index)
		if err != nil || strings.Contains(options, "omit") && field.IsZero() {
			continue // promoted through a nil pointer, or left out on purpose
		}
		if name == "" {
			name = f.Name
		}
		item, err := withNulls(field, depth+1)
		if err != nil {
			return nil, err
		}
		out[name] = item
	}
	return out, nil
}

func indentJSON(text json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, text, "", "  ") != nil {
		return cut(string(text))
	}
	return cut(b.String())
}

package display

import (
	"fmt"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of text/plain: what is longer is cut, with a note.
const (
	maxElements = 10_000
	maxText     = 1 << 20
	maxPointers = 8 // pointers inside pointers that are followed
	maxDepth    = 100
)

// plain is the text of a value, as fmt's %+v has it, with these differences:
// text at the top is quoted, pointers are followed, functions and channels show
// their type instead of an address, and long values are cut. So the same value
// always gives the same text.
func plain(v any) (text string) {
	defer func() { // a map that changes meanwhile, a Formatter that panics
		if p := recover(); p != nil {
			text = fmt.Sprintf("(showing a %T panicked: %v)", v, p)
		}
	}()
	r := reflect.ValueOf(v)
	switch {
	case !r.IsValid():
		return "nil"
	case hasText(v):
		return cut(fmt.Sprintf("%+v", v))
	case r.Kind() == reflect.Pointer && r.IsNil():
		return "(" + r.Type().String() + ")(nil)"
	case r.Kind() == reflect.String:
		return quote(r.String())
	case r.Type() == reflect.TypeFor[[]byte]():
		return plainBytes(r.Bytes())
	}
	p := printer{home: home(r.Type())}
	p.value(r, 0, 0)
	return strings.ToValidUTF8(p.String(), "\uFFFD")
}

// hasText reports whether fmt asks the value for its text.
func hasText(v any) bool {
	switch v.(type) {
	case error, fmt.Stringer, fmt.Formatter:
		return true
	}
	return false
}

func cut(s string) string {
	if len(s) <= maxText {
		return s
	}
	return fmt.Sprintf("%s…\n(cut: %d of %d bytes are shown)", strings.ToValidUTF8(s[:maxText], ""), maxText, len(s))
}

func quote(s string) string {
	if len(s) <= maxText {
		return strconv.Quote(s)
	}
	return fmt.Sprintf("%s…\n(cut: %d of %d bytes are shown)", strconv.Quote(strings.ToValidUTF8(s[:maxText], "")), maxText, len(s))
}

// plainBytes shows bytes as text where they are text.
func plainBytes(b []byte) string {
	if len(b) <= maxElements && utf8.Valid(b) && len(b) > 0 {
		if q := strconv.Quote(string(b)); !strings.Contains(q, `\x`) && !strings.Contains(q, `\u`) {
			return "[]byte(" + q + ")"
		}
	}
	p := printer{}
	p.value(reflect.ValueOf(b), 0, 0)
	return p.String()
}

// home is the package whose unexported pointers are followed.
func home(t reflect.Type) string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t.PkgPath()
}

// printer writes a value until a limit is reached.
type printer struct {
	strings.Builder
	elements int
	home     string
	full     bool
}

// more counts an element and says whether it is still to be written.
func (p *printer) more() bool {
	if p.full {
		return false
	}
	p.elements++
	if p.elements > maxElements || p.Len() > maxText {
		p.full = true
		p.WriteString("…")
		defer p.note()
	}
	return !p.full
}

func (p *printer) note() {
	if p.elements > maxElements {
		fmt.Fprintf(p, "\n(cut after %d elements; show a part of the value to see the rest)", maxElements)
		return
	}
	fmt.Fprintf(p, "\n(cut after %d bytes; show a part of the value to see the rest)", maxText)
}

// put writes what belongs to an element that has been written.
func (p *printer) put(s string) {
	if p.full {
		return
	}
	if rest := maxText - p.Len(); len(s) > rest {
		p.WriteString(strings.ToValidUTF8(s[:max(rest, 0)], "") + "…")
		p.full = true
		p.note()
		return
	}
	p.WriteString(s)
}

func (p *printer) value(v reflect.Value, depth, pointers int) {
	if depth > maxDepth {
		p.put("…")
		return
	}
	if depth > 0 && v.IsValid() && v.CanInterface() && v.Kind() != reflect.Interface && hasText(v.Interface()) {
		p.put(fmt.Sprintf("%+v", v.Interface()))
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			p.put("<nil>")
			return
		}
		p.value(v.Elem(), depth+1, pointers)
	case reflect.Pointer:
		p.pointer(v, depth, pointers)
	case reflect.Struct:
		p.structure(v, depth, pointers)
	case reflect.Map:
		p.table(v, depth, pointers)
	case reflect.Slice, reflect.Array:
		p.list(v, depth, pointers)
	case reflect.Func, reflect.Chan:
		if v.IsNil() {
			p.put("<nil>")
			return
		}
		p.put(v.Type().String())
	case reflect.String:
		p.put(v.String())
	default:
		p.put(fmt.Sprintf("%+v", v))
	}
}

func (p *printer) pointer(v reflect.Value, depth, pointers int) {
	foreign := !v.CanInterface() && v.Type().Elem().PkgPath() != p.home
	switch {
	case v.IsNil():
		p.put("<nil>")
	case foreign || pointers >= maxPointers:
		p.put(v.Type().String())
	default:
		p.put("&")
		p.value(v.Elem(), depth+1, pointers+1)
	}
}

func (p *printer) structure(v reflect.Value, depth, pointers int) {
	p.put("{")
	for i := range v.NumField() {
		if !p.more() {
			return
		}
		if i > 0 {
			p.put(" ")
		}
		p.put(v.Type().Field(i).Name + ":")
		p.value(v.Field(i), depth+1, pointers)
	}
	p.put("}")
}

func (p *printer) list(v reflect.Value, depth, pointers int) {
	p.put("[")
	for i := range v.Len() {
		if !p.more() {
			return
		}
		if i > 0 {
			p.put(" ")
		}
		p.value(v.Index(i), depth+1, pointers)
	}
	p.put("]")
}

func (p *printer) table(v reflect.Value, depth, pointers int) {
	p.put("map[")
	for i, k := range sortedKeys(v) {
		if !p.more() {
			return
		}
		if i > 0 {
			p.put(" ")
		}
		p.value(k, depth+1, pointers)
		p.put(":")
		p.value(v.MapIndex(k), depth+1, pointers)
	}
	p.put("]")
}

// sortedKeys orders the keys of a map: numbers by size, everything else by text.
func sortedKeys(m reflect.Value) []reflect.Value {
	keys := m.MapKeys()
	if len(keys) == 0 {
		return nil
	}
	var less func(a, b reflect.Value) bool
	switch k := keys[0]; {
	case k.CanInt():
		less = func(a, b reflect.Value) bool { return a.Int() < b.Int() }
	case k.CanUint():
		less = func(a, b reflect.Value) bool { return a.Uint() < b.Uint() }
	case k.CanFloat():
		less = func(a, b reflect.Value) bool { return a.Float() < b.Float() }
	case k.Kind() == reflect.String:
		less = func(a, b reflect.Value) bool { return a.String() < b.String() }
	default:
		text := make(map[int]string, len(keys))
		order := make([]int, len(keys))
		for i, k := range keys {
			order[i], text[i] = i, fmt.Sprintf("%+v", k)
		}
		sort.SliceStable(order, func(i, j int) bool { return text[order[i]] < text[order[j]] })
		sorted := make([]reflect.Value, len(keys))
		for i, o := range order {
			sorted[i] = keys[o]
		}
		return sorted
	}
	sort.SliceStable(keys, func(i, j int) bool { return less(keys[i], keys[j]) })
	return keys
}

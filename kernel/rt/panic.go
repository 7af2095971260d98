package rt

import (
	"fmt"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"unsafe"
)

// Frame is a call inside the notebook.
type Frame struct {
	Func string
	File string // "cell[3]"
	Line int
}

// maxFrames bounds the frames of one report.
const maxFrames = 64

// frames returns at most max of the calling goroutine's calls inside the
// notebook, innermost first; skip as in runtime.Callers.
func frames(skip, max int) []Frame {
	pcs := make([]uintptr, 16*max)
	it := runtime.CallersFrames(pcs[:runtime.Callers(skip+1, pcs)])
	var list []Frame
	for len(list) < max {
		f, more := it.Next()
		if file, ok := cellFile(f.File); ok {
			list = append(list, Frame{FuncName(f.Function), file, f.Line})
		}
		if !more {
			break
		}
	}
	return list
}

// cellFile finds "cell[3]" at the end of a file name.
func cellFile(file string) (string, bool) {
	file = file[strings.LastIndexByte(file, '/')+1:]
	digits, ok := strings.CutPrefix(file, "cell[")
	digits, end := strings.CutSuffix(digits, "]")
	return file, ok && end && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// spaced turns the file name "cell[3]" into "cell [3]".
func spaced(file string) string { return strings.Replace(file, "[", " [", 1) }

// FuncName is a function's name without its package: "(*Point).Move". The
// function of a cell's statements is called cell.
func FuncName(name string) string {
	head, _, _ := strings.Cut(name, "[")
	name = name[strings.LastIndexByte(head, '/')+1:]
	_, name, _ = strings.Cut(name, ".")
	if rest, ok := strings.CutPrefix(name, "wb_entry"); ok {
		return "cell" + rest
	}
	// What package lower makes of functions, generic functions and methods.
	return strings.NewReplacer("WbX.F_", "", "WbX.I_", "init.", "WbG_", "", "WbM_", "").Replace(name)
}

// PanicText is a panic's value as Go prints it after "panic: ".
func PanicText(v any) (text string) {
	defer func() {
		if recover() != nil {
			text = fmt.Sprintf("(%T) panic while printing panic value", v)
		}
	}()
	switch v := v.(type) {
	case nil:
		return "nil"
	case error:
		return indented(v.Error())
	case fmt.Stringer:
		return indented(v.String())
	}
	r := reflect.ValueOf(v)
	text, ok := basicText(r)
	name := r.Type().String()
	switch {
	case !ok:
		return fmt.Sprintf("(%s) %#x", name, (*[2]uintptr)(unsafe.Pointer(&v))[1])
	case r.Type().PkgPath() == "":
		return text
	case r.Kind() == reflect.String:
		return name + `("` + text + `")`
	case r.Kind() == reflect.Complex64, r.Kind() == reflect.Complex128:
		return name + text // it has its own parentheses
	}
	return name + "(" + text + ")"
}

// basicText formats a value of a basic kind as the built-in print does.
func basicText(r reflect.Value) (string, bool) {
	switch r.Kind() {
	case reflect.String:
		return indented(r.String()), true
	case reflect.Bool:
		return fmt.Sprint(r.Bool()), true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return fmt.Sprint(r.Int()), true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return fmt.Sprint(r.Uint()), true
	case reflect.Float32, reflect.Float64:
		return strconv.FormatFloat(r.Float(), 'g', -1, r.Type().Bits()), true
	case reflect.Complex64, reflect.Complex128:
		return strconv.FormatComplex(r.Complex(), 'g', -1, r.Type().Bits()), true
	}
	return "", false
}

func indented(s string) string { return strings.ReplaceAll(s, "\n", "\n\t") }

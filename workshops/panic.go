package workshops

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
)

// recovered turns what an exercise panicked with into an error: TODO stays
// TODO, everything else says where it happened. It is called by the deferred
// function, while the stack is that of the panic.
func recovered(r any) error {
	if v, ok := r.(reflect.Value); ok && v.IsValid() && v.CanInterface() {
		r = v.Interface() // an interpreter's panics come wrapped
	}
	if err, ok := r.(error); ok && errors.Is(err, ErrTODO) {
		return err
	}
	where := ""
	if at := place(); at != "" {
		where = " at " + at
	}
	return fmt.Errorf("the exercise panicked%s: %v", where, r)
}

// place returns the innermost call of the panicking goroutine that stands in a
// notebook's cell, "" when none does.
func place() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		frame, more := frames.Next()
		if at := strings.LastIndex(frame.File, "cell["); at >= 0 {
			return fmt.Sprintf("%s, line %d", strings.Replace(frame.File[at:], "[", " [", 1), frame.Line)
		}
		if !more {
			return ""
		}
	}
}

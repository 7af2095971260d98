package rt

import "unsafe"

// A goroutine's profiler label is a pointer that new goroutines inherit. The
// runtime leaves these two functions open to other packages (go.dev/issue/67401).

//go:linkname getProfLabel runtime/pprof.runtime_getProfLabel
func getProfLabel() unsafe.Pointer

//go:linkname setProfLabel runtime/pprof.runtime_setProfLabel
func setProfLabel(labels unsafe.Pointer)

// label has the layout of a label in package runtime/pprof, so that a CPU
// profile taken in a cell reads a Cell as a label set.
type label struct{ key, value string }

// cellKey marks a label set that is a Cell; it is known by its address.
var cellKey = string([]byte("warpbook cell"))

// labelled returns the Cell that the calling goroutine carries, or nil.
func labelled() *Cell {
	p := getProfLabel()
	if p == nil {
		return nil
	}
	set := *(*[]label)(p)
	if len(set) != 1 || unsafe.StringData(set[0].key) != unsafe.StringData(cellKey) {
		return nil
	}
	return (*Cell)(p)
}

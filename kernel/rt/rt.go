// Package rt is the run time that compiled cells link.
//
// The model: session variables live in numbered slots, each a pointer to the
// variable's memory, so that compiled cells and scripts share them. A Cell is
// one run of one cell. Its goroutines carry the Cell as their profiler label,
// which goroutines inherit, so the run time knows whose goroutine it is on: who
// is interrupted, and where output goes. Compiled cells call Check in loops and
// Enter in functions; both are one atomic load while nothing is to be stopped.
//
// The package is linked into every plugin, so it imports little. What follows
// "for the engine" in a comment is not for cells.
package rt

import (
	"reflect"
	"sync"
	"unsafe"
)

// slots and packages are the session's memory and code: there is one session a
// process, and plugins reach it only through package variables.
var (
	slots    = slotTable{m: map[int]*unsafe.Pointer{}}
	packages = packageTable{m: map[string]*Package{}}
)

type slotTable struct {
	mu sync.Mutex
	m  map[int]*unsafe.Pointer
}

// Slot returns the slot id: a pointer to the memory of a session variable, nil
// until it is defined. The slot's own address never changes.
func Slot(id int) *unsafe.Pointer {
	slots.mu.Lock()
	defer slots.mu.Unlock()
	p := slots.m[id]
	if p == nil {
		p = new(unsafe.Pointer)
		slots.m[id] = p
	}
	return p
}

// Define notes that the calling cell has put a variable into the slot id.
func Define(id int) {
	if c := current(); c != nil {
		c.Define(id)
	}
}

// Package is what the init function of a plugin registers.
type Package struct {
	Entry   func()
	Symbols map[string]reflect.Value
}

type packageTable struct {
	mu sync.Mutex
	m  map[string]*Package
}

// Register makes a plugin's entry and symbols known under its package path.
// Symbols are as yaegi takes them: values, pointers to variables, and for a
// type a nil pointer to it.
func Register(path string, entry func(), symbols map[string]reflect.Value) {
	packages.mu.Lock()
	defer packages.mu.Unlock()
	packages.m[path] = &Package{Entry: entry, Symbols: symbols}
}

// Lookup finds a registered package, for the engine.
func Lookup(path string) (*Package, bool) {
	packages.mu.Lock()
	defer packages.mu.Unlock()
	p, ok := packages.m[path]
	return p, ok
}

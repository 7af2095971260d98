// Package engine is the child process in which the cells of a notebook run.
//
// The model: the parent sends Programs, one at a time; the child loads the
// program's plugin, runs its entry or its script, and answers with an Outcome.
// Both engines, compiled plugins and yaegi scripts, work on the same memory:
// session variables are native Go variables that live in numbered slots of
// package rt.
package engine

import "github.com/warpbook/warpbook/display"

// Program is a checked cell in the form that the child runs. Either Plugin or
// Script is set, or both: the plugin is loaded first.
type Program struct {
	ID    int    `json:"id"`    // unique in the session; package rt knows the cell by it
	Count int    `json:"count"` // the n of "cell [n]"
	Name  string `json:"name"`  // file name in //line directives, "cell[n]"

	Plugin  string `json:"plugin,omitempty"`  // path of the .so
	Package string `json:"package,omitempty"` // its package path, under which its init called rt.Register
	Entry   bool   `json:"entry,omitempty"`   // run the registered entry function

	Script  string   `json:"script,omitempty"`  // yaegi source: package main, defines func ScriptEntry
	Func    string   `json:"func,omitempty"`    // ScriptEntry's name, unique in the session
	Imports []string `json:"imports,omitempty"` // packages that the script imports besides Vars; "wb/..." are plugins
	Vars    []Var    `json:"vars,omitempty"`    // symbols of the script's variable package "wb/v<ID>"

	// Value asks for the bundle of what the program shows last instead of
	// publishing it: a user expression.
	Value bool `json:"value,omitempty"`

	// Comm is delivered to the session's comms instead of running anything.
	Comm *Comm `json:"comm,omitempty"`
}

// Comm is a comm message in either direction.
type Comm = display.CommMsg

// Var is a session variable of a script, exported to it as a pointer named Name.
// New means that the script defines it: the engine makes fresh memory of Type,
// exports the pointer, and exports Commit<Name>, a func() that the script calls
// when the definition has happened; only then does the slot hold the memory.
type Var struct {
	Slot int    `json:"slot"`
	Name string `json:"name"`
	New  bool   `json:"new,omitempty"`
	Type Type   `json:"type"`
}

// Type describes a type so that the child can find or build its reflect.Type.
type Type struct {
	Kind   string `json:"kind"`           // "named", "pointer", "slice", "array", "map", "chan", "func"
	Path   string `json:"path,omitempty"` // named: package path; "" for predeclared types ("int", "error", "any")
	Name   string `json:"name,omitempty"` // named: as in the package's symbols
	Elem   *Type  `json:"elem,omitempty"`
	Key    *Type  `json:"key,omitempty"`
	Len    int64  `json:"len,omitempty"`
	Dir    int    `json:"dir,omitempty"`    // chan: reflect.ChanDir
	Params []Type `json:"params,omitempty"` // func
	Result []Type `json:"result,omitempty"`
	Dots   bool   `json:"dots,omitempty"` // func: variadic
}

// Outcome is how a program ended.
type Outcome struct {
	Panic   *Panic `json:"panic,omitempty"`
	Defined []int  `json:"defined,omitempty"` // slots of this program (rt.Define or Commit) that hold a variable now
	Bundle  any    `json:"bundle,omitempty"`  // for Value: a display.Bundle
	Exit    *int   `json:"exit,omitempty"`    // the cell called os.Exit (or log.Fatal) with this code
	Died    string `json:"died,omitempty"`    // the child ended: Go's last words; set by the parent's side
}

// Panic is an unrecovered panic, or an interrupt.
type Panic struct {
	Kind   string  `json:"kind"` // "panic", "interrupt", "recursion", "runtime error"; see also Unsupported and Stdin
	Text   string  `json:"text"` // as Go prints it after "panic: "
	Frames []Frame `json:"frames,omitempty"`
	Left   bool    `json:"left,omitempty"` // the interrupted wait did not end and was left behind
}

// Frame is a call inside the notebook, innermost first.
type Frame struct {
	Func string `json:"func"`
	File string `json:"file"` // "cell[3]"
	Line int    `json:"line"`
}

// More kinds of Panic.
const (
	Unsupported = "unsupported" // the engine could not load or compile the program; nothing of it has run
	Device      = "device"      // a kernel or copy that the cell has started went wrong
	Stdin       = "stdin"       // the program wanted input and the front end gives none
)

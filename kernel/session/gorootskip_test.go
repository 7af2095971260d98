package session_test

import "strings"

// gorootSkips are the programs that are left out, each with its reason. All are
// about the insides of the compiler, the linker or the runtime, or about the
// text of the program itself.
var gorootSkips = map[string]string{
	"closure.go":                     "counts allocations of the whole process",
	"devirtualization_nil_panics.go": "compares runtime.Caller's lines with those of the file",
	"fixedbugs/bug348.go":            "looks for its own function names and lines in runtime.Callers",
	"fixedbugs/bug514.go":            "a type of runtime/internal/sys that cannot be allocated",
	"fixedbugs/issue17381.go":        "looks for main.main in runtime.Callers",
	"fixedbugs/issue18149.go":        "line directives for runtime.Caller",
	"fixedbugs/issue21879.go":        "prints main.main as runtime.Caller's function",
	"fixedbugs/issue22083.go":        "looks for main.go in debug.Stack",
	"fixedbugs/issue22662.go":        "line directives for runtime.Caller",
	"fixedbugs/issue24491a.go":       "times finalizers of main's locals; a notebook's variables live on",
	"fixedbugs/issue24491b.go":       "times finalizers of main's locals; a notebook's variables live on",
	"fixedbugs/issue27201.go":        "looks for a line of the file in runtime.Callers",
	"fixedbugs/issue27518b.go":       "times finalizers of main's locals; a notebook's variables live on",
	"fixedbugs/issue32477.go":        "times finalizers of main's locals; a notebook's variables live on",
	"fixedbugs/issue42032.go":        "a type of runtime/cgo that cannot be allocated",
	"fixedbugs/issue42076.go":        "a type of runtime/cgo that cannot be allocated",
	"fixedbugs/issue4562.go":         "looks for its own file name in runtime.Caller",
	"fixedbugs/issue46725.go":        "times finalizers of main's locals; a notebook's variables live on",
	"fixedbugs/issue46903.go":        "a type of runtime/cgo that cannot be allocated",
	"fixedbugs/issue58300.go":        "prints runtime.FuncForPC's name of a function",
	"fixedbugs/issue58300b.go":       "prints runtime.FuncForPC's name of a function",
	"fixedbugs/issue5856.go":         "looks for its own file name in runtime.Caller",
	"heapsampling.go":                "looks for main's function names in heap profiles",
	"inline_literal.go":              "looks for its own lines in the source file",
	"nilptr.go":                      "wants a global array of 256 MB below address 256 MB",
	"winbatch.go":                    "reads the Go distribution's own files",
}

// gorootKnown are programs that a notebook does not do right, with the reason.
// They are run, and counted as failures.
var gorootKnown = map[string]string{
	"const8.go":                "the checker records one meaning for an expression that a const group repeats in another scope",
	"recover1.go":              "defer recover() in a deferred function that panicked itself does not recover; cause not found",
	"recover3.go":              "the text of a failed assertion has the emitted name of an unexported method",
	"rename.go":                "gives all predeclared names other meanings at package level",
	"fixedbugs/issue15528.go":  "unnamed structs with unexported fields are other types in another cell",
	"fixedbugs/issue21808.go":  "prints to standard output and to standard error, which are two pipes: their order is not exact",
	"fixedbugs/issue56990.go":  "package testing calls os.Exit, which ends the session",
	"typeparam/dottype.go":     "unnamed structs with unexported fields are other types in another cell",
	"typeparam/equal.go":       "unnamed structs with unexported fields are other types in another cell",
	"typeparam/nested.go":      "type arguments are printed with the path of their cell",
	"typeparam/typeswitch1.go": "unnamed structs with unexported fields are other types in another cell",
	"typeparam/typeswitch2.go": "unnamed structs with unexported fields are other types in another cell",
}

// insides are packages whose use makes a program one about the runtime's or the
// toolchain's insides.
var insides = []string{`"internal/`, `"os/exec"`, "go:linkname"}

func gorootSkip(name, src string) string {
	if why := gorootSkips[name]; why != "" {
		return why
	}
	for _, s := range insides {
		if strings.Contains(src, s) {
			return "uses " + s
		}
	}
	return ""
}

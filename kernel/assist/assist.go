// Package assist helps whoever types a cell: completion, inspection, and
// whether a cell is complete.
//
// The model: a half-typed cell is read tolerantly. Magics are blanked out, the
// rest is laid out as two Go files in which every byte of the cell keeps its
// place (declarations in one, statements as a function's body in the other),
// and go/types checks them against the session with all errors ignored. What
// is under the cursor is then looked up in the syntax tree and in the types.
// Nothing is run and nothing in the session changes.
package assist

import (
	"go/types"

	"github.com/warpbook/warpbook/kernel/gotool"
)

// Session is what assist must know of a session. Its methods are called from
// several goroutines.
type Session interface {
	// Names returns the names declared so far, Object what one of them is now, or nil.
	Names() []string
	Object(name string) types.Object
	// Imports returns the imports of earlier cells, name to path.
	Imports() map[string]string
	Import(path string) (*types.Package, error)
	// Packages are those that a cell may import.
	Packages() []gotool.Package
	// PathsOf returns the packages that a name is taken for when no import
	// says what it is, best first.
	PathsOf(name string) []string
	// Doc reads a package's documentation, "builtin" included.
	Doc(path string) (*gotool.Docs, error)
	// DocOf describes an object of the session: its doc comment, its source
	// text, and where it was declared, such as "cell [3], line 2".
	DocOf(obj types.Object) (doc, source, where string)
}

// Magic is one command of the session, with its signs: "%time" or "%%bash".
type Magic struct {
	Name string
	Help string // one line
}

// Assistant answers for one session. Its methods may be called concurrently.
type Assistant struct {
	session Session
	magics  []Magic
}

// New returns an assistant for a session in which these magics exist.
func New(s Session, magics []Magic) *Assistant {
	return &Assistant{session: s, magics: magics}
}

// ownPath is the path of every package of the session's own code.
const ownPath = "main"

// own tells whether obj was declared in a cell.
func own(obj types.Object) bool { return obj.Pkg() != nil && obj.Pkg().Path() == ownPath }

// qualifier names packages in types as a cell would write them.
func qualifier(p *types.Package) string {
	if p.Path() == ownPath {
		return ""
	}
	return p.Name()
}

// Completion is what may stand in place of the code points [Start, End).
type Completion struct {
	Start, End int
	Items      []Item
}

// Item is one completion.
type Item struct {
	Text      string // what replaces [Start, End)
	Type      string // "function", "type", "variable", "constant", "field", "method", "package", "keyword", "magic"
	Signature string // parameters and results, a type, a path
}

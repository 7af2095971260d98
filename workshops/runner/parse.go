package runner

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"strings"

	"github.com/warpbook/warpbook/workshops"
)

// file is an exercise's source as Go understands it.
type file struct {
	name, text string
	fset       *token.FileSet
	syntax     *ast.File
	info       *types.Info // nil when the types are not known
	untyped    error       // why
	embedded   []edit      // texts of files that variables hold
}

// workshopsPath is the package that every starter imports.
const workshopsPath = "github.com/warpbook/warpbook/workshops"

// workshopsSource declares what an exercise may use of it.
const workshopsSource = `package workshops
var ErrTODO error
func TODO(what string) error { return nil }`

// parse reads and type-checks an exercise. All its mistakes are reported, each
// with file, line, column and the line itself.
func (j *job) parse(f workshops.File) (*file, error) {
	p := &file{name: f.Name, text: f.Text, fset: token.NewFileSet()}
	var err error
	if p.syntax, err = parser.ParseFile(p.fset, f.Name, f.Text, parser.SkipObjectResolution|parser.AllErrors|parser.ParseComments); err != nil {
		var list scanner.ErrorList
		if !errors.As(err, &list) {
			return nil, err
		}
		return nil, p.syntaxErrors(list)
	}
	return p, p.check(j.Importer)
}

// syntaxErrors keeps the first error of each line: the others follow from it.
func (p *file) syntaxErrors(list scanner.ErrorList) error {
	var errs []error
	seen := map[int]bool{}
	for _, e := range list {
		if !seen[e.Pos.Line] && len(errs) < maxErrors {
			errs = append(errs, p.pointed(e.Pos, "syntax error: "+e.Msg))
		}
		seen[e.Pos.Line] = true
	}
	return errors.Join(errs...)
}

// maxErrors is how many mistakes are worth reading at once.
const maxErrors = 10

// check finds the types. Where the types of the standard library cannot be had,
// the interpreter's own, weaker checks must do.
func (p *file) check(imports func(*token.FileSet) types.Importer) error {
	if imports == nil {
		imports = standard
	}
	im := &lenient{Importer: imports(p.fset)}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	var errs []error
	config := types.Config{Importer: im, Error: func(err error) {
		var e types.Error
		if errors.As(err, &e) && !e.Soft && len(errs) < maxErrors { // unused names are fine, as in cells
			errs = append(errs, p.pointed(p.fset.Position(e.Pos), e.Msg))
		}
	}}
	// The first error is among those that Error has collected.
	_, _ = config.Check(p.syntax.Name.Name, p.fset, []*ast.File{p.syntax}, info)
	if im.failed != nil {
		p.untyped = im.failed
		return nil
	}
	p.info = info
	return errors.Join(errs...)
}

// lenient is an importer that notes what it could not import.
type lenient struct {
	types.Importer
	failed error
}

// Import implements types.Importer.
func (l *lenient) Import(path string) (*types.Package, error) {
	if path == workshopsPath {
		fset := token.NewFileSet()
		syntax, err := parser.ParseFile(fset, "workshops.go", workshopsSource, 0)
		if err != nil {
			return nil, err
		}
		return new(types.Config).Check(path, fset, []*ast.File{syntax}, nil)
	}
	pkg, err := l.Importer.Import(path)
	if err != nil && importable(path) {
		l.failed = fmt.Errorf("the types of package %s are not known: %w", path, err)
	}
	return pkg, err
}

// pointed is an error at a place of the file, with the line and a caret.
func (p *file) pointed(at token.Position, message string) error {
	lines := strings.Split(p.text, "\n")
	if at.Line < 1 || at.Line > len(lines) {
		return fmt.Errorf("%s: %s", p.name, message)
	}
	line := strings.TrimRight(lines[at.Line-1], "\r")
	indent := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, line[:min(max(at.Column-1, 0), len(line))])
	return fmt.Errorf("%s:%d:%d: %s\n    %s\n    %s^", p.name, at.Line, at.Column, message, line, indent)
}

// explain says of an error of the interpreter what the learner can do. Go has
// accepted the file by then, if its types are known.
func (p *file) explain(err error) error {
	if p.info == nil {
		return fmt.Errorf("%w\n(%w; install Go to get its own messages)", err, p.untyped)
	}
	return fmt.Errorf("%w\nGo accepts this file, but the interpreter of the checks does not. Write the line in a simpler way, or check the functions in the notebook", err)
}

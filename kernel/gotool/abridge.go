package gotool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// docPrefix begins the members of the archive that hold documentation: the
// abridged source of a package, by file name, as JSON.
const docPrefix = "doc:"

// keptDocs reads a package's documentation from the archive.
func (t *Toolchain) keptDocs(path string) (*Docs, error) {
	if t.exports == nil {
		return nil, errors.New("there is no archive")
	}
	data, err := t.exports.read(docPrefix + path)
	if err != nil {
		return nil, err
	}
	if data == nil {
		return nil, fmt.Errorf("the archive has no package %s", path)
	}
	var texts map[string]string
	if err := json.Unmarshal(data, &texts); err != nil {
		return nil, fmt.Errorf("the documentation of %s is damaged, run `warpbook install` again: %w", path, err)
	}
	files := make(map[string][]byte, len(texts))
	for name, text := range texts {
		files[name] = []byte(text)
	}
	d, err := parseDocs(files, path)
	if err != nil {
		return nil, err
	}
	d.Abridged = true
	return d, nil
}

// docMember is what the archive keeps of the source of a package.
func docMember(dir, path string) ([]byte, error) {
	files, err := sources(dir, path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the documentation of %s: %w", path, err)
	}
	texts := map[string]string{}
	for name, src := range files {
		short, err := abridge(src)
		if err != nil {
			return nil, fmt.Errorf("cannot read the documentation of %s: %w", path, err)
		}
		texts[filepath.Base(name)] = string(short)
	}
	return json.Marshal(texts)
}

// abridge leaves out of a file what documentation does not show: bodies,
// functions and variables that are not exported, elements of literals, and
// comments above the package's.
func abridge(src []byte) ([]byte, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	c := cutter{base: fset.File(f.Pos()).Base(), all: f.Name.Name == "builtin"}
	start := f.Package
	if f.Doc != nil {
		start = f.Doc.Pos()
	}
	c.cut(fset.File(f.Pos()).Pos(0), start)
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			c.function(d)
		case *ast.GenDecl:
			if d.Tok == token.VAR {
				c.variables(d)
			}
		}
	}
	return c.rest(src), nil
}

// A cutter collects what is left out, as ranges of bytes.
type cutter struct {
	base   int
	all    bool // all names are documented
	ranges [][2]int
}

func (c *cutter) cut(from, to token.Pos) {
	c.ranges = append(c.ranges, [2]int{int(from) - c.base, int(to) - c.base})
}

func (c *cutter) function(d *ast.FuncDecl) {
	switch {
	case d.Recv == nil && !d.Name.IsExported() && !c.all:
		c.cut(from(d, d.Doc), d.End())
	case d.Body != nil:
		c.cut(d.Body.Lbrace, d.Body.End())
	}
}

func (c *cutter) variables(d *ast.GenDecl) {
	hidden := func(s ast.Spec) bool {
		v, ok := s.(*ast.ValueSpec)
		return ok && !c.all && !slices.ContainsFunc(v.Names, (*ast.Ident).IsExported)
	}
	if !slices.ContainsFunc(d.Specs, func(s ast.Spec) bool { return !hidden(s) }) {
		c.cut(from(d, d.Doc), d.End())
		return
	}
	for _, s := range d.Specs {
		if v, ok := s.(*ast.ValueSpec); ok && hidden(s) {
			c.cut(from(v, v.Doc), v.End())
			continue
		}
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				c.cut(n.Lbrace+1, n.Rbrace)
				return false
			case *ast.FuncLit:
				c.cut(n.Body.Lbrace+1, n.Body.Rbrace)
				return false
			}
			return true
		})
	}
}

func from(n ast.Node, doc *ast.CommentGroup) token.Pos {
	if doc != nil {
		return doc.Pos()
	}
	return n.Pos()
}

// rest is the source without the ranges, and without the empty lines that they
// leave.
func (c *cutter) rest(src []byte) []byte {
	slices.SortFunc(c.ranges, func(a, b [2]int) int { return a[0] - b[0] })
	var b bytes.Buffer
	at := 0
	for _, r := range c.ranges {
		if r[0] < at {
			continue // within the one before
		}
		b.Write(src[at:r[0]])
		at = r[1]
	}
	b.Write(src[at:])
	text := b.String()
	for strings.Contains(text, "\n\n\n") {
		text = strings.ReplaceAll(text, "\n\n\n", "\n\n")
	}
	return []byte(text)
}

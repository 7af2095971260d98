package assist

import (
	"bytes"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/format"
	"go/types"
	"slices"
	"strings"

	"github.com/warpbook/warpbook/kernel/gotool"
)

// documented adds what the source of a package says about an object of it.
// Without source the signature alone has to do.
func (a *Assistant) documented(d *description, path string, obj types.Object, detail int) {
	docs, err := a.session.Doc(path)
	if err != nil {
		return
	}
	if detail > 0 {
		docs = docs.Full()
	}
	obj = origin(obj)
	if docs.Abridged {
		defer d.withoutBody(obj)
	}
	switch o := obj.(type) {
	case *types.Func:
		if recv := o.Signature().Recv(); recv != nil {
			method(d, docs, recv.Type(), o.Name())
			return
		}
		function(d, docs, o.Name())
	case *types.Builtin:
		if function(d, docs, o.Name()) {
			d.code, _, _ = strings.Cut(d.source, " {")
		}
	case *types.TypeName:
		if t := typeOf(docs, o.Name()); t != nil {
			d.doc, d.source = t.Doc, docs.Text(t.Decl)
			if !strings.HasPrefix(d.source, "type ") { // one of a group
				d.source = "type " + d.source
			}
			if code := declOf(docs, t.Decl); code != "" && path != "builtin" {
				d.code = code
			}
		}
	case *types.Var:
		if o.IsField() {
			field(d, docs, o)
			return
		}
		value(d, docs, o.Name())
	default:
		value(d, docs, obj.Name())
	}
}

// withoutBody is for source of which the bodies and the values are not here.
func (d *description) withoutBody(obj types.Object) {
	switch o := obj.(type) {
	case *types.Func, *types.Var:
		if v, ok := o.(*types.Var); ok && v.IsField() {
			return // declared whole
		}
		if d.source != "" {
			d.source, d.missing = "", "The source is not on this machine: it comes with the Go toolchain."
		}
	}
}

func function(d *description, docs *gotool.Docs, name string) bool {
	all := slices.Clone(docs.Funcs)
	for _, t := range docs.Types {
		all = append(all, t.Funcs...)
	}
	for _, f := range all {
		if f.Name == name {
			d.doc, d.source = f.Doc, docs.Text(f.Decl)
			return true
		}
	}
	return false
}

func typeOf(docs *gotool.Docs, name string) *doc.Type {
	i := slices.IndexFunc(docs.Types, func(t *doc.Type) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return docs.Types[i]
}

// method finds a method of a type, or of an interface.
func method(d *description, docs *gotool.Docs, recv types.Type, name string) {
	if p, ok := recv.(*types.Pointer); ok {
		recv = p.Elem()
	}
	named, ok := recv.(*types.Named)
	if !ok {
		return
	}
	t := typeOf(docs, named.Obj().Name())
	if t == nil {
		return
	}
	for _, m := range t.Methods {
		if m.Name == name {
			d.doc, d.source = m.Doc, docs.Text(m.Decl)
			return
		}
	}
	member(d, docs, t.Decl, name)
}

// field finds a field in the struct type that declares it.
func field(d *description, docs *gotool.Docs, f *types.Var) {
	for _, t := range docs.Types {
		tn := f.Pkg().Scope().Lookup(t.Name)
		if tn == nil {
			continue
		}
		s, ok := tn.Type().Underlying().(*types.Struct)
		if !ok {
			continue
		}
		for have := range s.Fields() {
			if have == f {
				d.where = "Field of " + f.Pkg().Name() + "." + t.Name + "."
				member(d, docs, t.Decl, f.Name())
				return
			}
		}
	}
}

// member finds a field or a method of an interface in a declaration.
func member(d *description, docs *gotool.Docs, decl *ast.GenDecl, name string) {
	ast.Inspect(decl, func(n ast.Node) bool {
		f, ok := n.(*ast.Field)
		if !ok {
			return true
		}
		if slices.ContainsFunc(f.Names, func(id *ast.Ident) bool { return id.Name == name }) {
			d.doc, d.source = f.Doc.Text()+f.Comment.Text(), docs.Text(f)
		}
		return false
	})
}

// value finds a constant or a variable, in whatever group it is.
func value(d *description, docs *gotool.Docs, name string) {
	groups := append(slices.Clone(docs.Consts), docs.Vars...)
	for _, t := range docs.Types {
		groups = append(append(groups, t.Consts...), t.Vars...)
	}
	for _, g := range groups {
		if !slices.Contains(g.Names, name) {
			continue
		}
		d.doc, d.source = g.Doc, docs.Text(g.Decl)
		for _, spec := range g.Decl.Specs {
			s, ok := spec.(*ast.ValueSpec)
			if ok && slices.ContainsFunc(s.Names, func(id *ast.Ident) bool { return id.Name == name }) && s.Doc.Text()+s.Comment.Text() != "" {
				d.doc = s.Doc.Text() + s.Comment.Text()
			}
		}
		return
	}
}

// declOf is a declaration as go doc shows it, unexported fields left out.
func declOf(docs *gotool.Docs, decl *ast.GenDecl) string {
	bare := *decl
	bare.Doc = nil
	var b bytes.Buffer
	if err := format.Node(&b, docs.Fset, &bare); err != nil {
		return ""
	}
	return b.String()
}

// linkBase is where doc links lead.
const linkBase = "https://pkg.go.dev"

// parsed reads a doc comment; links are those of its package.
func (a *Assistant) parsed(d description) *comment.Doc {
	if d.home != "" {
		if docs, err := a.session.Doc(d.home); err == nil {
			return docs.Parser().Parse(d.doc)
		}
	}
	var p comment.Parser
	return p.Parse(d.doc)
}

func (a *Assistant) plain(d description) string {
	parts := []string{d.code}
	if d.doc != "" {
		p := comment.Printer{TextWidth: 80}
		parts = append(parts, string(p.Text(a.parsed(d))))
	}
	return layout(append(parts, d.where, d.missing, d.source))
}

func (a *Assistant) markdown(d description) string {
	parts := []string{fence(d.code)}
	if d.doc != "" {
		p := comment.Printer{DocLinkBaseURL: linkBase, HeadingLevel: 4, HeadingID: func(*comment.Heading) string { return "" }}
		parts = append(parts, string(p.Markdown(a.parsed(d))))
	}
	parts = append(parts, d.where, d.missing)
	if d.source != "" {
		parts = append(parts, fence(d.source))
	}
	return layout(parts)
}

func fence(code string) string { return "```go\n" + strings.TrimRight(code, "\n") + "\n```" }

// layout puts an empty line between what is not empty.
func layout(parts []string) string {
	parts = slices.DeleteFunc(parts, func(s string) bool { return strings.TrimSpace(s) == "" })
	for i := range parts {
		parts[i] = strings.Trim(parts[i], "\n")
	}
	return strings.Join(parts, "\n\n") + "\n"
}

package engine

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/traefik/yaegi/interp"

	"github.com/warpbook/warpbook/kernel/engine/symbols"
	"github.com/warpbook/warpbook/kernel/rt"
)

// scripts runs yaegi. The interpreter holds no session state, so that a fresh
// one may take its place: it never frees what it has compiled.
type scripts struct {
	mu       sync.Mutex
	interp   *interp.Interpreter
	imported map[string]string // by the script files: name to path
	used     map[string]bool   // packages of plugins that it knows
	count    int
	next     *interp.Interpreter // made beforehand
}

// scriptsEach is how many scripts one interpreter runs.
const scriptsEach = 200

func newInterpreter() (*interp.Interpreter, error) {
	i := interp.New(interp.Options{Unrestricted: true, Stderr: io.Discard})
	if err := i.Use(symbols.All()); err != nil {
		return nil, fmt.Errorf("prepare the interpreter: %w", err)
	}
	return i, nil
}

// prepare makes the next interpreter while nobody waits.
func (s *scripts) prepare() {
	i, err := newInterpreter()
	if err != nil {
		return // the next compile says so
	}
	s.mu.Lock()
	s.next = i
	s.mu.Unlock()
}

// abandon leaves the interpreter to a script that does not end.
func (s *scripts) abandon() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.interp = nil
}

// fresh makes sure of an interpreter; mu is held.
func (s *scripts) fresh() error {
	if s.interp != nil && s.count < scriptsEach {
		return nil
	}
	i := s.next
	if i == nil {
		var err error
		if i, err = newInterpreter(); err != nil {
			return err
		}
	}
	s.interp, s.next, s.count = i, nil, 0
	s.imported, s.used = map[string]string{}, map[string]bool{}
	return nil
}

// compile returns the function of a script. Nothing of it has run then.
func (s *scripts) compile(p *Program, c *rt.Cell) (f func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		if v := recover(); v != nil { // yaegi has many
			s.interp = nil
			f, err = nil, fmt.Errorf("the interpreter failed on this script: %v", v)
		}
	}()
	if err := s.fresh(); err != nil {
		return nil, err
	}
	if s.count++; s.count == scriptsEach {
		go s.prepare()
	}
	src, names, err := s.withoutKnownImports(p.Script)
	if err != nil {
		return nil, err
	}
	if err := s.use(p, c); err != nil {
		return nil, err
	}
	if _, err := s.interp.Eval(src); err != nil {
		s.interp = nil // it may be left half-way
		return nil, fmt.Errorf("the interpreter refuses this script: %w", err)
	}
	maps.Copy(s.imported, names)
	v, err := s.interp.Eval(p.Func)
	if err != nil {
		return nil, fmt.Errorf("the interpreter does not find %s: %w", p.Func, err)
	}
	f, ok := v.Interface().(func())
	if !ok {
		return nil, fmt.Errorf("%s is a %v, not a func()", p.Func, v.Type())
	}
	return f, nil
}

// withoutKnownImports blanks the imports that the interpreter has seen: it
// accepts each name once. It returns the names that are new.
func (s *scripts) withoutKnownImports(src string) (string, map[string]string, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "script", src, parser.ImportsOnly)
	if err != nil {
		return "", nil, fmt.Errorf("the script is not Go: %w", err)
	}
	out, names := []byte(src), map[string]string{}
	blank := func(n ast.Node) {
		from, to := fset.Position(n.Pos()).Offset, fset.Position(n.End()).Offset
		for i := from; i < to; i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
	for _, decl := range file.Decls {
		imports, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range imports.Specs {
			name, path, err := importOf(spec)
			if err != nil {
				return "", nil, err
			}
			known, ok := s.imported[name]
			switch {
			case !ok:
				names[name] = path
			case known != path:
				s.interp = nil
				if err := s.fresh(); err != nil {
					return "", nil, err
				}
				return s.withoutKnownImports(src)
			case imports.Lparen.IsValid():
				blank(spec)
			default:
				blank(imports)
			}
		}
	}
	return string(out), names, nil
}

// importOf returns the name and the path of an import.
func importOf(spec ast.Spec) (name, path string, err error) {
	s, ok := spec.(*ast.ImportSpec)
	if !ok {
		return "", "", errors.New("the script is not Go: this is no import")
	}
	if path, err = strconv.Unquote(s.Path.Value); err != nil {
		return "", "", fmt.Errorf("the script is not Go: %w", err)
	}
	if s.Name != nil {
		return s.Name.Name, path, nil
	}
	return path[strings.LastIndexByte(path, '/')+1:], path, nil
}

// use makes the script's packages known: plugins and its variables.
func (s *scripts) use(p *Program, c *rt.Cell) error {
	exports := interp.Exports{}
	for _, path := range p.Imports {
		if !strings.HasPrefix(path, "wb/") || s.used[path] {
			continue
		}
		pkg, ok := rt.Lookup(path)
		if !ok {
			return fmt.Errorf("the package %s is not loaded", path)
		}
		exports[path+"/main"] = pkg.Symbols
		s.used[path] = true
	}
	if len(p.Vars) > 0 {
		name := fmt.Sprintf("v%d", p.ID)
		vars, err := variables(p.Vars, c)
		if err != nil {
			return err
		}
		exports["wb/"+name+"/"+name] = vars
	}
	if len(exports) == 0 {
		return nil
	}
	return s.interp.Use(exports)
}

// variables makes the symbols of a script's variable package.
func variables(vars []Var, c *rt.Cell) (map[string]reflect.Value, error) {
	out := map[string]reflect.Value{}
	for _, v := range vars {
		t, err := v.Type.reflect()
		if err != nil {
			return nil, fmt.Errorf("the variable %s: %w", v.Name, err)
		}
		slot := rt.Slot(v.Slot)
		if !v.New {
			if *slot == nil {
				return nil, fmt.Errorf("the variable %s has no value: the cell that defines it has not come that far", v.Name)
			}
			out[v.Name] = reflect.NewAt(t, *slot)
			continue
		}
		p := reflect.New(t)
		out[v.Name] = p
		out["Commit"+v.Name] = reflect.ValueOf(commit(c, v.Slot, slot, p.UnsafePointer()))
	}
	return out, nil
}

func commit(c *rt.Cell, id int, slot *unsafe.Pointer, p unsafe.Pointer) func() {
	return func() {
		*slot = p
		c.Define(id)
	}
}

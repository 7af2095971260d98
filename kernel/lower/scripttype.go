package lower

import (
	"errors"
	"go/ast"
	"go/types"

	"github.com/warpbook/warpbook/kernel/engine"
)

// spell writes a type of a literal.
func (s *script) spell(n ast.Node, t types.Type) string {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		return t.Name()
	case *types.Named:
		return s.typeName(n, t)
	case *types.Slice:
		return "[]" + s.spell(n, t.Elem())
	case *types.Map:
		return "map[" + s.spell(n, t.Key()) + "]" + s.spell(n, t.Elem())
	}
	s.refuse(n, "a literal of %s", t)
	return ""
}

func (s *script) typeName(n ast.Node, t *types.Named) string {
	obj := t.Obj()
	if t.TypeArgs().Len() > 0 || obj.Pkg() == nil || obj.Parent() == nil {
		s.refuse(n, "the type %s", t)
	}
	if home := s.c.Home(obj); home != "" {
		if home == s.c.Package || obj.Parent() == nil {
			s.refuse(n, "the type %s", t)
		}
		return s.importAs(home) + ".T_" + obj.Name()
	}
	if !s.known(obj.Pkg().Path(), obj.Name()) {
		s.refuse(n, "the type %s", t)
	}
	return s.importAs(obj.Pkg().Path()) + "." + obj.Name()
}

var errType = errors.New("this type cannot be described")

// typ describes a type for the engine.
func (s *script) typ(n ast.Node, t types.Type) engine.Type {
	d, err := s.describe(t)
	if err != nil {
		s.refuse(n, "a variable of type %s", t)
	}
	return d
}

func (s *script) describe(t types.Type) (engine.Type, error) {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		if t.Info()&types.IsUntyped != 0 || t.Kind() == types.UnsafePointer {
			return engine.Type{}, errType
		}
		return engine.Type{Kind: "named", Name: t.Name()}, nil
	case *types.Named:
		return s.describeNamed(t)
	case *types.Pointer:
		return s.with("pointer", t.Elem(), nil)
	case *types.Slice:
		return s.with("slice", t.Elem(), nil)
	case *types.Array:
		d, err := s.with("array", t.Elem(), nil)
		d.Len = t.Len()
		return d, err
	case *types.Map:
		return s.with("map", t.Elem(), t.Key())
	case *types.Interface:
		if t.Empty() {
			return engine.Type{Kind: "named", Name: "any"}, nil
		}
	}
	return engine.Type{}, errType
}

func (s *script) describeNamed(t *types.Named) (engine.Type, error) {
	obj := t.Obj()
	switch {
	case t.TypeArgs().Len() > 0:
		return engine.Type{}, errType
	case obj.Pkg() == nil:
		return engine.Type{Kind: "named", Name: obj.Name()}, nil
	}
	if home := s.c.Home(obj); home != "" {
		if home == s.c.Package {
			return engine.Type{}, errType
		}
		s.importAs(home)
		return engine.Type{Kind: "named", Path: home, Name: "T_" + obj.Name()}, nil
	}
	if !s.known(obj.Pkg().Path(), obj.Name()) || obj.Pkg().Path() == "main" {
		return engine.Type{}, errType
	}
	return engine.Type{Kind: "named", Path: obj.Pkg().Path(), Name: obj.Name()}, nil
}

func (s *script) with(kind string, elem, key types.Type) (engine.Type, error) {
	e, err := s.describe(elem)
	if err != nil {
		return engine.Type{}, err
	}
	d := engine.Type{Kind: kind, Elem: &e}
	if key != nil {
		k, err := s.describe(key)
		if err != nil {
			return engine.Type{}, err
		}
		d.Key = &k
	}
	return d, nil
}

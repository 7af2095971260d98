package front

import (
	"go/types"
)

// typeMentions says whether a type is built from a session type whose name is
// in names.
func typeMentions(t types.Type, names map[string]bool) bool {
	found := false
	WalkNamed(t, map[types.Type]bool{}, func(tn *types.TypeName) {
		if tn.Pkg() != nil && tn.Pkg().Path() == "main" && names[tn.Name()] {
			found = true
		}
	})
	return found
}

// WalkNamed visits the names that a type is spelled with.
func WalkNamed(t types.Type, seen map[types.Type]bool, visit func(*types.TypeName)) {
	if t == nil || seen[t] {
		return
	}
	seen[t] = true
	walk := func(t types.Type) { WalkNamed(t, seen, visit) }
	switch t := t.(type) {
	case *types.Alias:
		visit(t.Obj())
		walk(types.Unalias(t))
	case *types.Named:
		visit(t.Obj())
		for a := range t.TypeArgs().Types() {
			walk(a)
		}
	case *types.Pointer:
		walk(t.Elem())
	case *types.Slice:
		walk(t.Elem())
	case *types.Array:
		walk(t.Elem())
	case *types.Chan:
		walk(t.Elem())
	case *types.Map:
		walk(t.Key())
		walk(t.Elem())
	case *types.Signature:
		walk(t.Params())
		walk(t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			walk(v.Type())
		}
	case *types.Struct:
		for f := range t.Fields() {
			walk(f.Type())
		}
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			walk(m.Type())
		}
		for e := range t.EmbeddedTypes() {
			walk(e)
		}
	}
}

// migrate finds the variables whose types get a new version with this cell. When
// old and new have the same memory layout and meaning (a method was added, or
// the cell that declares the type ran again with another one) the variable moves
// to the new type; otherwise it goes stale, which the nil type says.
func (a *attempt) migrate() map[*Symbol]types.Type {
	out := map[*Symbol]types.Type{}
	fresh := map[string]types.Object{}
	for _, name := range a.pkg.Scope().Names() {
		obj := a.pkg.Scope().Lookup(name)
		if tn, ok := obj.(*types.TypeName); ok && obj.Pkg() == a.pkg {
			fresh[name] = tn
		}
	}
	if len(fresh) == 0 {
		return out
	}
	names := map[string]bool{}
	for n := range fresh {
		names[n] = true
	}
	redefined := map[string]bool{}
	for _, d := range a.defined {
		redefined[d.Key] = true
	}
	for key, sym := range a.s.symbols {
		if sym.Kind != Var || redefined[key] || !typeMentions(sym.Obj.Type(), names) {
			continue
		}
		m := mover{fresh: fresh, old: a.pkg, same: map[[2]types.Type]bool{}}
		if t := m.move(sym.Obj.Type()); t != nil && m.sameShape(sym.Obj.Type(), t) {
			out[sym] = t
		} else {
			out[sym] = nil
		}
	}
	return out
}

// A mover replaces old versions of session types by the new ones.
type mover struct {
	fresh map[string]types.Object
	old   *types.Package
	same  map[[2]types.Type]bool
}

// move returns t with every session type replaced that has a new version, or
// nil where it does not know how.
func (m *mover) move(t types.Type) types.Type {
	switch t := t.(type) {
	case *types.Basic, *types.TypeParam:
		return t
	case *types.Alias:
		return m.move(types.Unalias(t))
	case *types.Named:
		return m.moveNamed(t)
	case *types.Pointer:
		if e := m.move(t.Elem()); e != nil {
			return types.NewPointer(e)
		}
	case *types.Slice:
		if e := m.move(t.Elem()); e != nil {
			return types.NewSlice(e)
		}
	case *types.Array:
		if e := m.move(t.Elem()); e != nil {
			return types.NewArray(e, t.Len())
		}
	case *types.Map:
		k, e := m.move(t.Key()), m.move(t.Elem())
		if k != nil && e != nil {
			return types.NewMap(k, e)
		}
	}
	return nil // channels, functions and unnamed structs would let old values meet new types
}

func (m *mover) moveNamed(t *types.Named) types.Type {
	obj := t.Obj()
	if obj.Pkg() == nil || obj.Pkg().Path() != "main" || m.fresh[obj.Name()] == nil {
		return t
	}
	next := m.fresh[obj.Name()].Type()
	if t.TypeArgs().Len() == 0 {
		return next
	}
	var args []types.Type
	for a := range t.TypeArgs().Types() {
		moved := m.move(a)
		if moved == nil {
			return nil
		}
		args = append(args, moved)
	}
	inst, err := types.Instantiate(nil, next, args, true)
	if err != nil {
		return nil
	}
	return inst
}

// sameShape compares two versions of a type by structure.
func (m *mover) sameShape(a, b types.Type) bool {
	if types.Identical(a, b) {
		return true
	}
	pair := [2]types.Type{a, b}
	if m.same[pair] {
		return true
	}
	m.same[pair] = true
	if an, ok := types.Unalias(a).(*types.Named); ok {
		bn, ok := types.Unalias(b).(*types.Named)
		return ok && an.Obj().Name() == bn.Obj().Name() && m.sameShape(an.Underlying(), bn.Underlying())
	}
	switch a := types.Unalias(a).(type) {
	case *types.Pointer:
		b, ok := types.Unalias(b).(*types.Pointer)
		return ok && m.sameShape(a.Elem(), b.Elem())
	case *types.Slice:
		b, ok := types.Unalias(b).(*types.Slice)
		return ok && m.sameShape(a.Elem(), b.Elem())
	case *types.Array:
		b, ok := types.Unalias(b).(*types.Array)
		return ok && a.Len() == b.Len() && m.sameShape(a.Elem(), b.Elem())
	case *types.Map:
		b, ok := types.Unalias(b).(*types.Map)
		return ok && m.sameShape(a.Key(), b.Key()) && m.sameShape(a.Elem(), b.Elem())
	case *types.Struct:
		b, ok := types.Unalias(b).(*types.Struct)
		if !ok || a.NumFields() != b.NumFields() {
			return false
		}
		for i := range a.NumFields() {
			x, y := a.Field(i), b.Field(i)
			if x.Name() != y.Name() || x.Embedded() != y.Embedded() || !m.sameShape(x.Type(), y.Type()) {
				return false
			}
		}
		return true
	}
	return false // interfaces, functions and channels of session types: values of the old version live inside
}

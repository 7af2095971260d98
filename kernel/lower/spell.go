package lower

import (
	"go/types"
	"slices"
)

// spellable returns t with the unexported methods of unnamed interfaces under
// their emitted names. Named types are spelled by name and stay as they are.
func spellable(t types.Type) types.Type {
	switch t := t.(type) {
	case *types.Pointer:
		return same(t, t.Elem(), func(e types.Type) types.Type { return types.NewPointer(e) })
	case *types.Slice:
		return same(t, t.Elem(), func(e types.Type) types.Type { return types.NewSlice(e) })
	case *types.Array:
		return same(t, t.Elem(), func(e types.Type) types.Type { return types.NewArray(e, t.Len()) })
	case *types.Chan:
		return same(t, t.Elem(), func(e types.Type) types.Type { return types.NewChan(t.Dir(), e) })
	case *types.Map:
		k, e := spellable(t.Key()), spellable(t.Elem())
		if k != t.Key() || e != t.Elem() {
			return types.NewMap(k, e)
		}
	case *types.Signature:
		p, r := spellableTuple(t.Params()), spellableTuple(t.Results())
		if p != t.Params() || r != t.Results() {
			return types.NewSignatureType(nil, nil, nil, p, r, t.Variadic())
		}
	case *types.Struct:
		return spellableStruct(t)
	case *types.Interface:
		return spellableInterface(t)
	case *types.Named:
		return spellableInstance(t)
	}
	return t
}

func same(t, elem types.Type, build func(types.Type) types.Type) types.Type {
	if e := spellable(elem); e != elem {
		return build(e)
	}
	return t
}

func spellableTuple(t *types.Tuple) *types.Tuple {
	changed := false
	var vars []*types.Var
	for v := range t.Variables() {
		s := spellable(v.Type())
		changed = changed || s != v.Type()
		vars = append(vars, types.NewParam(v.Pos(), v.Pkg(), v.Name(), s))
	}
	if !changed {
		return t
	}
	return types.NewTuple(vars...)
}

func spellableStruct(t *types.Struct) types.Type {
	changed := false
	var fields []*types.Var
	var tags []string
	for i := range t.NumFields() {
		f := t.Field(i)
		s := spellable(f.Type())
		changed = changed || s != f.Type()
		fields, tags = append(fields, types.NewField(f.Pos(), f.Pkg(), f.Name(), s, f.Embedded())), append(tags, t.Tag(i))
	}
	if !changed {
		return t
	}
	return types.NewStruct(fields, tags)
}

func spellableInterface(t *types.Interface) types.Type {
	changed := false
	var methods []*types.Func
	for m := range t.ExplicitMethods() {
		sig := spellable(m.Type()).(*types.Signature)
		name := methodName(m)
		changed = changed || name != m.Name() || sig != m.Type()
		methods = append(methods, types.NewFunc(m.Pos(), m.Pkg(), name, sig))
	}
	if !changed {
		return t
	}
	return types.NewInterfaceType(methods, slices.Collect(t.EmbeddedTypes()))
}

func spellableInstance(t *types.Named) types.Type {
	changed := false
	var args []types.Type
	for a := range t.TypeArgs().Types() {
		s := spellable(a)
		changed = changed || s != a
		args = append(args, s)
	}
	if !changed {
		return t
	}
	inst, err := types.Instantiate(nil, t.Origin(), args, false)
	if err != nil {
		return t
	}
	return inst
}

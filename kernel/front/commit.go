package front

import (
	"go/types"
	"slices"
)

// Commit makes the cell's declarations the session's. Happened says which of
// the variables it defines exist now: a cell that panics half-way has defined
// only some of them.
func (s *Session) Commit(c *Cell, happened func(slot int) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, path := range c.imports {
		s.imports[name] = path
		delete(s.symbols, name)
	}
	for _, path := range c.dots {
		if !slices.Contains(s.dots, path) {
			s.dots = append(s.dots, path)
		}
	}
	for _, u := range c.Units {
		s.commitUnit(c, u)
	}
	for key, v := range c.migrated {
		sym := s.symbols[key]
		switch {
		case sym == nil || sym.Kind != Var:
		case v == nil:
			sym.Stale = staleReason(c.Count, key)
		default:
			sym.Obj = v
		}
	}
	for _, v := range c.Defined {
		if happened(v.Slot) {
			s.drop(v.Key)
			v.Obj = types.NewVar(v.Obj.Pos(), c.Pkg, v.Key, v.Obj.Type())
			s.symbols[v.Key] = v
			delete(s.imports, v.Key)
		}
	}
	for key, why := range c.broken {
		if sym := s.symbols[key]; sym != nil {
			sym.Broken = why
		}
	}
}

func (s *Session) commitUnit(c *Cell, u *Unit) {
	u.Home = c.Package
	for _, key := range u.Keys {
		if key == "_" {
			continue
		}
		if u.own && u.Kind == Type {
			s.dropMethods(key, u)
		}
		obj := c.object(u, key)
		sym := &Symbol{Key: key, Kind: u.Kind, Obj: obj, Cell: u.Source.Count, Unit: u}
		s.symbols[key] = sym
		delete(s.imports, key)
		if obj != nil {
			s.homes[obj] = c.Package
		}
	}
	u.own = false
}

// dropMethods forgets the methods that the cell of the old type declared with
// it: a type that is declared again brings its methods along. Methods added by
// other cells stay.
func (s *Session) dropMethods(name string, u *Unit) {
	old := s.symbols[name]
	if old == nil || old.Unit == nil {
		return
	}
	for key, sym := range s.symbols {
		if sym.Unit != nil && sym.Unit.Base == name && sym.Unit.Source == old.Unit.Source && sym.Unit != u {
			delete(s.symbols, key)
		}
	}
}

func (s *Session) drop(key string) {
	delete(s.symbols, key)
	for k, sym := range s.symbols {
		if sym.Unit != nil && sym.Unit.Base == key {
			delete(s.symbols, k)
		}
	}
}

func (c *Cell) object(u *Unit, key string) types.Object {
	if u.Base == "" {
		return c.Pkg.Scope().Lookup(key)
	}
	tn, _ := c.Pkg.Scope().Lookup(u.Base).(*types.TypeName)
	if tn == nil {
		return nil
	}
	named, _ := types.Unalias(tn.Type()).(*types.Named)
	if named == nil {
		return nil
	}
	for m := range named.Methods() {
		if u.Base+"."+m.Name() == key {
			return m
		}
	}
	return nil
}

func staleReason(count int, name string) string {
	return name + " still has the type that it had before cell [" + itoa(count) + "] declared the type again: give it a new value with " + name + " := ..."
}

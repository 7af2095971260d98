// Package symbols is what scripts can import: the interpreter's standard
// library and the packages of this project, as yaegi takes them.
package symbols

import (
	"reflect"
	"strings"
	"sync"

	"github.com/traefik/yaegi/stdlib"
	"github.com/traefik/yaegi/stdlib/unrestricted"
)

// Symbols holds this project's packages; the generated files of this folder fill it.
//
//go:generate go run github.com/traefik/yaegi/cmd/yaegi extract -name symbols github.com/warpbook/warpbook/display github.com/warpbook/warpbook/cuda github.com/warpbook/warpbook/kernel/rt github.com/warpbook/warpbook/workshops
var Symbols = map[string]map[string]reflect.Value{}

// All returns every symbol, by "import path/package name" and symbol name. It
// must not be changed.
var All = sync.OnceValue(func() map[string]map[string]reflect.Value {
	all := map[string]map[string]reflect.Value{}
	for _, table := range []map[string]map[string]reflect.Value{stdlib.Symbols, unrestricted.Symbols, Symbols} {
		for key, symbols := range table {
			if all[key] == nil {
				all[key] = map[string]reflect.Value{}
			}
			for name, v := range symbols {
				all[key][name] = v
			}
		}
	}
	return all
})

var byPath = sync.OnceValue(func() map[string]map[string]reflect.Value {
	out := map[string]map[string]reflect.Value{}
	for key, symbols := range All() {
		if i := strings.LastIndexByte(key, '/'); i > 0 {
			out[key[:i]] = symbols
		}
	}
	return out
})

// Lookup finds a symbol by import path and name. A type is a nil pointer to it.
func Lookup(path, name string) (reflect.Value, bool) {
	v, ok := byPath()[path][name]
	return v, ok
}

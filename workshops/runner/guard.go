package runner

import (
	"context"
	"embed"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/traefik/yaegi/interp"
	"github.com/traefik/yaegi/stdlib"

	"github.com/warpbook/warpbook/kernel/engine/symbols"
	"github.com/warpbook/warpbook/workshops"
)

// guardName is what lowered files call the guard; no learner's name is spelled
// like it.
const guardName = "warpbook_guard"

// maxDepth is how deep calls may nest. Without it, endless recursion fills the
// stack, which ends the process; and unwinding 10,000 calls takes seconds.
const maxDepth = 1_000

// guard is looked at by every loop and every call of an interpreted exercise.
type guard struct {
	ctx   atomic.Pointer[context.Context]
	depth atomic.Int64
}

// begin arms the guard for a check that ends with ctx.
func (g *guard) begin(ctx context.Context) {
	g.ctx.Store(&ctx)
	g.depth.Store(0)
}

func (g *guard) loop() {
	if err := (*g.ctx.Load()).Err(); err != nil {
		panic(context.Cause(*g.ctx.Load()))
	}
}

func (g *guard) enter() {
	if g.depth.Add(1) > maxDepth {
		panic(errors.New("endless recursion: the calls are nested 1,000 deep"))
	}
	g.loop()
}

func (g *guard) leave() { g.depth.Add(-1) }

// symbols are the guard's functions for the interpreter, with those builtins and
// loops of later Go versions that it does not know.
func (g *guard) symbols() interp.Exports {
	own := map[string]reflect.Value{
		"Loop":  reflect.ValueOf(g.loop),
		"Enter": reflect.ValueOf(g.enter),
		"Leave": reflect.ValueOf(g.leave),

		"MaxFloat64": reflect.ValueOf(func(x float64, rest ...float64) float64 { return slices.Max(append(rest[:len(rest):len(rest)], x)) }),
		"MinFloat64": reflect.ValueOf(func(x float64, rest ...float64) float64 { return slices.Min(append(rest[:len(rest):len(rest)], x)) }),
		"MaxInt":     reflect.ValueOf(func(x int, rest ...int) int { return slices.Max(append(rest[:len(rest):len(rest)], x)) }),
		"MinInt":     reflect.ValueOf(func(x int, rest ...int) int { return slices.Min(append(rest[:len(rest):len(rest)], x)) }),
		"Range":      reflect.ValueOf(func(n int) []struct{} { return make([]struct{}, max(n, 0)) }),
		"Chunk":      reflect.ValueOf(func(s []float64, n int) [][]float64 { return slices.Collect(slices.Chunk(s, n)) }),
		"Clear":      reflect.ValueOf(func(s []float64) { clear(s) }),
	}
	for name, fn := range sliceFuncs {
		own["Slices"+name] = reflect.ValueOf(fn)
	}
	return interp.Exports{guardName + "/" + guardName: own}
}

// sliceFuncs are functions of package slices, for the slices that exercises
// have: the interpreter cannot run these generic ones.
var sliceFuncs = map[string]any{ // never changed
	"Clone":    slices.Clone[[]float64],
	"Concat":   slices.Concat[[]float64],
	"Contains": slices.Contains[[]float64],
	"Equal":    slices.Equal[[]float64],
	"Index":    slices.Index[[]float64],
	"Max":      slices.Max[[]float64],
	"Min":      slices.Min[[]float64],
	"Repeat":   slices.Repeat[[]float64],
	"Reverse":  slices.Reverse[[]float64],
	"Sort":     slices.Sort[[]float64],
}

// cudaPath is the package that exercises with kernels import.
const cudaPath = "github.com/warpbook/warpbook/cuda"

// lent is what an exercise may import of us.
func lent() interp.Exports {
	return interp.Exports{
		workshopsPath + "/workshops": {
			"TODO":    reflect.ValueOf(workshops.TODO),
			"ErrTODO": reflect.ValueOf(&workshops.ErrTODO).Elem(),
		},
		cudaPath + "/cuda": symbols.Symbols[cudaPath+"/cuda"],
		"embed/embed":      {"FS": reflect.ValueOf((*embed.FS)(nil))},
	}
}

// importable says whether the interpreter has a package, so that a file which
// cannot be imported is the machine's fault and not a typing mistake.
func importable(path string) bool {
	if path == cudaPath {
		return true
	}
	for key := range stdlib.Symbols {
		if strings.HasPrefix(key, path+"/") && strings.Count(key, "/") == strings.Count(path, "/")+1 {
			return true
		}
	}
	return false
}

package trial

import (
	"embed"
	"fmt"
	"slices"
	"time"

	"github.com/warpbook/warpbook/cuda"
	"github.com/warpbook/warpbook/workshops"
)

// Limit is the time of one check: on the simulator the largest take seconds.
const Limit = time.Minute

// Describe fills in what GPU workshops have in common: the device and the texts, which
// are starter/ID.go, starter/ID.cu, the same in solution with ID.ptx, and hint.md.
func Describe(id string, files embed.FS, f workshops.Function) workshops.Workshop {
	text := func(name string) string {
		b, err := files.ReadFile(name)
		if err != nil {
			panic(fmt.Sprintf("the workshop %s lacks a file: %v", id, err)) // of the program
		}
		return string(b)
	}
	pair := func(folder string) (list []workshops.File) {
		for _, name := range []string{id + ".go", id + ".cu"} {
			list = append(list, workshops.File{Name: name, Text: text(folder + "/" + name)})
		}
		return list
	}
	if err := cuda.Ship(text("solution/" + id + ".ptx")); err != nil {
		panic(fmt.Sprintf("the workshop %s: %v", id, err))
	}
	return workshops.Workshop{
		ID: id, Device: workshops.GPU, Limit: Limit,
		Starter: pair("starter"), Solution: pair("solution"), Hint: text("hint.md"),
		Functions: []workshops.Function{f}, Available: available,
		Bind: func(given map[string]any) (any, error) {
			fn := given[f.Name]
			if fn == nil {
				return Function(nil), nil // the checks that need it are not run
			}
			return Bind(fn), nil
		},
	}
}

// available says why a device cannot run the checks.
func available(name string) error {
	_, err := cuda.Open(name)
	return err
}

// DTypes are those of the workshops, with the shorter ones last.
func DTypes() []cuda.DType { return []cuda.DType{cuda.F32, cuda.F16, cuda.BF16} }

// Options are a call's options by name.
type Options = map[string]any

// Stream is the check that work goes to the current stream when that is not the default
// one: it runs run there.
func Stream(needs string, run func(*T, Function)) workshops.NamedCheck {
	return Check("non-default stream", needs, func(t *T, f Function) { t.OnStream(func() { run(t, f) }) })
}

// Lifetimes are the checks that host and released tensors are rejected, as each argument
// of a call with the inputs that draw makes.
func Lifetimes(needs string, draw func(*T) []*Input, options Options) []workshops.NamedCheck {
	check := func(name, what string, spoil func(*T, *cuda.Tensor) *cuda.Tensor) workshops.NamedCheck {
		return Check(name, needs, func(t *T, f Function) {
			args := Tensors(draw(t)...)
			for i := range args {
				bad := slices.Clone(args)
				bad[i] = spoil(t, args[i])
				t.Rejects(fmt.Sprintf("%s as argument %d", what, i+1), func() (*cuda.Tensor, error) { return f(bad, options) })
			}
		})
	}
	return []workshops.NamedCheck{
		check("reject host tensor", "a tensor in the host's memory", func(t *T, x *cuda.Tensor) *cuda.Tensor {
			host, err := x.To(nil)
			t.must(err)
			return host
		}),
		check("reject released tensor", "a released tensor", func(t *T, x *cuda.Tensor) *cuda.Tensor {
			gone, err := x.To(t.Dev)
			t.must(err)
			t.must(gone.Release())
			return gone
		}),
	}
}

// Tensors are the inputs' tensors.
func Tensors(inputs ...*Input) []*cuda.Tensor {
	list := make([]*cuda.Tensor, len(inputs))
	for i, in := range inputs {
		list[i] = in.Tensor
	}
	return list
}

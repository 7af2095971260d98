package gotool_test

import (
	"errors"
	"go/doc"
	"testing"

	"github.com/warpbook/warpbook/kernel/gotool"
	"github.com/warpbook/warpbook/kernel/gotool/moduletest"
)

// Where the sources are gone, the documentation of every package is that of the
// sources: the same names with the same comments.
func TestDocWithoutSource(t *testing.T) {
	full, exe := toolchain(t)
	bare, err := gotool.Find(moduletest.Program(t, exe, withoutSources))
	var un *gotool.Unavailable
	if !errors.As(err, &un) || bare == nil {
		t.Fatalf("got %v, %v; want a Toolchain that cannot compile", bare, err)
	}
	paths := []string{"builtin"}
	for _, p := range full.Packages() {
		paths = append(paths, p.Path)
	}
	for _, path := range paths {
		want, err := full.Doc(path)
		if err != nil {
			t.Fatal(err)
		}
		want = want.Full()
		got, err := bare.Doc(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if got = got.Full(); !got.Abridged || want.Abridged {
			t.Errorf("%s: abridged is %t without and %t with the source", path, got.Abridged, want.Abridged)
		}
		w, g := comments(want), comments(got)
		for name, text := range w {
			if have, ok := g[name]; !ok || have != text {
				t.Errorf("%s: %s is %.60q; want %.60q", path, name, have, text)
			}
		}
		if len(w) != len(g) {
			t.Errorf("%s: %d names; want %d", path, len(g), len(w))
		}
	}
}

func withoutSources(rec *gotool.Record) { rec.GOROOT, rec.Source = "/gone/go", "/gone/source" }

// comments are the doc comments of a package, by name.
func comments(d *gotool.Docs) map[string]string {
	all := map[string]string{"package": d.Package.Doc}
	funcs := func(prefix string, list []*doc.Func) {
		for _, f := range list {
			all[prefix+f.Name] = f.Doc
		}
	}
	values := func(list []*doc.Value) {
		for _, v := range list {
			for _, name := range v.Names {
				if name != "_" {
					all[name] = v.Doc
				}
			}
		}
	}
	funcs("", d.Funcs)
	values(d.Consts)
	values(d.Vars)
	for _, t := range d.Types {
		all[t.Name] = t.Doc
		funcs("", t.Funcs)
		funcs(t.Name+".", t.Methods)
		values(t.Consts)
		values(t.Vars)
	}
	return all
}

func BenchmarkDoc(b *testing.B) {
	full, exe := toolchain(b)
	bare, _ := gotool.Find(moduletest.Program(b, exe, withoutSources)) // it cannot compile
	for name, tc := range map[string]*gotool.Toolchain{"source": full, "archive": bare} {
		dir := exe
		if name == "archive" {
			dir = moduletest.Program(b, exe, withoutSources)
		}
		for _, path := range []string{"strings", "net/http", "syscall"} {
			b.Run(name+"/"+path, func(b *testing.B) {
				for b.Loop() {
					if tc, _ = gotool.Find(dir); tc == nil {
						b.Fatal("no toolchain")
					}
					d, err := tc.Doc(path)
					if err != nil {
						b.Fatal(err)
					}
					if name == "source" {
						d.Full()
					}
				}
			})
		}
	}
}

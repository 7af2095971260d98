package gotool

import (
	"archive/zip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Package is one that a cell may import.
type Package struct {
	Path string
	Name string
	Dir  string // folder of its source
	// Standard and Own tell the standard library and Warpbook's packages from
	// other modules'. Only these two are imported without being asked for.
	Standard, Own bool
	// Got is a package of a module that the session got: imported like those two,
	// after them.
	Got bool `json:",omitempty"`
}

// indexFile is the member of the archive that lists its packages.
const indexFile = "index.json"

// exports is the archive of export data and documentation: one member a package
// of each, and an index.
type exports struct {
	zip      *zip.Reader
	members  map[string]*zip.File
	packages []Package
}

func openExports(name string) (*exports, error) {
	// The file stays open as long as the process: packages are read when used.
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	r, err := zip.NewReader(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	x := &exports{zip: r, members: make(map[string]*zip.File, len(r.File))}
	for _, m := range r.File {
		x.members[m.Name] = m
	}
	index, err := x.read(indexFile)
	if err == nil {
		err = json.Unmarshal(index, &x.packages)
	}
	if err != nil {
		return nil, fmt.Errorf("%s has no index: %w", name, err)
	}
	return x, nil
}

// read returns a member, or nil when there is none of that name.
func (x *exports) read(name string) ([]byte, error) {
	m := x.members[name]
	if m == nil {
		return nil, nil
	}
	r, err := m.Open()
	if err != nil {
		return nil, fmt.Errorf("cannot read the types of %s, run `warpbook install` again: %w", name, err)
	}
	defer r.Close()
	data := make([]byte, m.UncompressedSize64)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, fmt.Errorf("cannot read the types of %s, run `warpbook install` again: %w", name, err)
	}
	return data, nil
}

// Packages returns what cells may import, ordered by path: the standard
// library, Warpbook's own packages, and those of other modules that it brings or that the session got.
// The caller must not change the slice.
func (t *Toolchain) Packages() []Package {
	t.mods.mu.Lock()
	got, all := t.mods.packages, t.mods.all
	t.mods.mu.Unlock()
	if len(got) == 0 {
		return t.brought()
	}
	if all == nil {
		own := map[string]bool{}
		for _, p := range got {
			own[p.Path] = true
		}
		all = slices.DeleteFunc(slices.Clone(t.brought()), func(p Package) bool { return own[p.Path] })
		all = append(all, got...)
		sortPackages(all)
		t.mods.mu.Lock()
		t.mods.all = all
		t.mods.mu.Unlock()
	}
	return all
}

// brought are the packages that need no module of the session's.
func (t *Toolchain) brought() []Package {
	if t.exports != nil {
		return t.exports.packages
	}
	var packages []Package
	known, _ := t.list.lookup(nil)
	for _, p := range known {
		if t.public(p) {
			packages = append(packages, t.describe(p))
		}
	}
	sortPackages(packages)
	return packages
}

func sortPackages(p []Package) {
	slices.SortFunc(p, func(a, b Package) int { return strings.Compare(a.Path, b.Path) })
}

func (t *Toolchain) describe(p compiled) Package {
	return Package{Path: p.Path, Name: p.Name, Dir: p.Dir, Standard: p.Standard, Own: strings.HasPrefix(p.Path, t.record.Module+"/")}
}

// extras are packages of other modules whose types the archive brings.
var extras = []string{
	"gonum.org/v1/gonum/floats", "gonum.org/v1/gonum/mat", "gonum.org/v1/gonum/stat",
	"gonum.org/v1/plot", "gonum.org/v1/plot/palette", "gonum.org/v1/plot/plotter", "gonum.org/v1/plot/plotutil",
	"gonum.org/v1/plot/vg", "gonum.org/v1/plot/vg/draw",
}

// extras returns those whose module the program's module requires.
func (t *Toolchain) extras() []string {
	mod, err := os.ReadFile(filepath.Join(t.record.Source, "go.mod"))
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(extras), func(path string) bool {
		module := strings.Join(strings.SplitN(path, "/", 4)[:3], "/")
		return !strings.Contains(string(mod), module+" v")
	})
}

// public tells whether cells are offered p.
func (t *Toolchain) public(p compiled) bool {
	if p.Name == "main" || slices.ContainsFunc(strings.Split(p.Path, "/"), func(s string) bool { return s == "internal" || s == "vendor" || s == "testdata" }) {
		return false
	}
	rel, own := strings.CutPrefix(p.Path, t.record.Module+"/")
	if !own {
		return p.Standard || slices.Contains(extras, p.Path)
	}
	return !slices.Contains(hidden, filepath.Base(rel)) && slices.ContainsFunc(facades, func(f string) bool { return rel == f || strings.HasPrefix(rel, f+"/") })
}

// hidden are folders below a facade that cells have no use for: what is linked
// into the program only, and both ends of an exercise. They can be imported.
var hidden = []string{"render", "runner", "solution", "starter"}

// WriteExports writes the archive of export data and documentation: the public
// packages of the standard library and of Warpbook, as plugins are compiled
// against them, and the extras as the program has them.
func (t *Toolchain) WriteExports(ctx context.Context, w io.Writer) error {
	packages, err := t.archives(ctx, nil)
	if err != nil {
		return err
	}
	// Compiled as the program has them: they are already in the build cache.
	var more []compiled
	if wanted := t.extras(); len(wanted) > 0 {
		if more, err = t.golist(ctx, "exe", wanted); err != nil {
			return err
		}
	}
	z := zip.NewWriter(w)
	var index []Package
	add := func(p compiled) error {
		if t.public(p) {
			index = append(index, t.describe(p))
		} else if p.Path != t.record.Module+"/"+Runtime {
			return nil
		}
		data, err := archiveExports(p.Archive)
		if err != nil {
			return err
		}
		if err := writeMember(z, p.Path, data); err != nil || !t.public(p) {
			return err
		}
		return t.writeDoc(z, p.Dir, p.Path)
	}
	for _, p := range packages {
		if err := add(p); err != nil {
			return err
		}
	}
	for _, p := range more {
		if _, have := packages[p.Path]; !have && slices.Contains(extras, p.Path) {
			if err := add(p); err != nil {
				return err
			}
		}
	}
	if err := t.writeDoc(z, filepath.Join(t.record.GOROOT, "src", "builtin"), "builtin"); err != nil {
		return err
	}
	sortPackages(index)
	data, err := json.Marshal(index)
	if err != nil {
		return fmt.Errorf("cannot write the index of packages: %w", err)
	}
	if err := writeMember(z, indexFile, data); err != nil {
		return err
	}
	return z.Close()
}

func (t *Toolchain) writeDoc(z *zip.Writer, dir, path string) error {
	data, err := docMember(dir, path)
	if err != nil {
		return err
	}
	return writeMember(z, docPrefix+path, data)
}

func writeMember(z *zip.Writer, name string, data []byte) error {
	w, err := z.CreateHeader(&zip.FileHeader{Name: filepath.ToSlash(name), Method: zip.Deflate, Modified: time.Unix(0, 0)})
	if err == nil {
		_, err = w.Write(data)
	}
	if err != nil {
		return fmt.Errorf("cannot write what is known of %s: %w", name, err)
	}
	return nil
}

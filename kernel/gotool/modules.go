package gotool

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Module is a module at a version.
type Module struct {
	Path    string
	Version string
	Dir     string // where its source lies; "" for one that is only required
}

func (m Module) String() string { return m.Path + "@" + m.Version }

// modules are those that the session has besides the program's. They stand in
// a go.mod of the session's own, a copy of the program's with more
// requirements, which the go command is given with -modfile. The program's
// source is never written.
//
// One process holds one version of a package. So the versions that the program
// links are pinned, and so are those that cells of the session use already.
type modules struct {
	getting sync.Mutex // held by Get: one at a time

	mu       sync.Mutex
	file     string            // the session's go.mod; "" while there is none
	got      []Module          // what was asked for, ordered by path
	versions map[string]string // requirements of the file: path to version
	packages []Package         // what the modules in got offer
	all      []Package         // those and the archive's, for Packages
	used     map[string]string // modules that the session's cells know: path to version
	linked   map[string]string // modules that the program links; nil until asked for
}

// Modules returns the modules that the session got, ordered by path.
func (t *Toolchain) Modules() []Module {
	t.mods.mu.Lock()
	defer t.mods.mu.Unlock()
	return slices.Clone(t.mods.got)
}

// Fresh says that a new process runs the cells from now on: nothing of the
// session's modules is in use any more.
func (t *Toolchain) Fresh() {
	t.mods.mu.Lock()
	t.mods.used = nil
	t.mods.mu.Unlock()
	t.list.unuse("")
}

// Get adds modules to the session, as go get does: every query is the path of a
// module or package, with @version or without. Dir is a folder of the session,
// where the go.mod of its own will lie. What the go command says goes to out. An
// error leaves everything as it was.
func (t *Toolchain) Get(ctx context.Context, dir string, queries []string, out io.Writer) ([]Module, error) {
	if t.broken != nil {
		return nil, fmt.Errorf("modules cannot be added: %w", t.broken)
	}
	for _, q := range queries {
		if path, _, _ := strings.Cut(q, "@"); strings.HasPrefix(q, "-") || strings.Contains(q, "...") || !strings.Contains(strings.Split(path, "/")[0], ".") {
			return nil, fmt.Errorf("%q is not the path of a module: write %%get example.com/module or %%get example.com/module@v1.2.3", q)
		}
	}
	t.mods.getting.Lock()
	defer t.mods.getting.Unlock()
	file, err := t.moduleFile(dir)
	if err != nil {
		return nil, err
	}
	got, err := t.get(ctx, file, queries, out)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(filepath.Dir(file)))
	}
	return got, nil
}

func (t *Toolchain) get(ctx context.Context, file string, queries []string, out io.Writer) ([]Module, error) {
	args := append([]string{"get", "-modfile=" + file, "--"}, queries...)
	var text tail
	if err := t.stream(ctx, t.record.Source, io.MultiWriter(&text, out), t.record.Go, args...); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("cannot get %s: %s", strings.Join(queries, " "), text.last(err))
	}
	versions, err := t.requirements(ctx, file)
	if err != nil {
		return nil, err
	}
	if err := t.pinned(versions); err != nil {
		return nil, err
	}
	var got []Module
	for _, q := range queries {
		path, version, _ := strings.Cut(q, "@")
		if version == "none" {
			continue
		}
		m, err := t.holder(ctx, file, path, versions)
		if err != nil {
			return nil, err
		}
		got = append(got, m)
		if err := t.precompile(ctx, file, path, m, out); err != nil {
			return nil, err
		}
	}
	// Packages deep down may have brought requirements that go get did not need.
	if versions, err = t.requirements(ctx, file); err != nil {
		return nil, err
	}
	if err := t.pinned(versions); err != nil {
		return nil, err
	}
	return got, t.take(file, versions, got)
}

// take makes what was got the session's.
func (t *Toolchain) take(file string, versions map[string]string, got []Module) error {
	s := &t.mods
	s.mu.Lock()
	all := slices.Clone(s.got)
	s.mu.Unlock()
	for _, m := range got {
		all = slices.DeleteFunc(all, func(have Module) bool { return have.Path == m.Path })
		all = append(all, m)
	}
	all = slices.DeleteFunc(all, func(m Module) bool { return versions[m.Path] == "" })
	slices.SortFunc(all, func(a, b Module) int { return strings.Compare(a.Path, b.Path) })
	var packages []Package
	for i := range all {
		if v := versions[all[i].Path]; v != all[i].Version { // another get moved it
			all[i].Dir = strings.Replace(all[i].Dir, "@"+all[i].Version, "@"+v, 1)
			all[i].Version = v
		}
		offered, err := packagesIn(all[i])
		if err != nil {
			return fmt.Errorf("cannot read module %s: %w", all[i], err)
		}
		packages = append(packages, offered...)
	}
	s.mu.Lock()
	s.file, s.got, s.versions, s.packages, s.all = file, all, versions, packages, nil
	s.mu.Unlock()
	t.list.require(versions)
	return nil
}

// moduleFile makes a go.mod that the go command may change, in a folder of its
// own: the one in use stays as it is until all has gone well.
func (t *Toolchain) moduleFile(dir string) (string, error) {
	t.mods.mu.Lock()
	from := t.mods.file
	t.mods.mu.Unlock()
	if from == "" {
		from = filepath.Join(t.record.Source, "go.mod")
	}
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		dir, err = os.MkdirTemp(dir, "get-")
	}
	if err != nil {
		return "", fmt.Errorf("cannot make a folder for the session's modules: %w", err)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(filepath.Dir(from), name))
		if errors.Is(err, os.ErrNotExist) && name == "go.sum" {
			continue // a module without requirements has none
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o644)
		}
		if err != nil {
			return "", fmt.Errorf("cannot copy Warpbook's %s for the session: %w", name, err)
		}
	}
	return filepath.Join(dir, "go.mod"), nil
}

// requirements reads the versions that a go.mod requires.
func (t *Toolchain) requirements(ctx context.Context, file string) (map[string]string, error) {
	out, text, err := t.run(ctx, t.record.Source, t.record.Go, "mod", "edit", "-json", file)
	if err != nil {
		return nil, fmt.Errorf("cannot read the session's go.mod: %w", errors.Join(err, errors.New(text)))
	}
	var mod struct{ Require []Module }
	if err := json.Unmarshal(out, &mod); err != nil {
		return nil, fmt.Errorf("cannot read the session's go.mod: %w", err)
	}
	versions := map[string]string{}
	for _, m := range mod.Require {
		versions[m.Path] = m.Version
	}
	return versions, nil
}

// pinned checks versions against what the program links and what cells use.
func (t *Toolchain) pinned(versions map[string]string) error {
	linked, err := t.links()
	if err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(linked)) {
		if now := versions[path]; now != linked[path] {
			return t.conflict(path, linked[path], now)
		}
	}
	t.mods.mu.Lock()
	defer t.mods.mu.Unlock()
	for _, path := range slices.Sorted(maps.Keys(t.mods.used)) {
		if now := versions[path]; now != t.mods.used[path] {
			return fmt.Errorf("cells of this session use %s %s already, and a process holds one version of a package: run %%reset, then this again", path, t.mods.used[path])
		}
	}
	return nil
}

func (t *Toolchain) conflict(path, linked, now string) error {
	if now == "" {
		return fmt.Errorf("the running program links %s %s, so it cannot be taken away", path, linked)
	}
	return fmt.Errorf("this would change %s from %s to %s, but the running program links %s and a process holds one version of a package: "+
		"get a version that is content with %s, or run `go get %s@%s` in %s and `warpbook install` there",
		path, linked, now, linked, linked, path, now, t.record.Source)
}

// links are the modules that the program links, with their versions. Replaced
// ones have none that could change.
func (t *Toolchain) links() (map[string]string, error) {
	t.mods.mu.Lock()
	defer t.mods.mu.Unlock()
	if t.mods.linked != nil {
		return t.mods.linked, nil
	}
	info, err := buildinfo.ReadFile(t.exe)
	if err != nil {
		return nil, fmt.Errorf("cannot read what modules the running program links: %w", err)
	}
	t.mods.linked = map[string]string{}
	for _, m := range info.Deps {
		if m.Replace == nil {
			t.mods.linked[m.Path] = m.Version
		}
	}
	return t.mods.linked, nil
}

// holder finds the module that holds a path, and where it lies.
func (t *Toolchain) holder(ctx context.Context, file, path string, versions map[string]string) (Module, error) {
	best := ""
	for m := range versions {
		if (path == m || strings.HasPrefix(path, m+"/")) && len(m) > len(best) {
			best = m
		}
	}
	if best == "" {
		return Module{}, fmt.Errorf("%s is in no module that was got: write the module's path", path)
	}
	out, text, err := t.run(ctx, t.record.Source, t.record.Go, "mod", "download", "-modfile="+file, "-json", best)
	var m Module
	if err == nil {
		err = json.Unmarshal(out, &m)
	}
	if err != nil {
		return m, fmt.Errorf("cannot download %s: %w", best, errors.Join(err, errors.New(strings.TrimSpace(text))))
	}
	return m, nil
}

// most is the number of packages of a module that Get compiles at once; those
// of a larger one are compiled when they are imported.
const most = 20

// precompile compiles the package of a path, or the packages below it, so that
// the first import does not take long. What does not compile says so when it is
// imported.
func (t *Toolchain) precompile(ctx context.Context, file, path string, m Module, out io.Writer) error {
	offered, err := packagesIn(m)
	if err != nil {
		return fmt.Errorf("cannot read module %s: %w", m, err)
	}
	var paths []string
	for _, p := range offered {
		if strings.HasPrefix(p.Path, path+"/") {
			paths = append(paths, p.Path)
		}
	}
	folder := filepath.Join(m.Dir, filepath.FromSlash(strings.TrimPrefix(path, m.Path)))
	if files, _ := filepath.Glob(filepath.Join(folder, "*.go")); len(files) > 0 {
		paths = []string{path}
	}
	if len(paths) == 0 || len(paths) > most {
		return nil
	}
	fmt.Fprintf(out, "compiling %s\n", strings.Join(paths, ", "))
	args := append([]string{"list", "-e", "-export", "-deps", "-trimpath", "-installsuffix", "dynlink", "-buildmode=plugin", "-modfile=" + file, "-mod=mod",
		"-f", "{{if not .Standard}}{{if .CgoFiles}}{{.ImportPath}} {{with .Module}}{{.Path}}{{end}}{{end}}{{end}}", "--"}, paths...)
	listed, _, err := t.run(ctx, t.record.Source, t.record.Go, args...)
	if err != nil { // what failed says why when it is imported
		return ctx.Err()
	}
	linked, err := t.links()
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(listed)) {
		pkg, module, ok := strings.Cut(strings.TrimSpace(line), " ")
		if ok && linked[module] == "" && len(paths) == 1 {
			return holdsC(pkg)
		}
	}
	return nil
}

// sessionFlags are the arguments of go list that give it the session's modules.
func (t *Toolchain) sessionFlags() []string {
	t.mods.mu.Lock()
	defer t.mods.mu.Unlock()
	if t.mods.file == "" {
		return nil
	}
	return []string{"-modfile=" + t.mods.file, "-mod=mod"}
}

// provided returns nil when a module that the session knows may hold path. The
// go command is not asked for others: it would look for them in the network.
func (t *Toolchain) provided(path string) error {
	t.mods.mu.Lock()
	defer t.mods.mu.Unlock()
	if t.mods.file == "" || !strings.Contains(strings.Split(path, "/")[0], ".") || strings.HasPrefix(path, t.record.Module+"/") {
		return nil
	}
	for m := range t.mods.versions {
		if path == m || strings.HasPrefix(path, m+"/") {
			return nil
		}
	}
	return notGot(path)
}

func notGot(path string) error {
	return fmt.Errorf("no module of this session has package %s: run %%get %s first", path, path)
}

// use notes the modules of a package and of all that it imports, and refuses C.
func (t *Toolchain) use(path string, packages map[string]compiled) error {
	linked, err := t.links()
	if err != nil {
		return err
	}
	used := map[string]string{}
	if err := walk(path, packages, map[string]bool{}, func(p compiled) error {
		module, version, ok := strings.Cut(p.Module, "@")
		if !ok || version == "" {
			return nil // the standard library, or the program's own
		}
		if v, ok := linked[module]; ok {
			if v != version {
				return t.conflict(module, v, version)
			}
		} else if p.Cgo {
			return holdsC(p.Path)
		}
		used[module] = version
		return nil
	}); err != nil {
		t.list.unuse(path)
		return err
	}
	t.mods.mu.Lock()
	defer t.mods.mu.Unlock()
	if t.mods.used == nil {
		t.mods.used = map[string]string{}
	}
	maps.Copy(t.mods.used, used)
	return nil
}

// walk calls f for a package and all that it imports.
func walk(path string, packages map[string]compiled, seen map[string]bool, f func(compiled) error) error {
	p, ok := packages[path]
	if !ok || seen[path] {
		return nil
	}
	seen[path] = true
	if err := f(p); err != nil {
		return err
	}
	for _, dep := range p.Imports {
		if err := walk(dep, packages, seen, f); err != nil {
			return err
		}
	}
	return nil
}

func holdsC(path string) error {
	return fmt.Errorf("package %s holds C code (cgo), which cells cannot link: use a package that is all Go", path)
}

// tail keeps the end of what the go command said.
type tail struct{ bytes.Buffer }

func (w *tail) Write(p []byte) (int, error) {
	n, err := w.Buffer.Write(p)
	if extra := w.Len() - 16<<10; extra > 0 {
		w.Next(extra)
	}
	return n, err
}

// last is the last thing said that is more than progress.
func (w *tail) last(err error) string {
	var lines []string
	for line := range strings.Lines(w.String()) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "go: downloading ") && !strings.HasPrefix(line, "go: added ") {
			lines = append(lines, strings.TrimPrefix(line, "go: "))
		}
	}
	if len(lines) == 0 {
		return err.Error()
	}
	return strings.Join(lines, "\n")
}

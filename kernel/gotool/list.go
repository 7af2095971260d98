package gotool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Runtime is the package, within the program's module, that every compiled cell links.
const Runtime = "kernel/rt"

// facades are the packages of the program's module that cells may import, as
// folders below its root. A folder that does not exist yet is left out.
var facades = []string{"display", "workshops", "cuda"}

// stale is the age at which a remembered listing is made again in the
// background: the go command removes from its cache what was not listed for five days.
const stale = 24 * time.Hour

// compiled is one line of a listing: a package and where its archive lies.
type compiled struct {
	Path     string
	Name     string
	Dir      string
	Archive  string
	Standard bool
	Cgo      bool
	Module   string `json:",omitempty"` // "path@version"; of the program's own only the path
	Imports  []string
}

// listing knows the archives of compiled packages. It is kept in a file that
// belongs to one build of the program.
type listing struct {
	mu       sync.Mutex
	memo     string // file; "" keeps nothing
	loaded   bool
	packages map[string]compiled
	versions map[string]string // of modules, where the session requires its own
	session  map[string]bool   // packages that only this session has, which the memo must not get
	used     []string          // what lookup found so far: a plugin links earlier cells too
}

type memo struct {
	Made     time.Time
	Packages []compiled
}

func memoFile(rec Record) string {
	dir, err := os.UserCacheDir()
	if err != nil || rec.ID == "" {
		return ""
	}
	return filepath.Join(dir, "warpbook", "packages-"+rec.ID[:min(16, len(rec.ID))]+".json")
}

// format makes one tab separated line of each package that has an archive.
const format = "{{if .Export}}{{.ImportPath}}\t{{.Name}}\t{{.Dir}}\t{{.Export}}\t{{.Standard}}\t{{len .CgoFiles}}\t{{with .Module}}{{.Path}}{{with .Version}}@{{.}}{{end}}{{end}}\t{{join .Imports \",\"}}{{end}}"

// golist runs go list for packages and all that they need. Mode "plugin"
// compiles them as plugins need them, "exe" as the program itself has them.
func (t *Toolchain) golist(ctx context.Context, mode string, patterns []string) ([]compiled, error) {
	args := []string{"list", "-export", "-deps", "-trimpath"}
	if mode == "plugin" {
		args = append(args, "-installsuffix", "dynlink", "-buildmode=plugin")
	}
	session := t.sessionFlags()
	args = append(append(append(args, session...), "-f", format, "--"), patterns...)
	out, errText, err := t.run(ctx, t.record.Source, t.record.Go, args...)
	if err != nil {
		return nil, listError(ctx, patterns, errText, err)
	}
	return parseListing(out), nil
}

func listError(ctx context.Context, patterns []string, text string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	what := strings.Join(patterns, ", ")
	if len(patterns) > 3 {
		what = fmt.Sprintf("%d packages", len(patterns))
	}
	for _, p := range patterns {
		if strings.Contains(text, "no required module provides package "+p) {
			return notGot(p)
		}
	}
	if text = strings.TrimSpace(text); text == "" {
		text = err.Error()
	}
	return fmt.Errorf("cannot compile %s for use in cells: %s", what, text)
}

func parseListing(out []byte) []compiled {
	var packages []compiled
	for line := range bytes.Lines(out) {
		f := strings.Split(strings.TrimRight(string(line), "\n"), "\t")
		if len(f) != 8 {
			continue // a package without an archive: unsafe
		}
		p := compiled{Path: f[0], Name: f[1], Dir: f[2], Archive: f[3], Standard: f[4] == "true", Cgo: f[5] != "0", Module: f[6]}
		if f[7] != "" {
			p.Imports = strings.Split(f[7], ",")
		}
		packages = append(packages, p)
	}
	return packages
}

// archives returns all known compiled packages, after making sure that those
// in paths are among them and still exist.
func (t *Toolchain) archives(ctx context.Context, paths []string) (map[string]compiled, error) {
	packages, missing := t.list.lookup(paths)
	if len(missing) == 0 {
		return packages, nil
	}
	// Always with the program's own packages, so that all have one version.
	return t.compileAll(ctx, append(missing, t.basic()...))
}

// compileAll has the go command compile paths and all that they import, where
// its cache lacks them, and remembers where they lie.
func (t *Toolchain) compileAll(ctx context.Context, paths []string) (map[string]compiled, error) {
	found, err := t.golist(ctx, "plugin", paths)
	if err != nil {
		return nil, err
	}
	return t.list.add(found), nil
}

// basic is what every cell needs.
func (t *Toolchain) basic() []string {
	paths := []string{"runtime", "runtime/cgo", "plugin"}
	if t.exists(Runtime) {
		paths = append(paths, t.record.Module+"/"+Runtime)
	}
	return paths
}

func (t *Toolchain) exists(folder string) bool {
	files, _ := filepath.Glob(filepath.Join(t.record.Source, folder, "*.go"))
	return len(files) > 0
}

// lookup returns the known packages and which of paths are not among them.
// The map never changes: add makes another one.
func (l *listing) lookup(paths []string) (packages map[string]compiled, missing []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.load()
	seen := map[string]bool{}
	for _, p := range append(slices.Clone(paths), l.used...) {
		if !l.complete(p, seen) || l.moved(p) {
			missing = append(missing, p)
		} else if !slices.Contains(l.used, p) {
			l.used = append(l.used, p)
		}
	}
	return l.packages, missing
}

// add remembers what is new. What is known stays while it exists: it is what
// the program was built with, and the source may have been edited since.
func (l *listing) add(found []compiled) map[string]compiled {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.load()
	l.packages = maps.Clone(l.packages)
	moved := map[string]bool{} // before any is replaced
	for _, p := range found {
		moved[p.Path] = l.moved(p.Path)
	}
	for _, p := range found {
		if _, err := os.Stat(l.packages[p.Path].Archive); err != nil || moved[p.Path] {
			l.packages[p.Path] = p
			if l.versions != nil && strings.Contains(p.Module, "@") {
				l.session[p.Path] = true
			}
		}
	}
	if err := l.save(); err != nil {
		l.memo = "" // a folder that cannot be written to costs each kernel a listing
	}
	return l.packages
}

// require tells the versions that the session's modules have from now on.
func (l *listing) require(versions map[string]string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.versions = versions
	if l.session == nil {
		l.session = map[string]bool{}
	}
}

// unuse forgets that a package, or with "" that any package, is in use.
func (l *listing) unuse(path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used = slices.DeleteFunc(l.used, func(used string) bool { return path == "" || used == path })
}

// moved tells whether the session has another version of a known package, or
// of one that it imports.
func (l *listing) moved(path string) bool {
	if l.versions == nil {
		return false
	}
	return walk(path, l.packages, map[string]bool{}, func(p compiled) error {
		module, version, _ := strings.Cut(p.Module, "@")
		if now := l.versions[module]; version != "" && now != "" && now != version {
			return errMoved
		}
		return nil
	}) != nil
}

var errMoved = errors.New("another version")

// forget starts anew, whatever the memo says.
func (l *listing) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loaded, l.packages = true, map[string]compiled{}
}

// load reads the memo once. A damaged or missing memo only costs a listing.
func (l *listing) load() {
	if l.loaded {
		return
	}
	l.loaded = true
	l.packages = map[string]compiled{}
	data, err := os.ReadFile(l.memo)
	if err != nil {
		return
	}
	var m memo
	if json.Unmarshal(data, &m) != nil {
		return
	}
	for _, p := range m.Packages {
		l.packages[p.Path] = p
	}
}

// complete tells whether path and everything that it imports has an archive
// that still exists: the go command may have trimmed its cache. What is in seen
// counts as complete.
func (l *listing) complete(path string, seen map[string]bool) bool {
	if seen[path] || path == "unsafe" || path == "C" {
		return true
	}
	p, ok := l.packages[path]
	if !ok {
		if p, ok = l.packages["vendor/"+path]; !ok {
			return false
		}
	}
	if _, err := os.Stat(p.Archive); err != nil {
		return false
	}
	for _, dep := range p.Imports {
		if !l.complete(dep, seen) {
			return false
		}
	}
	seen[path] = true
	return true
}

// forgotten is the age at which the memo of another build is removed.
const forgotten = 30 * 24 * time.Hour

// prune removes what builds of the program that nobody uses any more left.
func (l *listing) prune() {
	if l.memo == "" {
		return
	}
	memos, _ := filepath.Glob(filepath.Join(filepath.Dir(l.memo), "packages-*.json"))
	for _, name := range memos {
		if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()) > forgotten {
			os.Remove(name) // if it cannot be, the next installation tries again
		}
	}
}

// save replaces the memo in one step, so that two kernels may do it at once.
func (l *listing) save() error {
	if l.memo == "" {
		return nil
	}
	m := memo{Made: time.Now()}
	for _, p := range l.packages {
		if l.session[p.Path] {
			continue
		}
		m.Packages = append(m.Packages, p)
	}
	slices.SortFunc(m.Packages, func(a, b compiled) int { return strings.Compare(a.Path, b.Path) })
	data, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("cannot remember compiled packages: %w", err)
	}
	return replaceFile(l.memo, data)
}

func replaceFile(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("cannot write %s: %w", name, err)
	}
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+"-*")
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", name, err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", name, err)
	}
	return nil
}

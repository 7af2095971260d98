package gotool

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"go/token"
	"go/types"
	"io"
	"os"
	"sync"

	"golang.org/x/tools/go/gcexportdata"
)

// Importer gives the types of packages from their export data, each read when
// first asked for. It is safe for concurrent use. Packages of cells are put in
// with Add by whoever compiled them.
type Importer struct {
	t        *Toolchain
	fset     *token.FileSet
	mu       sync.Mutex
	packages map[string]*types.Package // shared with gcexportdata: complete and incomplete ones
}

// Importer makes an importer whose packages have their positions in fset.
func (t *Toolchain) Importer(fset *token.FileSet) *Importer {
	return &Importer{t: t, fset: fset, packages: map[string]*types.Package{}}
}

var _ types.ImporterFrom = (*Importer)(nil)

// Add makes a package known under its path.
func (im *Importer) Add(pkg *types.Package) {
	im.mu.Lock()
	defer im.mu.Unlock()
	im.packages[pkg.Path()] = pkg
}

// ImportFrom is Import: there is one module, so the folder does not matter.
func (im *Importer) ImportFrom(path, _ string, _ types.ImportMode) (*types.Package, error) {
	return im.Import(path)
}

// Import returns the types of the package with a path.
func (im *Importer) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if pkg := im.loaded(path); pkg != nil {
		return pkg, nil
	}
	data, err := im.t.exportData(path) // outside the lock: it may have to compile
	if err != nil {
		return nil, err
	}
	im.mu.Lock()
	defer im.mu.Unlock()
	if pkg := im.packages[path]; pkg != nil && pkg.Complete() {
		return pkg, nil
	}
	pkg, err := gcexportdata.Read(bytes.NewReader(data), im.fset, im.packages, path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the types of package %s, run `warpbook install` again: %w", path, err)
	}
	return pkg, nil
}

func (im *Importer) loaded(path string) *types.Package {
	im.mu.Lock()
	defer im.mu.Unlock()
	if pkg := im.packages[path]; pkg != nil && pkg.Complete() {
		return pkg
	}
	return nil
}

// exportData comes from the archive, or from the compiled package.
func (t *Toolchain) exportData(path string) ([]byte, error) {
	if t.exports != nil {
		if data, err := t.exports.read(path); data != nil || err != nil {
			return data, err
		}
	}
	if t.broken != nil {
		return nil, fmt.Errorf("package %s is not among those that Warpbook brings: %w", path, t.broken)
	}
	if err := t.provided(path); err != nil {
		return nil, err
	}
	packages, err := t.archives(t.importContext(), []string{path})
	if err != nil {
		return nil, err
	}
	p, ok := packages[path]
	if !ok {
		return nil, fmt.Errorf("package %s is not found: it is neither in the standard library nor in a module of Warpbook's", path)
	}
	if err := t.use(path, packages); err != nil {
		return nil, err
	}
	return archiveExports(p.Archive)
}

// During has imports that must compile something first end with ctx, until done
// is called: types.Importer passes no context on.
func (t *Toolchain) During(ctx context.Context) (done func()) {
	t.importing.Store(&ctx)
	return func() { t.importing.CompareAndSwap(&ctx, nil) }
}

func (t *Toolchain) importContext() context.Context {
	if ctx := t.importing.Load(); ctx != nil {
		return *ctx
	}
	return context.Background()
}

// archiveExports cuts the export data out of a compiled package.
func archiveExports(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("a compiled package is gone from the go build cache, run the cell again: %w", err)
	}
	defer f.Close()
	r, err := gcexportdata.NewReader(bufio.NewReader(f))
	if err != nil {
		return nil, fmt.Errorf("%s holds no types: %w", file, err)
	}
	return io.ReadAll(r)
}

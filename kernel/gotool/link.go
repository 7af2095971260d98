package gotool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// On ELF systems more than half of a plugin's link time goes into the C
// compiler: probes of its flags, its driver, and the slower of its linkers. So
// there the Go linker is given a stand-in that only writes its arguments down,
// and the system's linker is then run directly on the objects. Cells that link
// C code of other modules, and machines where this fails, take the usual way.

// recorder is the stand-in. It answers every probe with success.
const recorder = `#!/bin/sh
printf '%s\n' "$@" > "$(dirname "$0")/args"
`

// directLinker is the system's linker.
type directLinker struct {
	path string
}

func (t *Toolchain) link(ctx context.Context, u Unit, packages map[string]compiled, stem string) error {
	ld := t.direct()
	if ld == nil || linksC(packages) {
		return t.golink(ctx, u, stem, "-extld="+t.record.CC)
	}
	err := t.linkDirectly(ctx, ld, u, stem)
	if err == nil || ctx.Err() != nil {
		return err
	}
	// The usual way decides: if it works too, it is the linker's fault.
	if again := t.golink(ctx, u, stem, "-extld="+t.record.CC); again != nil {
		return again
	}
	t.linkMu.Lock()
	t.ldBad = true
	t.linkMu.Unlock()
	return nil
}

// linksC tells whether C code outside the standard library takes part.
func linksC(packages map[string]compiled) bool {
	for _, p := range packages {
		if p.Cgo && !p.Standard {
			return true
		}
	}
	return false
}

func (t *Toolchain) direct() *directLinker {
	t.linkMu.Lock()
	defer t.linkMu.Unlock()
	if t.ldBad || runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return nil
	}
	if t.ld != nil {
		return t.ld
	}
	for _, name := range []string{"ld.gold", "ld.lld", "ld.bfd", "ld"} {
		if path, err := exec.LookPath(name); err == nil {
			t.ld = &directLinker{path}
			return t.ld
		}
	}
	t.ldBad = true
	return nil
}

// golink runs the Go linker.
func (t *Toolchain) golink(ctx context.Context, u Unit, stem string, more ...string) error {
	args := []string{
		"-o", stem + ".so", "-importcfg", stem + ".cfg", "-installsuffix", "dynlink", "-pluginpath", u.Path,
		"-buildmode=plugin", "-buildid=" + u.Path, "-s", "-w",
	}
	args = append(append(args, more...), stem+".a")
	stdout, stderr, err := t.run(ctx, u.Dir, filepath.Join(t.record.ToolDir, "link"), args...)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("cannot link a cell: %w", errors.Join(err, errors.New(strings.TrimSpace(string(stdout)+stderr))))
}

func (t *Toolchain) linkDirectly(ctx context.Context, ld *directLinker, u Unit, stem string) error {
	work := stem + ".ld"
	if err := os.MkdirAll(work, 0o755); err != nil {
		return fmt.Errorf("cannot link a cell: %w", err)
	}
	defer os.RemoveAll(work)
	standIn := filepath.Join(work, "cc")
	if err := os.WriteFile(standIn, []byte(recorder), 0o755); err != nil {
		return fmt.Errorf("cannot link a cell: %w", err)
	}
	if err := t.golink(ctx, u, stem, "-extld="+standIn, "-tmpdir", work); err != nil {
		return err
	}
	recorded, err := os.ReadFile(filepath.Join(work, "args"))
	if err != nil {
		return fmt.Errorf("the Go linker did not call its external linker: %w", err)
	}
	args, err := ldArgs(strings.Split(strings.TrimSpace(string(recorded)), "\n"))
	if err != nil {
		return err
	}
	_, stderr, err := t.run(ctx, u.Dir, ld.path, append(args, libraryPaths()...)...)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("cannot link a cell: %w", errors.Join(err, errors.New(strings.TrimSpace(stderr))))
	}
	return err
}

// ldArgs turns arguments for the C compiler into arguments for the linker that
// it would call. What it does not know is an error, never a guess.
func ldArgs(cc []string) ([]string, error) {
	var args []string
	for i := 0; i < len(cc); i++ {
		a := cc[i]
		switch {
		case a == "-m64" || a == "-O2" || a == "-g" || a == "-pthread" || a == "-Qunused-arguments" || strings.HasPrefix(a, "-Wl,--compress-debug-sections"):
		case a == "-s" || a == "-shared" || strings.HasPrefix(a, "-l") || strings.HasSuffix(a, ".o"):
			args = append(args, a)
		case a == "-rdynamic":
			args = append(args, "--export-dynamic")
		case a == "-o" && i+1 < len(cc):
			i++
			args = append(args, "-o", cc[i])
		case strings.HasPrefix(a, "-Wl,"):
			args = append(args, strings.Split(a[len("-Wl,"):], ",")...)
		default:
			return nil, fmt.Errorf("cannot link a cell directly: unknown argument %q", a)
		}
	}
	return append(args, "-lc"), nil
}

// libraryPaths are the folders in which the C compiler finds the C library.
func libraryPaths() []string {
	folders := []string{"/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", "/usr/lib64", "/lib64", "/usr/lib", "/lib"}
	folders = slices.DeleteFunc(folders, func(dir string) bool { _, err := os.Stat(dir); return err != nil })
	for i, dir := range folders {
		folders[i] = "-L" + dir
	}
	return folders
}

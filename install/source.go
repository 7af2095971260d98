package install

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"sort"
	"strings"
)

// Module is the path of the module that this program is built from.
const Module = "github.com/warpbook/warpbook"

// FindSource finds the module's source: at hint when it is given; else around
// the working folder, around the program, in the copy that an installation at
// place was built from, and in the module cache.
func FindSource(ctx context.Context, place Place, hint string) (string, error) {
	if hint != "" {
		if dir, ok := moduleAbove(hint); ok {
			return dir, nil
		}
		return "", fmt.Errorf("%s is not inside the source of %s; --source names a clone of it", hint, Module)
	}
	starts := []string{"."}
	if exe, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(exe); err == nil {
			exe = real
		}
		starts = append(starts, filepath.Dir(exe))
	}
	if s, err := place.state(); err == nil && s.Hash != "" {
		starts = append(starts, filepath.Join(place.Root, "src", s.Hash))
	}
	for _, start := range starts {
		if dir, ok := moduleAbove(start); ok {
			return dir, nil
		}
	}
	if dir, ok := moduleCached(ctx); ok {
		return dir, nil
	}
	return "", errors.New("the source of Warpbook was not found; run this in a clone of it, or say --source DIR")
}

// moduleAbove looks for the module's go.mod in dir and the folders above it.
func moduleAbove(dir string) (string, bool) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", false
	}
	for {
		if raw, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil {
			first, _, _ := strings.Cut(strings.TrimSpace(string(raw)), "\n")
			if strings.TrimSpace(first) == "module "+Module {
				return dir, true
			}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}

// moduleCached asks go for the source of the version that this program is.
func moduleCached(ctx context.Context) (string, bool) {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Path != Module || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "", false
	}
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-x=false", Module+"@"+info.Main.Version)
	cmd.Dir = os.TempDir()
	if err := cmd.Run(); err != nil {
		return "", false
	}
	cmd = exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", Module+"@"+info.Main.Version)
	cmd.Dir = os.TempDir()
	cmd.Env = append(os.Environ(), "GO111MODULE=on")
	out, err := cmd.Output()
	dir := strings.TrimSpace(string(out))
	return dir, err == nil && dir != ""
}

// A source is the part of the module that a build needs: file names relative to
// dir, sorted, and a hash of names and contents.
type source struct {
	dir   string
	files []string
	hash  string
}

// skipped are folders at the module's root that no package of the program is in.
var skipped = map[string]bool{"build": true, "docs": true, "tests": true, "test-artifacts": true, "node_modules": true}

// readSource lists and hashes the module's source in dir.
func readSource(dir string) (source, error) {
	s := source{dir: dir}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil || rel == "." {
			return err
		}
		name := d.Name()
		switch {
		case d.IsDir():
			if name[0] == '.' || name == "testdata" || name == "__pycache__" || skipped[rel] {
				return fs.SkipDir
			}
		case name[0] == '.' || !d.Type().IsRegular() || strings.HasSuffix(name, "_test.go"):
		default:
			s.files = append(s.files, rel)
		}
		return nil
	})
	if err != nil {
		return s, fmt.Errorf("the source in %s cannot be read: %w", dir, err)
	}
	sort.Strings(s.files)
	h := sha256.New()
	for _, rel := range s.files {
		if err := hashFile(h, dir, rel); err != nil {
			return s, fmt.Errorf("the source in %s cannot be read: %w", dir, err)
		}
	}
	s.hash = hex.EncodeToString(h.Sum(nil))[:16]
	return s, nil
}

func hashFile(h io.Writer, dir, rel string) error {
	content, err := os.ReadFile(filepath.Join(dir, rel))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(h, "%s %d\n%s", filepath.ToSlash(rel), len(content), content)
	return err
}

// copyTo copies the source to dst, whole or not at all: it is made beside dst and renamed.
func (s source) copyTo(dst string) error {
	if _, err := os.Stat(filepath.Join(dst, "go.mod")); err == nil {
		return nil
	}
	tmp := dst + ".part"
	if err := os.RemoveAll(tmp); err != nil {
		return err
	}
	for _, rel := range s.files {
		content, err := os.ReadFile(filepath.Join(s.dir, rel))
		if err != nil {
			return err
		}
		to := filepath.Join(tmp, rel)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, content, 0o644); err != nil {
			return err
		}
	}
	return os.Rename(tmp, dst)
}

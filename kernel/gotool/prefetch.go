package gotool

import (
	"context"
	"io"
	"os"
	"path/filepath"
)

// Prefetch gets ready what the first compiled cell needs: it reads where the
// archives lie, and has the system hold the tools and the archives of everyday
// packages in memory. It costs some ten milliseconds when they are there
// already. A session calls it in the background as it starts.
func (t *Toolchain) Prefetch(ctx context.Context) error {
	if t.broken != nil {
		return t.broken
	}
	everyday := append(t.basic(), "fmt", "strings", "time")
	packages, err := t.archives(ctx, everyday)
	if err != nil {
		return err
	}
	files := []string{filepath.Join(t.record.ToolDir, "compile"), filepath.Join(t.record.ToolDir, "link")}
	if ld := t.direct(); ld != nil {
		files = append(files, ld.path)
	}
	seen := map[string]bool{}
	for _, path := range everyday {
		// The error of walk is f's, which has none.
		_ = walk(path, packages, seen, func(p compiled) error { files = append(files, p.Archive); return nil })
	}
	for _, name := range files {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := page(name); err != nil {
			return err
		}
	}
	return nil
}

// page reads a file for what that leaves in the system's memory.
func page(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(io.Discard, f)
	return err
}

package lesson

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/warpbook/warpbook/notebooks/nbformat"
)

// File is a notebook that a source makes, and where it belongs.
type File struct {
	Path     string
	Notebook *nbformat.Notebook
}

// Files builds the lesson at path, NAME.md in a folder of sources. Its
// notebooks are NAME.ipynb and NAME_solution.ipynb in the folder above, and what
// it includes lies below the folder above that.
func Files(path string) ([]File, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the lesson cannot be read: %w", err)
	}
	module := os.DirFS(filepath.Join(filepath.Dir(path), "..", ".."))
	starterNB, solutionNB, err := Build(src, module)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	base := filepath.Join(filepath.Dir(path), "..", strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
	return []File{{base + ".ipynb", starterNB}, {base + "_solution.ipynb", solutionNB}}, nil
}

// Stale returns the notebooks, of those that the lesson at path makes, that are
// missing or differ from their source.
func Stale(path string) ([]File, error) {
	files, err := Files(path)
	if err != nil {
		return nil, err
	}
	var stale []File
	for _, f := range files {
		want, err := f.Notebook.Bytes()
		if err != nil {
			return nil, err
		}
		got, err := os.ReadFile(f.Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if !bytes.Equal(got, want) {
			stale = append(stale, f)
		}
	}
	return stale, nil
}

// Write writes the notebooks of the lesson at path that differ from their
// source, and returns their paths.
func Write(path string) ([]string, error) {
	stale, err := Stale(path)
	if err != nil {
		return nil, err
	}
	var written []string
	for _, f := range stale {
		if err := f.Notebook.WriteFile(f.Path); err != nil {
			return written, err
		}
		written = append(written, f.Path)
	}
	return written, nil
}

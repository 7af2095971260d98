package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/warpbook/warpbook/workshops"
)

// source is what is checked, and whose it is.
type source struct {
	files  []workshops.File
	banner string
}

// source finds the files of an exercise: the reference solution on request,
// else the learner's file, else the starter, which is all TODO.
func (j *job) source(w workshops.Workshop) (source, error) {
	if j.Solution {
		var files []workshops.File
		for _, f := range w.Solution {
			files = append(files, workshops.File{Name: "solution/" + f.Name, Text: f.Text})
		}
		return source{files, "REFERENCE SOLUTION of " + w.ID + ": these results are not the learner's work."}, nil
	}
	var files []workshops.File
	for _, f := range w.Starter {
		path := j.path(f.Name)
		text, err := os.ReadFile(j.absolute(path))
		switch {
		case err == nil:
			files = append(files, workshops.File{Name: path, Text: string(text)})
		case j.File == "" && errors.Is(err, fs.ErrNotExist):
			return source{w.Starter, fmt.Sprintf("The learner's work, not begun: there is no %s yet, so this is the starter.\n"+
				"`warpbook check %s --start` writes it there.", path, w.ID)}, nil
		default:
			return source{}, fmt.Errorf("the exercise cannot be read: %w", err)
		}
	}
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = f.Name
	}
	return source{files, "The learner's work: " + strings.Join(names, ", ")}, nil
}

// path is where the learner's copy of a starter file lies; --file names the Go
// file, and files of other kinds lie beside it.
func (j *job) path(name string) string {
	if j.File == "" {
		return filepath.Join("exercises", name)
	}
	if filepath.Ext(name) == ".go" {
		return j.File
	}
	return strings.TrimSuffix(j.File, filepath.Ext(j.File)) + filepath.Ext(name)
}

func (j *job) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(j.Dir, path)
}

// start writes the starters; a file that exists is the learner's and stays.
func (j *job) start(selected []workshops.Workshop) int {
	for _, w := range selected {
		for _, f := range w.Starter {
			path := j.path(f.Name)
			if err := create(j.absolute(path), f.Text); err != nil {
				fmt.Fprintf(j.err, "the starter of %s was not written: %v\n", w.ID, err)
				return Failed
			}
			fmt.Fprintf(j.out, "Wrote %s. Edit it, then run `warpbook check %s`.\n", path, w.ID)
		}
	}
	return OK
}

func create(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already; move it away to begin again", path)
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

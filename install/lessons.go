package install

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// CopyLessons copies the notebooks of the folder from to the learner's folder
// to. A file that is there already is the learner's and stays. It returns the
// lessons' paths in to, in order, solutions last.
func CopyLessons(from, to string) ([]string, error) {
	found, err := filepath.Glob(filepath.Join(from, "*.ipynb"))
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("there are no lessons in %s; get a whole copy of Warpbook's source", from)
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return nil, fmt.Errorf("your folder for the lessons cannot be made: %w; --dir names another", err)
	}
	var lessons []string
	for _, path := range found {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		copied := filepath.Join(to, filepath.Base(path))
		f, err := os.OpenFile(copied, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err == nil {
			_, err = f.Write(content)
			err = errors.Join(err, f.Close())
		}
		if err != nil && !errors.Is(err, os.ErrExist) {
			return nil, fmt.Errorf("a lesson cannot be copied: %w; --dir names another folder", err)
		}
		lessons = append(lessons, copied)
	}
	slices.SortStableFunc(lessons, func(a, b string) int {
		return boolInt(strings.Contains(a, "solution")) - boolInt(strings.Contains(b, "solution"))
	})
	return lessons, nil
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

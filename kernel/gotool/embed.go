package gotool

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// embedConfig is what the compiler's -embedcfg reads: the files of every
// pattern, and where they lie.
type embedConfig struct {
	Patterns map[string][]string
	Files    map[string]string
}

// writeEmbeds resolves the patterns of a unit's //go:embed directives in its
// embed folder, by the rules of the go command.
func writeEmbeds(name, dir string, patterns []string) error {
	cfg := embedConfig{Patterns: map[string][]string{}, Files: map[string]string{}}
	for _, p := range patterns {
		files, err := embedded(dir, p)
		if err != nil {
			return fmt.Errorf("//go:embed %s: %w", p, err)
		}
		cfg.Patterns[p] = files
		for _, f := range files {
			cfg.Files[f] = filepath.Join(dir, filepath.FromSlash(f))
		}
	}
	data, err := json.Marshal(cfg)
	if err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o644)
}

// embedded lists the files of one pattern, relative to dir. Files whose names
// begin with . or _ inside a folder are taken only with the prefix all:.
func embedded(dir, pattern string) ([]string, error) {
	glob, all := strings.CutPrefix(pattern, "all:")
	if !fs.ValidPath(glob) {
		return nil, fmt.Errorf("not a path below the notebook's folder")
	}
	matches, err := fs.Glob(os.DirFS(dir), glob)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, m := range matches {
		err := fs.WalkDir(os.DirFS(dir), m, func(p string, d fs.DirEntry, err error) error {
			hidden := p != m && !all && strings.ContainsAny(d.Name()[:1], "._")
			switch {
			case err != nil:
				return err
			case d.IsDir() && hidden:
				return fs.SkipDir
			case d.Type().IsRegular() && !hidden:
				files = append(files, p)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no matching files in the notebook's folder %s", dir)
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

package gotool

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Cells compile where the home folder is missing or of no use.
func TestBuildCache(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		env  map[string]string
		want bool // a folder of our own choice
	}{
		"as usual":     {map[string]string{"HOME": t.TempDir()}, false},
		"GOCACHE":      {map[string]string{"GOCACHE": t.TempDir(), "HOME": file}, false},
		"off":          {map[string]string{"GOCACHE": "off"}, false},
		"no home":      {map[string]string{}, true},
		"bad home":     {map[string]string{"HOME": filepath.Join(file, "home")}, true},
		"bad GOCACHE":  {map[string]string{"HOME": t.TempDir(), "GOCACHE": filepath.Join(file, "cache")}, true},
		"not absolute": {map[string]string{"HOME": "home"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, v := range []string{"HOME", "GOCACHE", "XDG_CACHE_HOME"} {
				t.Setenv(v, c.env[v])
			}
			got := buildCache()
			if (len(got) == 1) != c.want {
				t.Errorf("%q", got)
			}
			if len(got) == 1 && !writable(got[0][len("GOCACHE="):]) {
				t.Errorf("%q cannot be written to", got)
			}
		})
	}
	l := &listing{memo: filepath.Join(file, "memo.json")} // what cannot be remembered is still known
	if got := l.add([]compiled{{Path: "p", Archive: file}}); got["p"].Archive != file || l.memo != "" {
		t.Errorf("%+v, memo %q", got, l.memo)
	}
	if got := environ([]string{"A=b"}); !slices.Contains(got, "A=b") {
		t.Errorf("%q", got)
	}
}

// Package moduletest serves Go modules that a test makes up to the go command,
// without a network: as a folder of files that GOPROXY names.
package moduletest

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/warpbook/warpbook/kernel/gotool"
)

// Proxy is the folder of a proxy.
type Proxy string

// Add writes a module at a version. Files are by name within the module; go.mod
// must be among them.
func (p Proxy) Add(t testing.TB, path, version string, files map[string]string) {
	t.Helper()
	dir := filepath.Join(string(p), filepath.FromSlash(path), "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	archive, err := os.Create(filepath.Join(dir, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(archive)
	for name, text := range files {
		w, err := z.Create(fmt.Sprintf("%s@%s/%s", path, version, name))
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	old, _ := os.ReadFile(filepath.Join(dir, "list")) // none yet for the first version
	for name, text := range map[string]string{
		version + ".mod":  files["go.mod"],
		version + ".info": fmt.Sprintf(`{"Version":%q,"Time":"2026-01-01T00:00:00Z"}`, version),
		"list":            string(old) + version + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Program puts an installed program with another record into a folder of the
// test, and returns its path there.
func Program(t testing.TB, exe string, change func(*gotool.Record)) string {
	t.Helper()
	from, dir := filepath.Dir(exe), t.TempDir()
	data, err := os.ReadFile(filepath.Join(from, gotool.RecordFile))
	var rec gotool.Record
	if err == nil {
		err = json.Unmarshal(data, &rec)
	}
	if err != nil {
		t.Fatal(err)
	}
	change(&rec)
	if data, err = json.Marshal(rec); err == nil {
		err = os.WriteFile(filepath.Join(dir, gotool.RecordFile), data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{filepath.Base(exe), gotool.ExportsFile} {
		if err := os.Link(filepath.Join(from, name), filepath.Join(dir, name)); err == nil {
			continue
		}
		data, err := os.ReadFile(filepath.Join(from, name)) // another file system
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, filepath.Base(exe))
}

// Use has the go command fetch modules from the proxy, then from what this
// machine has downloaded before, and keep them in a folder of the test. A fresh
// machine lacks some go.mod files of the program's own dependencies, which come
// from where they always come from.
func (p Proxy) Use(t testing.TB, rec *gotool.Record) {
	t.Helper()
	t.Setenv("GOSUMDB", "off")
	proxies := "file://" + filepath.ToSlash(string(p))
	for i, setting := range rec.Env {
		if cache, ok := strings.CutPrefix(setting, "GOMODCACHE="); ok {
			proxies += ",file://" + filepath.ToSlash(filepath.Join(cache, "cache", "download"))
			rec.Env[i] = "GOMODCACHE=" + t.TempDir()
		}
		if strings.HasPrefix(setting, "GOFLAGS=") {
			rec.Env[i] = strings.TrimSpace(setting + " -modcacherw") // so that the folder can be removed
		}
	}
	usual, err := exec.Command(rec.Go, "env", "GOPROXY").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOPROXY", proxies+","+strings.TrimSpace(string(usual)))
}

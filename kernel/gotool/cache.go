package gotool

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
)

// buildCache returns a setting for Go's build cache when the one that Go would
// use cannot be written to, and nothing when it can. A home folder that is
// read-only, or that nobody has named, must not keep cells from being compiled.
func buildCache() []string {
	dir := os.Getenv("GOCACHE")
	if dir == "off" {
		return nil // Go explains that this does not work any more
	}
	if dir == "" {
		if base, err := os.UserCacheDir(); err == nil {
			dir = filepath.Join(base, "go-build")
		}
	}
	if writable(dir) {
		return nil
	}
	var others []string
	if u, err := user.Current(); err == nil && u.HomeDir != "" {
		others = append(others, filepath.Join(u.HomeDir, ".cache", "go-build"))
	}
	others = append(others, filepath.Join(os.TempDir(), fmt.Sprintf("warpbook-go-build-%d", os.Getuid())))
	for _, dir := range others {
		if writable(dir) {
			return []string{"GOCACHE=" + dir}
		}
	}
	return nil // Go names the folder that it cannot use
}

// writable reports whether files can be made in a folder, which is made if need be.
func writable(dir string) bool {
	if !filepath.IsAbs(dir) || os.MkdirAll(dir, 0o700) != nil {
		return false
	}
	f, err := os.CreateTemp(dir, "warpbook-probe-")
	if err != nil {
		return false
	}
	_ = f.Close()
	return os.Remove(f.Name()) == nil
}

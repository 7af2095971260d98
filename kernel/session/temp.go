package session

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// tempFolder makes the session's folder for compiled cells, and removes those
// of kernels that were killed. It is on a disk where there is one: pages that
// are mapped from a file there can be dropped.
func tempFolder() (string, error) {
	old, err := filepath.Glob(filepath.Join(os.TempDir(), "warpbook-*-*"))
	if err != nil {
		return "", err
	}
	for _, dir := range old {
		pid, err := strconv.Atoi(strings.Split(filepath.Base(dir), "-")[1])
		if err == nil && pid > 1 && syscall.Kill(pid, 0) == syscall.ESRCH {
			_ = os.RemoveAll(dir) // another user's, perhaps; then it is theirs to remove
		}
	}
	return os.MkdirTemp("", fmt.Sprintf("warpbook-%d-", os.Getpid()))
}

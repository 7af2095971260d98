//go:build unix && !linux

package device

import "os"

func unnamed() (*os.File, error) {
	f, err := os.CreateTemp("", "warpbook")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}

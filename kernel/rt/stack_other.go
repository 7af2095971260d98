//go:build !amd64 && !arm64

package rt

// stackTop is unknown on this processor.
func stackTop() uintptr { return 0 }

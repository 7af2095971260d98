//go:build amd64 || arm64

package rt

// stackTop returns the upper end of the calling goroutine's stack.
//
//go:noescape
func stackTop() uintptr

package nvrtc

import (
	"runtime"
	"unsafe"
)

// cstrings keeps texts where C can read them, until keep.
type cstrings struct{ list [][]byte }

func (c *cstrings) add(s string) uintptr {
	b := append([]byte(s), 0)
	c.list = append(c.list, b)
	return uintptr(unsafe.Pointer(&b[0]))
}

func (c *cstrings) keep() { runtime.KeepAlive(c.list) }

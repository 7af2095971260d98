package engine

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/warpbook/warpbook/kernel/rt"
)

// sharedFd is where the child finds the memory that it shares with the parent.
const sharedFd = 4

const sharedSize = 4096

// shared maps the stop word that both processes use.
func shared(fd int) (*rt.StopWord, []byte, error) {
	mem, err := unix.Mmap(fd, 0, sharedSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("map shared memory: %w", err)
	}
	return (*rt.StopWord)(unsafe.Pointer(&mem[0])), mem, nil
}

// newShared makes the memory and the file to give to the child.
func newShared() (*rt.StopWord, []byte, *os.File, error) {
	f, err := sharedFile()
	if err != nil {
		return nil, nil, nil, fmt.Errorf("make shared memory: %w", err)
	}
	if err := f.Truncate(sharedSize); err != nil {
		_ = f.Close()
		return nil, nil, nil, fmt.Errorf("make shared memory: %w", err)
	}
	word, mem, err := shared(int(f.Fd()))
	if err != nil {
		_ = f.Close()
		return nil, nil, nil, err
	}
	return word, mem, f, nil
}

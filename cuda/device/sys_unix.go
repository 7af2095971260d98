//go:build unix

package device

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// connection returns the two ends of a stream.
func connection() (ours, theirs *os.File, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, err
	}
	unix.CloseOnExec(fds[0])
	unix.CloseOnExec(fds[1])
	if err := unix.SetNonblock(fds[0], true); err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(fds[0]), "device"), os.NewFile(uintptr(fds[1]), "device"), nil
}

// mapShared maps a file that both processes have.
func mapShared(f *os.File) ([]byte, func(), error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, fmt.Errorf("map shared memory: %w", err)
	}
	b, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("map shared memory: %w", err)
	}
	return b, func() { _ = unix.Munmap(b) }, nil
}

// sharedFile makes a file of n bytes that has no name.
func sharedFile(n int64) (*os.File, error) {
	f, err := unnamed()
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(n); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ignoreInterrupts keeps a device process out of the terminal's and the kernel's
// interrupts: its parent decides.
func ignoreInterrupts() { signal.Ignore(os.Interrupt) }

// ownGroup makes a process the first of a group: what it starts ends with it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends the group; it may have gone already.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

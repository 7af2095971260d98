//go:build unix && !linux

package engine

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

func pipe(p *[2]int) error {
	if err := unix.Pipe(p[:]); err != nil {
		return err
	}
	unix.CloseOnExec(p[0])
	unix.CloseOnExec(p[1])
	return nil
}

func grow(int) {}

func replaceFd(from, to int) error { return unix.Dup2(from, to) }

// own gives the child a process group of its own. It ends with us because its
// control connection does.
func own(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endWhenOrphaned has nothing to wait for here: the control connection ends.
func endWhenOrphaned() {}

// interruptCommands does nothing here; a cell that waits for a command is left behind.
func interruptCommands() {}

func readsStdin() bool { return goroutineReadsStdin() }

// sharedFile returns a file without a name.
func sharedFile() (*os.File, error) {
	f, err := os.CreateTemp("", "warpbook")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}

package engine

import (
	"bytes"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

func pipe(p *[2]int) error { return unix.Pipe2(p[:], unix.O_CLOEXEC) }

// grow makes a pipe larger; a smaller one works too.
func grow(fd int) { _, _ = unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, pipeSize) }

func replaceFd(from, to int) error { return unix.Dup3(from, to, 0) }

// own gives the child a process group of its own and lets it not outlive us.
func own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// readsStdin reports whether a thread of this process is in read(0, ...) or
// readv(0, ...). Reading one's own threads' state needs no privilege.
func readsStdin() bool {
	dir, err := os.Open("/proc/self/task")
	if err != nil {
		return goroutineReadsStdin()
	}
	defer dir.Close()
	tasks, err := dir.Readdirnames(0)
	if err != nil {
		return goroutineReadsStdin()
	}
	var buf [64]byte
	for _, task := range tasks {
		fd, err := unix.Open("/proc/self/task/"+task+"/syscall", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err == unix.ENOENT {
			continue // the thread has ended, unless the kernel has no such file
		}
		if err != nil {
			return goroutineReadsStdin()
		}
		n, _ := unix.Read(fd, buf[:]) // nothing read is no wait
		_ = unix.Close(fd)
		if inRead(buf[:max(n, 0)]) {
			return true
		}
	}
	return false
}

// inRead parses "number arg0 arg1 ...", or "running".
func inRead(line []byte) bool {
	number, rest, _ := bytes.Cut(line, []byte(" "))
	fd, _, _ := bytes.Cut(rest, []byte(" "))
	if string(fd) != "0x0" {
		return false
	}
	return string(number) == readNumber || string(number) == readvNumber
}

// sharedFile returns a file in memory.
func sharedFile() (*os.File, error) {
	fd, err := unix.MemfdCreate("warpbook", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "shared"), nil
}

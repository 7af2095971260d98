package engine

import (
	"bytes"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

func pipe(p *[2]int) error { return unix.Pipe2(p[:], unix.O_CLOEXEC) }

// grow makes a pipe larger; a smaller one works too.
func grow(fd int) { _, _ = unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, pipeSize) }

func replaceFd(from, to int) error { return unix.Dup3(from, to, 0) }

// orphaned is the signal that tells the child of our death. It is one that cells
// have no use for, and not SIGKILL, which would spare what they have started.
const orphaned = syscall.Signal(48)

// own gives the child a process group of its own and lets it not outlive us.
func own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: orphaned}
}

// endWhenOrphaned waits for the parent's death.
func endWhenOrphaned() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, orphaned)
	<-c
	EndGroup()
}

// interruptCommands sends an interrupt to the other processes of this one's group.
func interruptCommands() {
	dir, err := os.Open("/proc")
	if err != nil {
		return
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(0) // some of them are better than none
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == os.Getpid() {
			continue
		}
		if group, err := unix.Getpgid(pid); err == nil && group == os.Getpid() {
			_ = unix.Kill(pid, unix.SIGINT) // it may have ended
		}
	}
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

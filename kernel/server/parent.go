package server

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"strconv"
	"syscall"
	"time"
)

const parentPoll = 500 * time.Millisecond

// watchParent calls ended when the process that started the kernel is no more.
// parent is JPY_PARENT_PID, its process id; without one there is nobody to watch.
func watchParent(ctx context.Context, parent string, log *slog.Logger, ended func()) {
	pid, err := strconv.Atoi(parent)
	if err != nil || pid <= 0 {
		if parent != "" {
			log.Warn("JPY_PARENT_PID is not a process id; the kernel will not notice the end of its parent", "value", parent)
		}
		return
	}
	tick := time.NewTicker(parentPoll)
	defer tick.Stop()
	direct := os.Getppid() == pid // else something in between, such as a shell, started us
	for alive(pid) && (!direct || os.Getppid() == pid) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
	log.Info("ending because the parent process has ended", "pid", pid)
	ended()
}

// alive tells whether a process runs. A dead one that nobody has waited for still
// takes signals, so where there is a /proc its state is looked at.
func alive(pid int) bool {
	if err := syscall.Kill(pid, 0); err != nil {
		return !errors.Is(err, syscall.ESRCH) // EPERM: it is there, and not ours
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true
	}
	// "pid (name) state ...": the name may hold anything, so look behind its end.
	_, state, found := bytes.Cut(stat[max(bytes.LastIndexByte(stat, ')'), 0):], []byte(") "))
	return !found || !bytes.HasPrefix(state, []byte("Z"))
}

//go:build unix

package gotool

import (
	"bytes"
	"context"
	"os/exec"
	"syscall"
	"time"
)

// run starts a tool in a process group of its own, which a cancelled context
// ends as a whole: gcc and the go command start further processes.
func (t *Toolchain) run(ctx context.Context, dir, name string, args ...string) (stdout []byte, stderr string, err error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = t.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return out.Bytes(), errs.String(), err
}

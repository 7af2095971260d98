//go:build unix

package gotool

import (
	"bytes"
	"context"
	"io"
	"os/exec"
	"syscall"
	"time"
)

// run starts a tool in a process group of its own, which a cancelled context
// ends as a whole: gcc and the go command start further processes.
func (t *Toolchain) run(ctx context.Context, dir, name string, args ...string) (stdout []byte, stderr string, err error) {
	var out, errs bytes.Buffer
	err = t.runTo(ctx, dir, &out, &errs, name, args...)
	return out.Bytes(), errs.String(), err
}

// stream runs a tool whose words are for the user.
func (t *Toolchain) stream(ctx context.Context, dir string, out io.Writer, name string, args ...string) error {
	return t.runTo(ctx, dir, out, out, name, args...)
}

func (t *Toolchain) runTo(ctx context.Context, dir string, stdout, stderr io.Writer, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = t.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	cmd.Stdout, cmd.Stderr = stdout, stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return err
}

//go:build cuda

package driver

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// output takes what kernels print. The driver writes it to the process's standard
// output when somebody waits for the GPU, so that is a file without a name, read
// after each wait.
type output struct {
	file *os.File
	to   io.Writer
}

func captureStdout(to io.Writer) (*output, error) {
	fd, err := unix.MemfdCreate("printf", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("a file for what kernels print: %w", err)
	}
	// To the end, wherever that is: drain empties the file.
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFL, unix.O_APPEND); err != nil {
		return nil, fmt.Errorf("a file for what kernels print: %w", err)
	}
	if err := unix.Dup2(fd, 1); err != nil {
		return nil, fmt.Errorf("a file for what kernels print: %w", err)
	}
	return &output{os.NewFile(uintptr(fd), "printf"), to}, nil
}

// drain passes on what was printed.
func (o *output) drain() error {
	flushStdout()
	info, err := o.file.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	text := make([]byte, info.Size())
	if _, err := o.file.ReadAt(text, 0); err != nil {
		return fmt.Errorf("what kernels printed cannot be read: %w", err)
	}
	if err := o.file.Truncate(0); err != nil {
		return fmt.Errorf("what kernels printed cannot be cleared: %w", err)
	}
	_, err = o.to.Write(text)
	return err
}

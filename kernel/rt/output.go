package rt

import (
	"fmt"
	"io"
	"os"
)

// stdout and stderr are the files that the process started with: a cell that
// replaces os.Stdout means all of its output.
var stdout, stderr = os.Stdout, os.Stderr

// Stdout is os.Stdout as the calling goroutine's cell sees it.
func Stdout() *os.File {
	if os.Stdout != stdout {
		return os.Stdout
	}
	return output(stdout, "stdout")
}

// Stderr is os.Stderr as the calling goroutine's cell sees it.
func Stderr() *os.File {
	if os.Stderr != stderr {
		return os.Stderr
	}
	return output(stderr, "stderr")
}

func output(f *os.File, name string) *os.File {
	c := labelled()
	if c == nil || c == running.Load() || host == nil {
		return f
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.late[name] == nil {
		c.late[name] = host.Late(c, name)
	}
	return c.late[name]
}

// Print is fmt.Print to Stdout.
func Print(a ...any) (int, error) { return fmt.Fprint(Stdout(), a...) }

// Println is fmt.Println to Stdout.
func Println(a ...any) (int, error) { return fmt.Fprintln(Stdout(), a...) }

// Printf is fmt.Printf to Stdout.
func Printf(format string, a ...any) (int, error) { return fmt.Fprintf(Stdout(), format, a...) }

// Log is where the default logger writes: Stderr of whoever logs, for the engine.
func Log() io.Writer { return logWriter{} }

type logWriter struct{}

func (logWriter) Write(p []byte) (int, error) { return Stderr().Write(p) }

package rt

import (
	"fmt"
	"log"
	"os"
	"runtime"
)

// Exit is os.Exit for a cell: it ends the cell, not the process. Deferred calls
// do not run.
func Exit(code int) {
	c := current()
	if c == nil {
		os.Exit(code)
	}
	select {
	case c.exit <- code:
	default: // it has exited already
	}
	select {}
}

// Goexit is runtime.Goexit: on the cell's main goroutine it ends the cell.
func Goexit() { runtime.Goexit() }

// Fatal is log.Fatal for a cell.
func Fatal(v ...any) {
	_ = log.Output(2, fmt.Sprint(v...)) // as in log.Fatal
	Exit(1)
}

// Fatalf is log.Fatalf for a cell.
func Fatalf(format string, v ...any) {
	_ = log.Output(2, fmt.Sprintf(format, v...))
	Exit(1)
}

// Fatalln is log.Fatalln for a cell.
func Fatalln(v ...any) {
	_ = log.Output(2, fmt.Sprintln(v...))
	Exit(1)
}

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

// LoggerFatal is l.Fatal for a cell.
func LoggerFatal(l *log.Logger, v ...any) {
	_ = l.Output(2, fmt.Sprint(v...)) // as in l.Fatal
	Exit(1)
}

// LoggerFatalf is l.Fatalf for a cell.
func LoggerFatalf(l *log.Logger, format string, v ...any) {
	_ = l.Output(2, fmt.Sprintf(format, v...))
	Exit(1)
}

// LoggerFatalln is l.Fatalln for a cell.
func LoggerFatalln(l *log.Logger, v ...any) {
	_ = l.Output(2, fmt.Sprintln(v...))
	Exit(1)
}

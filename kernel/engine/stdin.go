package engine

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// stdin is the child's standard input: a pipe from the child to itself, so that
// whatever reads file 0, native code too, waits in the read, where it is seen.
type stdin struct {
	mu  sync.Mutex
	w   *os.File
	cut bool
}

// open makes a fresh pipe file 0.
func (s *stdin) open() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var p [2]int
	if err := pipe(&p); err != nil {
		return fmt.Errorf("make a pipe for standard input: %w", err)
	}
	err := replaceFd(p[0], 0)
	_ = unix.Close(p[0])
	if err != nil {
		return fmt.Errorf("set standard input: %w", err)
	}
	if s.w != nil {
		_ = s.w.Close()
	}
	s.w, s.cut = os.NewFile(uintptr(p[1]), "stdin"), false
	return nil
}

// write gives text to the reader. It waits until the pipe has taken it.
func (s *stdin) write(text string) {
	s.mu.Lock()
	w := s.w
	s.mu.Unlock()
	// It fails when the input has ended meanwhile.
	_, _ = w.WriteString(text)
}

// end ends the input: whoever reads gets the end of the file.
func (s *stdin) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cut = true
	_ = s.w.Close()
}

// renew makes the input usable again after end.
func (s *stdin) renew() error {
	s.mu.Lock()
	cut := s.cut
	s.mu.Unlock()
	if cut {
		return s.open()
	}
	return nil
}

// wanted reports whether a read of file 0 waits and nothing is there for it.
func (s *stdin) wanted() bool {
	if s.ended() || !readsStdin() {
		return false
	}
	poll := []unix.PollFd{{Fd: 0, Events: unix.POLLIN}}
	n, err := unix.Poll(poll, 0)
	return err == nil && n == 0
}

func (s *stdin) ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cut
}

// readOfStdin is a goroutine's call of read(0, ...), in the two spellings of
// package syscall.
var readOfStdin = regexp.MustCompile(`syscall\.[sS]yscall\(0x[0-9a-f]+\??, 0x0,.*\n.*\nsyscall\.read\(`)

// goroutineReadsStdin looks for a goroutine in a read of file 0, on systems
// that do not tell what a thread waits for.
func goroutineReadsStdin() bool {
	buf := make([]byte, 1<<20)
	return readOfStdin.Match(buf[:runtime.Stack(buf, true)])
}

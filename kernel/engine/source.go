package engine

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// A source is the reading end of a pipe that programs write to. Its text goes
// to emit, in order and one call at a time, whether the pump or Drain read it.
type source struct {
	file *os.File
	raw  syscall.RawConn
	emit func(text string)

	mu   sync.Mutex // held from reading to emitting
	buf  []byte
	kept int // bytes of an unfinished rune at the start of buf
	eof  bool
}

const (
	chunk    = 64 << 10
	pipeSize = 256 << 10
)

// newSource makes a pipe. The writing end is a blocking file, so that native
// code and Go alike wait when nobody reads.
func newSource(name string, emit func(string)) (*source, *os.File, error) {
	var p [2]int
	if err := pipe(&p); err != nil {
		return nil, nil, fmt.Errorf("make a pipe for %s: %w", name, err)
	}
	grow(p[0])
	if err := unix.SetNonblock(p[0], true); err != nil {
		return nil, nil, fmt.Errorf("make a pipe for %s: %w", name, err)
	}
	r, w := os.NewFile(uintptr(p[0]), name), os.NewFile(uintptr(p[1]), name)
	raw, err := r.SyscallConn()
	if err != nil {
		return nil, nil, fmt.Errorf("make a pipe for %s: %w", name, err)
	}
	return &source{file: r, raw: raw, emit: emit, buf: make([]byte, chunk)}, w, nil
}

// pump reads until nobody can write any more. It returns when the source is closed too.
func (s *source) pump() {
	defer s.file.Close()
	for {
		end := false
		err := s.raw.Read(func(fd uintptr) bool {
			var empty bool
			empty, end = s.read(fd)
			return !empty
		})
		if end || err != nil {
			return
		}
	}
}

// drain reads and emits all that has been written so far.
func (s *source) drain() {
	// Closed means that the pump has read all.
	_ = s.raw.Control(func(fd uintptr) {
		for {
			if empty, end := s.read(fd); empty || end {
				return
			}
		}
	})
}

// flush emits the unfinished rune at the end of a program's output, if any.
func (s *source) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.take(0, true)
}

// read reads and emits once.
func (s *source) read(fd uintptr) (empty, end bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.eof {
		return false, true
	}
	n, err := unix.Read(int(fd), s.buf[s.kept:])
	switch {
	case errors.Is(err, unix.EAGAIN):
		return true, false
	case errors.Is(err, unix.EINTR):
		return false, false
	case err != nil, n == 0:
		s.eof = true
		s.take(0, true)
		return false, true
	}
	s.take(n, false)
	return false, false
}

// take emits the whole runes among the bytes kept and n more.
func (s *source) take(n int, all bool) {
	n += s.kept
	s.kept = 0
	whole := n
	if !all {
		whole -= unfinished(s.buf[:n])
	}
	if whole > 0 {
		s.emit(validText(s.buf[:whole]))
	}
	s.kept = copy(s.buf, s.buf[whole:n])
}

// validText is b with every byte that is in no rune marked as such.
func validText(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return string([]rune(string(b)))
}

// unfinished counts the bytes at the end of b that begin a rune.
func unfinished(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if tail := b[len(b)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

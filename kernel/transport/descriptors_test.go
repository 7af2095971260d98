//go:build linux

package transport

import (
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// At the descriptor limit the accept loop waits instead of spinning, and goes on
// when there are descriptors again.
func TestDescriptorLimit(t *testing.T) {
	var log logged
	s := kernel(t, Config{Log: log.logger()})
	works(t, s)

	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	low := old
	low.Cur = uint64(open(t) + 20)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old)
	var hoard []*os.File
	info := s.Info()
	network, address := info.Endpoint(info.ShellPort)
	until(t, func() bool { // more than once if earlier tests still give descriptors back
		for {
			f, err := os.Open(os.DevNull)
			if err != nil {
				break
			}
			hoard = append(hoard, f)
		}
		hoard[0].Close() // for the attacker; the kernel has none left to accept it
		hoard = hoard[1:]
		if conn, err := net.Dial(network, address); err == nil {
			defer conn.Close()
		}
		time.Sleep(20 * time.Millisecond)
		return strings.Contains(log.String(), "cannot accept")
	})
	time.Sleep(500 * time.Millisecond)
	if n := strings.Count(log.String(), "cannot accept"); n > 50 {
		t.Errorf("the accept loop went round %d times in half a second", n)
	}
	for _, f := range hoard {
		f.Close()
	}
	works(t, s)
}

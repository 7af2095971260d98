package history_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/warpbook/warpbook/kernel/history"
)

// logged returns a logger and what it has written so far.
func logged(t *testing.T) (*slog.Logger, func() string) {
	t.Helper()
	var mu sync.Mutex
	var b bytes.Buffer
	h := slog.NewTextHandler(writer(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return b.Write(p)
	}), nil)
	return slog.New(h), func() string { mu.Lock(); defer mu.Unlock(); return b.String() }
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

func show(entries []history.Entry) string {
	var b strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&b, "%d/%d %s", e.Session, e.Line, e.Source)
		if e.Output != nil {
			fmt.Fprintf(&b, " -> %s", *e.Output)
		}
		b.WriteString("; ")
	}
	return strings.TrimSuffix(b.String(), "; ")
}

// three writes three sessions to a new file and leaves the third one open.
func three(t *testing.T) *history.Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "deep", "er", "history.sqlite")
	inputs := [][]string{
		{"a := 1", "a", "b := 2"},
		{"a", "fmt.Println(a)"},
		{"import \"fmt\"", "a", "x[1]", "z"},
	}
	for i, lines := range inputs {
		log, text := logged(t)
		s := history.Open(path, log)
		for j, l := range lines {
			s.Add(j+1, l, l+" //raw")
			if l == "a" {
				s.AddOutput(j+1, "1")
			}
		}
		if i == len(inputs)-1 {
			t.Cleanup(func() { s.Close() })
			return s
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if text() != "" {
			t.Fatalf("session %d logged: %s", i+1, text())
		}
	}
	panic("unreachable")
}

func TestQueries(t *testing.T) {
	s := three(t)
	ctx := context.Background()
	plain, output := history.Want{}, history.Want{Output: true}
	type result = func() ([]history.Entry, error)
	tail := func(n int, w history.Want) result {
		return func() ([]history.Entry, error) { return s.Tail(ctx, n, w) }
	}
	lines := func(session int64, start, stop int, w history.Want) result {
		return func() ([]history.Entry, error) { return s.Range(ctx, session, start, stop, w) }
	}
	search := func(pattern string, n int, unique bool, w history.Want) result {
		return func() ([]history.Entry, error) { return s.Search(ctx, pattern, n, unique, w) }
	}
	for _, c := range []struct {
		name string
		ask  result
		want string
	}{
		{"tail crosses sessions", tail(5, plain), `2/2 fmt.Println(a); 3/1 import "fmt"; 3/2 a; 3/3 x[1]; 3/4 z`},
		{"tail of nothing", tail(0, plain), ``},
		{"tail with output", tail(3, output), `3/2 a -> 1; 3/3 x[1]; 3/4 z`},
		{"tail raw", tail(1, history.Want{Raw: true}), `3/4 z //raw`},
		{"range of the present session", lines(0, 1, 3, plain), `3/1 import "fmt"; 3/2 a`},
		{"range to the end", lines(0, 3, 0, plain), `3/3 x[1]; 3/4 z`},
		{"range of the session before", lines(-1, 1, 0, plain), `2/1 a; 2/2 fmt.Println(a)`},
		{"range by number", lines(1, 2, 4, output), `1/2 a -> 1; 1/3 b := 2`},
		{"range from the end", lines(0, -2, 0, plain), `3/3 x[1]; 3/4 z`},
		{"range up to the end", lines(0, 1, -3, plain), `3/1 import "fmt"`},
		{"range of no session", lines(-9, 1, 0, plain), ``},
		{"search", search("a*", 0, false, plain), `1/1 a := 1; 1/2 a; 2/1 a; 3/2 a`},
		{"search the last two", search("a*", 2, false, plain), `2/1 a; 3/2 a`},
		{"search unique keeps the latest", search("a*", 0, true, plain), `1/1 a := 1; 3/2 a`},
		{"search unique limited", search("*", 2, true, output), `3/3 x[1]; 3/4 z`},
		{"search with a question mark", search("?", 0, true, output), `3/2 a -> 1; 3/4 z`},
		{"search with a class", search("x[[]1]", 0, false, plain), `3/3 x[1]`},
		{"search raw", search("z //*", 0, false, history.Want{Raw: true}), `3/4 z //raw`},
		{"search for nothing there", search("q*", 5, true, plain), ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			entries, err := c.ask()
			if err != nil {
				t.Fatal(err)
			}
			if got := show(entries); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// Whatever is wrong with the file, the store works; some damage it mends for the
// sessions to come too (kept).
func TestDamage(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, path string)
		log    string // what the log says
		aside  bool   // the damaged file is still there under another name
		kept   bool   // the next session finds this one's inputs
	}{
		{"no file", func(*testing.T, string) {}, "", false, true},
		{"empty file", func(t *testing.T, p string) { put(t, p, "") }, "", false, true},
		{"not a database", func(t *testing.T, p string) { put(t, p, strings.Repeat("not a database ", 400)) }, "moved aside", true, true},
		{"a page overwritten", func(t *testing.T, p string) {
			fill(t, p, 500)
			b, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			copy(b[100:], bytes.Repeat([]byte{0xff}, len(b)-100))
			put(t, p, string(b))
		}, "moved aside", true, true},
		{"a folder in its place", func(t *testing.T, p string) {
			if err := os.MkdirAll(filepath.Join(p, "x"), 0o755); err != nil {
				t.Fatal(err)
			}
		}, "kept in memory", false, false},
		{"a file in the folder's place", func(t *testing.T, p string) {
			if err := os.Remove(filepath.Dir(p)); err != nil {
				t.Fatal(err)
			}
			put(t, filepath.Dir(p), "")
		}, "kept in memory", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "data", "history.sqlite")
			if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			c.damage(t, path)
			log, text := logged(t)
			s := history.Open(path, log)
			s.Add(1, "kept := 1", "kept := 1")
			entries, err := s.Search(context.Background(), "kept*", 0, false, history.Want{})
			if err != nil || len(entries) != 1 {
				t.Errorf("got %q, %v", show(entries), err)
			}
			s.Close()
			if c.log == "" && text() != "" || !strings.Contains(text(), c.log) {
				t.Errorf("logged %q, want %q", text(), c.log)
			}
			if aside, _ := filepath.Glob(path + ".corrupt-*"); c.aside != (len(aside) > 0) {
				t.Errorf("files moved aside: %q, want some: %v", aside, c.aside)
			}
			again := history.Open(path, nil)
			defer again.Close()
			entries, err = again.Search(context.Background(), "kept*", 0, false, history.Want{})
			if err != nil || (len(entries) == 1) != c.kept {
				t.Errorf("the next session got %q, %v; want kept: %v", show(entries), err, c.kept)
			}
		})
	}
}

// A file that is removed while the kernel runs is started again.
func TestRemovedWhileOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.sqlite")
	log, text := logged(t)
	s := history.Open(path, log)
	defer s.Close()
	ctx := context.Background()
	s.Add(1, "before", "before")
	if _, err := s.Tail(ctx, 1, history.Want{}); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	s.Add(2, "after", "after")
	entries, err := s.Tail(ctx, 5, history.Want{})
	if err != nil || show(entries) != "1/2 after" {
		t.Errorf("got %q, %v", show(entries), err)
	}
	if !strings.Contains(text(), "removed or replaced") {
		t.Errorf("logged %q", text())
	}
}

// Kernels that write at once lose nothing and have sessions of their own.
func TestManyKernels(t *testing.T) {
	const kernels, cells = 6, 50
	path := filepath.Join(t.TempDir(), "history.sqlite")
	var wg sync.WaitGroup
	for k := range kernels {
		wg.Go(func() {
			log, text := logged(t)
			s := history.Open(path, log)
			for i := range cells {
				s.Add(i+1, fmt.Sprintf("k%d c%d", k, i), "")
			}
			s.Close()
			if text() != "" {
				t.Errorf("kernel %d logged %s", k, text())
			}
		})
	}
	wg.Wait()
	s := history.Open(path, nil)
	defer s.Close()
	entries, err := s.Search(context.Background(), "*", 0, true, history.Want{})
	if err != nil || len(entries) != kernels*cells {
		t.Fatalf("got %d entries, %v; want %d", len(entries), err, kernels*cells)
	}
	owner := map[int64]string{}
	for _, e := range entries {
		kernel, _, _ := strings.Cut(e.Source, " ")
		if have, ok := owner[e.Session]; ok && have != kernel {
			t.Fatalf("session %d holds inputs of %s and %s", e.Session, have, kernel)
		}
		owner[e.Session] = kernel
	}
	if len(owner) != kernels {
		t.Errorf("got %d sessions, want %d", len(owner), kernels)
	}
}

func TestClosed(t *testing.T) {
	s := history.Open("", nil)
	s.Close()
	s.Close()
	s.Add(1, "late", "late")
	if _, err := s.Tail(context.Background(), 1, history.Want{}); err != history.ErrClosed {
		t.Errorf("got %v, want ErrClosed", err)
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func fill(t *testing.T, path string, n int) {
	t.Helper()
	s := history.Open(path, nil)
	for i := range n {
		s.Add(i+1, "filler", "filler")
	}
	s.Close()
}

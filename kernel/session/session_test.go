package session_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/warpbook/warpbook/cuda/nvrtc"
	"github.com/warpbook/warpbook/display"
	"github.com/warpbook/warpbook/kernel/gotool"
	"github.com/warpbook/warpbook/kernel/session"
)

var (
	update   = flag.Bool("update", false, "write what the tests got into their golden files")
	hostFlag = flag.String("host", "", "an installed host program to use instead of building one")
	corpus   = flag.String("corpus", "../../../shared/corpus", "folder of the corpus of Go cells")
)

// host is the program that the tests' sessions run in, built once.
var host = sync.OnceValues(func() (string, error) {
	if *hostFlag != "" {
		return *hostFlag, nil
	}
	dir, err := os.MkdirTemp("", "warpbook-host-")
	if err != nil {
		return "", err
	}
	exe := filepath.Join(dir, "host")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", exe, "./testdata/host")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return exe, gotool.Install(context.Background(), "../..", exe, nil)
})

func TestMain(m *testing.M) {
	nvrtc.Child()
	flag.Parse()
	code := m.Run()
	if exe, err := host(); err == nil && *hostFlag == "" {
		os.RemoveAll(filepath.Dir(exe))
	}
	os.Exit(code)
}

func open(t testing.TB) *session.Notebook {
	t.Helper()
	exe, err := host()
	if err != nil {
		t.Fatal(err)
	}
	tool, err := gotool.Find(exe)
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.New(session.Options{Tool: tool, Command: []string{exe}, Dir: t.TempDir(), Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// transcript writes down what a cell puts out.
type transcript struct {
	mu    sync.Mutex
	b     strings.Builder
	input []string
	// onlyStdout leaves out results: programs that go run ran have none.
	onlyStdout bool
	plain      bool // standard error as it is
}

func (o *transcript) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

func (o *transcript) write(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	fmt.Fprintf(&o.b, format, args...)
}

func (o *transcript) Stream(name, text string) {
	if name == "stderr" && !o.plain {
		text = "stderr: " + text
	}
	o.write("%s", text)
}

func (o *transcript) Publish(m display.Message) {
	if o.onlyStdout {
		return
	}
	o.write("[%s] %v\n", m.Kind, m.Bundle.Data["text/plain"])
}

func (o *transcript) Input(_ context.Context, prompt string, _ bool) (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.input) == 0 {
		return "", session.ErrNoStdin
	}
	line := o.input[0]
	o.input = o.input[1:]
	return line, nil
}

func (o *transcript) Comm(session.Comm) {}

var ansi = regexp.MustCompile("\x1b\\[[0-9;]*m")

func run(t testing.TB, s *session.Notebook, count int, code string) (string, *session.Error) {
	t.Helper()
	return runTo(s, count, code, &transcript{})
}

func runTo(s *session.Notebook, count int, code string, o *transcript) (string, *session.Error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out := s.Execute(ctx, session.Cell{Count: count, Code: code, AllowStdin: true}, o)
	text := o.String()
	if out.Err != nil {
		text += ansi.ReplaceAllString(strings.Join(out.Err.Traceback, "\n"), "") + "\n"
	}
	return text, out.Err
}

// TestSessions runs the txtar files of testdata: cells, each followed by what it
// puts out.
func TestSessions(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no test files", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := open(t)
			count := 0
			var got txtar.Archive
			got.Comment = a.Comment
			for _, f := range a.Files {
				if f.Name == "out" {
					continue
				}
				count++
				text, _ := run(t, s, count, strings.TrimSuffix(string(f.Data), "\n"))
				got.Files = append(got.Files, f, txtar.File{Name: "out", Data: []byte(text)})
			}
			want, _ := os.ReadFile(file)
			have := txtar.Format(&got)
			if *update {
				if err := os.WriteFile(file, have, 0o644); err != nil {
					t.Fatal(err)
				}
			} else if string(have) != string(want) {
				t.Errorf("got:\n%s\nwant:\n%s", have, want)
			}
		})
	}
}

// TestCorpus runs the shared corpus of Go cells: in every mode the output must
// be what go run prints; yaegi alone may refuse.
func TestCorpus(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(*corpus, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus in %s: give its folder with -corpus", *corpus)
	}
	for _, mode := range []string{"auto", "compiled", "yaegi"} {
		t.Run(mode, func(t *testing.T) {
			for _, file := range files {
				t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
					t.Parallel()
					corpusCase(t, mode, file)
				})
			}
		})
	}
}

func corpusCase(t *testing.T, mode, file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Cells []string
		Want  struct{ Txt, RC string }
	}
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	s := open(t)
	// The case about go:embed wants this file beside it.
	for _, setup := range []string{"%%writefile hello.txt\nhello embed\n", "%engine " + mode} {
		if _, err := run(t, s, 1, setup); err != nil {
			t.Fatal(err)
		}
	}
	var got strings.Builder
	for i, code := range c.Cells {
		text, err := runTo(s, i+2, code, &transcript{onlyStdout: true})
		if err != nil {
			if mode == "yaegi" && strings.Contains(err.Value, "cannot be interpreted exactly") {
				if !strings.HasPrefix(c.Want.Txt, got.String()) {
					t.Errorf("a wrong value before the refusal: %q, want %q", got.String(), c.Want.Txt)
				}
				return
			}
			t.Fatalf("cell %d: %s", i+1, text)
		}
		got.WriteString(text)
	}
	if got.String() != c.Want.Txt {
		t.Errorf("got %q\nwant %q", got.String(), c.Want.Txt)
	}
}

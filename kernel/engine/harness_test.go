package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/warpbook/warpbook/display"
	"github.com/warpbook/warpbook/kernel/engine"
)

// The tests run real children: testhost, built once, and plugins, each built by
// its test with the tools that the product uses.
var tools struct {
	sync.Once
	err     error
	dir     string
	host    string
	config  []byte // of the compiler and the linker: packages that cells import
	toolDir string
}

const modulePath = "github.com/warpbook/warpbook/"

func TestMain(m *testing.M) {
	code := m.Run()
	if tools.dir != "" {
		_ = os.RemoveAll(tools.dir)
	}
	os.Exit(code)
}

func command(dir, name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s%s", name, args[0], err, out, stderr.Bytes())
	}
	return out, nil
}

func prepare(t testing.TB) {
	t.Helper()
	tools.Do(func() { tools.err = buildTools() })
	if tools.err != nil {
		t.Fatal(tools.err)
	}
}

func buildTools() (err error) {
	if tools.dir, err = os.MkdirTemp("", "warpbook-engine"); err != nil {
		return err
	}
	tools.host = filepath.Join(tools.dir, "testhost")
	if _, err = command("", "go", "build", "-trimpath", "-o", tools.host, "./internal/testhost"); err != nil {
		return err
	}
	tools.config, err = command("", "go", "list", "-export", "-deps", "-installsuffix", "dynlink", "-buildmode=plugin", "-trimpath",
		"-f", "{{if .Export}}packagefile {{.ImportPath}}={{.Export}}{{end}}",
		"fmt", "os", "bufio", "log", "time", "errors", "sync", "syscall", "reflect", "unsafe", "plugin", "runtime/cgo", modulePath+"kernel/rt", modulePath+"display")
	if err != nil {
		return err
	}
	toolDir, err := command("", "go", "env", "GOTOOLDIR")
	tools.toolDir = strings.TrimSpace(string(toolDir))
	return err
}

// cell makes a program of the statements of a cell, and of declarations before
// them. Both are source as the front end emits it.
type cell struct {
	count int
	decls string
	body  string
}

const preamble = `package main

import (
	"bufio"
	"errors"
	"fmt"
	"log"
	"os"
	"reflect"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"github.com/warpbook/warpbook/display"
	"github.com/warpbook/warpbook/kernel/rt"
)

var (
	_ = bufio.NewReader
	_ = errors.New
	_ = fmt.Sprint
	_ = log.Print
	_ = os.Exit
	_ sync.Mutex
	_ = syscall.Write
	_ time.Duration
	_ unsafe.Pointer
	_ = display.Show
)

func main() {}
`

var built struct {
	sync.Mutex
	n int
}

// program compiles and links a cell.
func (c cell) program(t testing.TB) engine.Program {
	t.Helper()
	prepare(t)
	built.Lock()
	built.n++
	id := built.n
	built.Unlock()
	path := fmt.Sprintf("wb/s1/c%d", id)
	src := fmt.Sprintf("%s\nfunc init() { rt.Register(%q, wb_entry, map[string]reflect.Value{%s}) }\n//line cell[%d]:1\n%s\nfunc wb_entry() {\n//line cell[%d]:100\n%s\n}\n",
		preamble, path, exported(c.decls), c.count, c.decls, c.count, c.body)
	dir := t.TempDir()
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("cell.go", []byte(src))
	write("config", tools.config)
	if _, err := command(dir, filepath.Join(tools.toolDir, "compile"), "-o", "cell.a", "-trimpath", dir+"=>", "-p", path, "-complete",
		"-dynlink", "-importcfg", "config", "-pack", "cell.go"); err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	if _, err := command(dir, filepath.Join(tools.toolDir, "link"), "-o", "cell.so", "-importcfg", "config", "-installsuffix", "dynlink",
		"-pluginpath", path, "-buildmode=plugin", "-s", "-w", "-extld=gcc", "cell.a"); err != nil {
		t.Fatal(err)
	}
	return engine.Program{ID: id, Count: c.count, Name: fmt.Sprintf("cell[%d]", c.count),
		Plugin: filepath.Join(dir, "cell.so"), Package: path, Entry: true}
}

// exported lists the declarations marked "//export Name" as symbols.
func exported(decls string) string {
	var b strings.Builder
	for line := range strings.Lines(decls) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "//export type "); ok {
			fmt.Fprintf(&b, "%q: reflect.ValueOf((*%s)(nil)), ", name, name)
		} else if name, ok := strings.CutPrefix(strings.TrimSpace(line), "//export "); ok {
			fmt.Fprintf(&b, "%q: reflect.ValueOf(%s), ", name, name)
		}
	}
	return b.String()
}

// script makes a program of a script's body and the imports it needs.
func script(count int, imports []string, vars []engine.Var, body string) engine.Program {
	built.Lock()
	defer built.Unlock()
	built.n++
	id := built.n
	var lines strings.Builder
	for _, path := range imports {
		name := path[strings.LastIndexByte(path, '/')+1:]
		fmt.Fprintf(&lines, "import %s %q\n", name, path)
	}
	if len(vars) > 0 {
		fmt.Fprintf(&lines, "import v \"wb/v%d\"\n", id)
		body = strings.ReplaceAll(body, "v.", fmt.Sprintf("v%d.", id))
	}
	src := fmt.Sprintf("package main\n%s\nfunc wbcell%d() {\n%s\n}\n", strings.ReplaceAll(lines.String(), "import v ", fmt.Sprintf("import v%d ", id)), id, body)
	return engine.Program{ID: id, Count: count, Name: fmt.Sprintf("cell[%d]", count), Script: src, Func: fmt.Sprintf("wbcell%d", id), Imports: imports, Vars: vars}
}

func start(t testing.TB) *engine.Process {
	t.Helper()
	prepare(t)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	p, err := engine.Start(ctx, engine.Options{Command: []string{tools.host}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// recorder is a sink that writes down what it gets, as one line a run of events
// of the same kind.
type recorder struct {
	mu     sync.Mutex
	events []event
	input  func(ctx context.Context) (string, error)
}

type event struct{ kind, text string }

func (r *recorder) add(kind, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.events); n > 0 && r.events[n-1].kind == kind && kind != "publish" {
		r.events[n-1].text += text
		return
	}
	r.events = append(r.events, event{kind, text})
}

func (r *recorder) Stream(name, text string) { r.add(name, text) }

func (r *recorder) Publish(m display.Message) {
	r.add("publish", fmt.Sprintf("%s %v", m.Kind, m.Bundle.Data["text/plain"]))
}

func (r *recorder) Comm(c engine.Comm) { r.add("comm", c.Kind+" "+c.Target) }

func (r *recorder) Input(ctx context.Context, prompt string, password bool) (string, error) {
	r.add("input", prompt)
	if r.input == nil {
		return "", fmt.Errorf("this front end does not support input requests")
	}
	return r.input(ctx)
}

// got renders the events.
func (r *recorder) got() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	for _, e := range r.events {
		fmt.Fprintf(&b, "%s: %q\n", e.kind, e.text)
	}
	return b.String()
}

// text is all that came on a stream.
func (r *recorder) text(kind string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	for _, e := range r.events {
		if e.kind == kind {
			b.WriteString(e.text)
		}
	}
	return b.String()
}

func (r *recorder) waitFor(t testing.TB, kind, text string) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if strings.Contains(r.text(kind), text) {
			return
		}
	}
	t.Fatalf("%s never had %q; events:\n%s", kind, text, r.got())
}

func run(t testing.TB, p *engine.Process, prog engine.Program) (engine.Outcome, *recorder) {
	t.Helper()
	r := &recorder{}
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	return p.Run(ctx, prog, r), r
}

// mustRun is run for a program that has to succeed.
func mustRun(t testing.TB, p *engine.Process, prog engine.Program) *recorder {
	t.Helper()
	out, r := run(t, p, prog)
	if out.Panic != nil || out.Died != "" || out.Exit != nil {
		t.Fatalf("%+v %+v\n%s", out, out.Panic, r.got())
	}
	return r
}

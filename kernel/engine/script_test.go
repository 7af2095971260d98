package engine_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/warpbook/warpbook/display"
	"github.com/warpbook/warpbook/kernel/engine"
)

func named(path, name string) engine.Type { return engine.Type{Kind: "named", Path: path, Name: name} }

const rtPath, displayPath = modulePath + "kernel/rt", modulePath + "display"

// A script defines variables; later scripts and compiled cells see them.
func TestScriptVariables(t *testing.T) {
	p := start(t)
	strs := engine.Type{Kind: "slice", Elem: &engine.Type{Kind: "named", Name: "string"}}
	out, _ := run(t, p, script(1, []string{"strings", rtPath}, []engine.Var{
		{Slot: 1, Name: "X", New: true, Type: named("", "int")},
		{Slot: 2, Name: "S", New: true, Type: strs},
		{Slot: 3, Name: "Never", New: true, Type: named("", "string")},
		{Slot: 4, Name: "D", New: true, Type: named("time", "Duration")},
		{Slot: 5, Name: "M", New: true, Type: engine.Type{Kind: "map", Key: &engine.Type{Kind: "named", Name: "string"}, Elem: &strs}},
	}, `*v.X = 41; v.CommitX()
		*v.S = strings.Fields("a b"); v.CommitS()
		*v.D = 1500000000; v.CommitD()
		*v.M = map[string][]string{"k": *v.S}; v.CommitM()
		if *v.X > 0 { panic("half-way") }
		v.CommitNever()`))
	if out.Panic == nil || out.Panic.Text != "half-way" || !slices.Equal(out.Defined, []int{1, 2, 4, 5}) {
		t.Fatalf("%+v %+v", out, out.Panic)
	}
	mustRun(t, p, script(2, []string{"strings", rtPath}, []engine.Var{{Slot: 1, Name: "X", Type: named("", "int")}}, "*v.X++"))
	r := mustRun(t, p, cell{count: 3, body: `
		x := *(**int)(unsafe.Pointer(rt.Slot(1)))
		d := *(**time.Duration)(unsafe.Pointer(rt.Slot(4)))
		m := *(**map[string][]string)(unsafe.Pointer(rt.Slot(5)))
		rt.Show(*x, *d, (*m)["k"][1])`}.program(t))
	if got := r.got(); !strings.Contains(got, "42") || !strings.Contains(got, "1.5s") || !strings.Contains(got, "b") {
		t.Error(got)
	}
	out, _ = run(t, p, script(4, nil, []engine.Var{{Slot: 3, Name: "Never", Type: named("", "string")}}, "*v.Never = \"x\""))
	if out.Panic == nil || out.Panic.Kind != engine.Unsupported || !strings.Contains(out.Panic.Text, "Never has no value") {
		t.Errorf("%+v %+v", out, out.Panic)
	}
}

// Types and functions of compiled cells are real in scripts: names, methods, panics.
func TestScriptOverPlugin(t *testing.T) {
	p := start(t)
	prog := cell{count: 1, decls: `type Point struct{ X, Y int }; func (p Point) String() string { return fmt.Sprintf("<%d,%d>", p.X, p.Y) }
		func Fail(n int) error { var s []int; return fmt.Errorf("%d", s[n]) }
		//export type Point
		//export Fail
		`, body: ""}.program(t)
	prog.Entry = false
	mustRun(t, p, prog)
	imports := []string{prog.Package, "fmt", rtPath}
	c := prog.Package[strings.LastIndexByte(prog.Package, '/')+1:]
	point := named(prog.Package, "Point")
	r := mustRun(t, p, script(2, imports, []engine.Var{{Slot: 11, Name: "P", New: true, Type: point}}, `
		*v.P = `+c+`.Point{1, 2}; v.CommitP()
		rt.Printf("%v %T\n", *v.P, *v.P)`))
	if got, want := r.text("stdout"), "<1,2> main.Point\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	out, _ := run(t, p, script(3, imports, nil, c+".Fail(3)"))
	want := &engine.Panic{Kind: "runtime error", Text: "runtime error: index out of range [3] with length 0",
		Frames: []engine.Frame{{Func: "Fail", File: "cell[1]", Line: 2}}}
	if !reflect.DeepEqual(out.Panic, want) {
		t.Errorf("got %+v, want %+v", out.Panic, want)
	}
	out, _ = run(t, p, script(4, imports, nil, `panic(fmt.Errorf("an error of the script"))`))
	if out.Panic == nil || out.Panic.Text != "an error of the script" || out.Panic.Kind != "panic" {
		t.Errorf("%+v", out.Panic)
	}
	out, _ = run(t, p, script(4, imports, nil, `var e interface{} = `+c+`.Point{3, 4}; panic(e)`))
	if out.Panic == nil || out.Panic.Text != "<3,4>" {
		t.Errorf("%+v", out.Panic)
	}
}

// A script that the interpreter refuses runs in no part, and harms nothing.
func TestScriptErrors(t *testing.T) {
	p := start(t)
	for _, body := range []string{"undefined()", "x :=", "import", `var x int = "s"`} {
		out, r := run(t, p, script(1, []string{rtPath}, nil, "rt.Println(1)\n"+body))
		if out.Panic == nil || out.Panic.Kind != engine.Unsupported || r.got() != "" {
			t.Errorf("%s: %+v %+v %s", body, out, out.Panic, r.got())
		}
	}
	if r := mustRun(t, p, script(2, []string{rtPath}, nil, "rt.Println(1)")); r.text("stdout") != "1\n" {
		t.Error(r.got())
	}
}

// Interpreters come and go; the session does not notice.
func TestManyScripts(t *testing.T) {
	p := start(t)
	mustRun(t, p, script(1, nil, []engine.Var{{Slot: 1, Name: "N", New: true, Type: named("", "int")}}, "v.CommitN()"))
	var took []time.Duration
	for i := range 1000 {
		began := time.Now()
		mustRun(t, p, script(i, []string{"fmt", rtPath}, []engine.Var{{Slot: 1, Name: "N", Type: named("", "int")}}, "*v.N++"))
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	t.Logf("round trip p50 %v, p99 %v, slowest %v; child's memory %s", took[500], took[990], took[999], memory(t, p.Pid()))
	prog := script(9, []string{rtPath}, []engine.Var{{Slot: 1, Name: "N", Type: named("", "int")}}, "rt.Show(*v.N)")
	if r := mustRun(t, p, prog); r.got() != "publish: \"execute_result 1000\"\n" {
		t.Error(r.got())
	}
}

func memory(t *testing.T, pid int) string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			return strings.TrimSpace(rest)
		}
	}
	return "unknown"
}

// A user expression's bundle comes back instead of being published.
func TestValue(t *testing.T) {
	p := start(t)
	prog := script(1, []string{rtPath}, nil, "rt.Show(6 * 7)")
	prog.Value = true
	out, r := run(t, p, prog)
	b, ok := out.Bundle.(display.Bundle)
	if !ok || b.Data["text/plain"] != "42" || r.got() != "" {
		t.Errorf("%#v\n%s", out.Bundle, r.got())
	}
}

func TestComm(t *testing.T) {
	p := start(t)
	mustRun(t, p, cell{count: 1, body: `display.RegisterTarget("echo", func(c *display.Comm, open display.CommMsg) {
		c.OnMsg(func(m display.CommMsg) { rt.Println("got", m.Data["x"], len(m.Buffers[0])); c.Send(m.Data) })
	})`}.program(t))
	for i, c := range []engine.Comm{
		{Kind: "open", ID: "c1", Target: "echo"},
		{Kind: "msg", ID: "c1", Data: map[string]any{"x": 1.5}, Buffers: [][]byte{{0, 1, 255}}},
	} {
		r := mustRun(t, p, engine.Program{ID: 9000 + i, Count: 1, Comm: &c})
		want := ""
		if c.Kind == "msg" {
			want = "stdout: \"got 1.5 3\\n\"\ncomm: \"msg \"\n"
		}
		if r.got() != want {
			t.Errorf("got %q, want %q", r.got(), want)
		}
	}
}

// Close leaves nothing behind that the session started.
func TestClose(t *testing.T) {
	p := start(t)
	pidFile := filepath.Join(t.TempDir(), "pid")
	mustRun(t, p, script(1, []string{"os/exec"}, nil,
		fmt.Sprintf(`exec.Command("sh", "-c", "sleep 1000 & echo $! > %s; wait").Start()`, pidFile)))
	var pid int
	for range 200 {
		if data, _ := os.ReadFile(pidFile); strings.HasSuffix(string(data), "\n") {
			if _, err := fmt.Sscan(string(data), &pid); err != nil {
				t.Fatal(err)
			}
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if pid == 0 {
		t.Fatal("the subprocess did not start")
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		if gone(pid) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d is still there", pid)
}

// What cells have started ends with the process that started the session, even
// when that is killed: this test, started again, plays its part.
func TestOrphan(t *testing.T) {
	if file := os.Getenv("WARPBOOK_ORPHAN"); file != "" {
		p := start(t)
		mustRun(t, p, script(1, []string{"os/exec"}, nil, fmt.Sprintf(`exec.Command("sh", "-c", "sleep 1000 & echo $! > %s; wait").Start()`, file)))
		time.Sleep(time.Minute)
		return
	}
	file := filepath.Join(t.TempDir(), "pid")
	parent := exec.Command(os.Args[0], "-test.run=^TestOrphan$")
	parent.Env = append(os.Environ(), "WARPBOOK_ORPHAN="+file, "TMPDIR="+t.TempDir())
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	pid := 0
	for deadline := time.Now().Add(30 * time.Second); pid == 0 && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if data, _ := os.ReadFile(file); strings.HasSuffix(string(data), "\n") {
			_, _ = fmt.Sscan(string(data), &pid)
		}
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // it was killed
	if pid == 0 {
		t.Fatal("the subprocess did not start")
	}
	for deadline := time.Now().Add(10 * time.Second); !gone(pid); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			_ = unix.Kill(pid, unix.SIGKILL)
			t.Fatalf("process %d has outlived the kernel", pid)
		}
	}
}

// gone reports whether a process has ended; a zombie that nobody has waited for counts.
func gone(pid int) bool {
	if unix.Kill(pid, 0) != nil {
		return true
	}
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(data), ") Z ")
}

func BenchmarkScript(b *testing.B) {
	p := start(b)
	for b.Loop() {
		if out := p.Run(context.Background(), script(1, nil, nil, ""), &recorder{}); out.Panic != nil {
			b.Fatal(out.Panic.Text)
		}
	}
}

func BenchmarkStart(b *testing.B) {
	prepare(b)
	for b.Loop() {
		if err := start(b).Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// Scripts stop like compiled cells, and the interpreter is as good as before.
func TestScriptEnds(t *testing.T) {
	p := start(t)
	for _, body := range []string{"for { rt.Check() }", "rt.Sleep(1 << 60)"} {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		out := p.Run(ctx, script(1, []string{rtPath}, nil, body), &recorder{})
		cancel()
		if out.Panic == nil || out.Panic.Kind != "interrupt" || out.Panic.Left {
			t.Errorf("%s: %+v %+v", body, out, out.Panic)
		}
	}
	if out, _ := run(t, p, script(2, []string{rtPath}, nil, "rt.Exit(5)")); out.Exit == nil || *out.Exit != 5 {
		t.Errorf("%+v %+v", out, out.Panic)
	}
	if r := mustRun(t, p, script(3, []string{rtPath}, nil, `rt.Println("well")`)); r.text("stdout") != "well\n" {
		t.Error(r.got())
	}
}

// A child that is killed says so, whether a program runs or not.
func TestKilled(t *testing.T) {
	p := start(t)
	time.AfterFunc(100*time.Millisecond, func() { _ = unix.Kill(p.Pid(), unix.SIGKILL) })
	out, _ := run(t, p, script(1, []string{rtPath}, nil, "for { rt.Check() }"))
	if !strings.Contains(out.Died, "signal: killed") {
		t.Errorf("%+v", out)
	}
	p.Interrupt() // harmless
	if out, _ := run(t, p, script(2, nil, nil, "")); !strings.Contains(out.Died, "signal: killed") {
		t.Errorf("%+v", out)
	}
}

package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/warpbook/warpbook/kernel/engine"
)

// Whatever writes, and however: prints, displays and native writes keep their order.
func TestOrderOfOutput(t *testing.T) {
	p := start(t)
	r := mustRun(t, p, cell{count: 1, body: `
		for i := range 3 {
			rt.Println("line", i)
			syscall.Write(1, []byte("native\n"))
			display.Show(i)
		}
		fmt.Fprintln(rt.Stdout(), "end")
		rt.Show(42)`}.program(t))
	var want strings.Builder
	for i := range 3 {
		fmt.Fprintf(&want, "stdout: \"line %d\\nnative\\n\"\npublish: \"display_data %d\"\n", i, i)
	}
	want.WriteString("stdout: \"end\\n\"\npublish: \"execute_result 42\"\n")
	if r.got() != want.String() {
		t.Errorf("got:\n%s\nwant:\n%s", r.got(), &want)
	}
}

func TestManyLines(t *testing.T) {
	const lines = 1_000_000
	p := start(t)
	began := time.Now()
	r := mustRun(t, p, cell{count: 1, body: fmt.Sprintf(`for i := range %d { rt.Check(); rt.Println(i, "é") }`, lines)}.program(t))
	took := time.Since(began)
	text := r.text("stdout")
	t.Logf("%d lines, %.1f MB in %v", lines, float64(len(text))/1e6, took)
	n := 0
	for line := range strings.Lines(text) {
		if want := fmt.Sprintf("%d é\n", n); line != want {
			t.Fatalf("line %d is %q, want %q", n, line, want)
		}
		n++
	}
	if n != lines {
		t.Errorf("%d lines of %d", n, lines)
	}
}

// Runes are never cut, and what is no UTF-8 is marked.
func TestBytes(t *testing.T) {
	p := start(t)
	r := mustRun(t, p, cell{count: 1, body: `
		syscall.Write(1, []byte("a\xc3"))
		time.Sleep(20 * time.Millisecond)
		syscall.Write(1, []byte("\xa9 \xff \xe2\x82"))`}.program(t))
	if got, want := r.text("stdout"), "aé \uFFFD \uFFFD\uFFFD"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A goroutine that outlives its cell prints into that cell.
func TestLateOutput(t *testing.T) {
	p := start(t)
	first := mustRun(t, p, cell{count: 1, decls: `
		var next = make(chan bool)
		//export next
		`, body: `
		*(*unsafe.Pointer)(unsafe.Pointer(rt.Slot(1))) = unsafe.Pointer(&next); rt.Define(1)
		go func() {
			defer rt.Guard()
			rt.Recv(next)
			rt.Println("late")
			fmt.Fprintln(rt.Stderr(), "late error")
			log.Print("late log")
			display.Show("late display")
			rt.Println("later")
			next <- true
		}()`}.program(t))
	second := mustRun(t, p, cell{count: 2, body: `
		next := **(**chan bool)(unsafe.Pointer(rt.Slot(1)))
		rt.Println("second")
		next <- true
		<-next
		rt.Println("second again")`}.program(t))
	if got, want := second.got(), "stdout: \"second\\nsecond again\\n\"\n"; got != want {
		t.Errorf("the second cell has:\n%s\nwant:\n%s", got, want)
	}
	first.waitFor(t, "stdout", "later")
	if got, want := first.text("stdout"), "late\nlater\n"; got != want {
		t.Errorf("stdout of the first cell: %q, want %q", got, want)
	}
	first.waitFor(t, "stderr", "late log")
	if got := first.got(); strings.Index(got, "late display") < strings.Index(got, "late\\n") || strings.Index(got, "late display") > strings.Index(got, "later") {
		t.Errorf("out of order:\n%s", got)
	}
}

func TestGoroutinePanic(t *testing.T) {
	p := start(t)
	prog := cell{count: 3, decls: "func fail() { panic(errors.New(\"boom\")) }", body: `
		done := make(chan bool)
		go func() { defer rt.Guard(); defer close(done); fail() }()
		<-done
		time.Sleep(50 * time.Millisecond)`}.program(t)
	r := mustRun(t, p, prog)
	want := "panic in a goroutine started by cell [3]: boom\n    cell [3], line 1, in fail\n    cell [3], line 102, in cell.func1\n"
	if got := r.text("stderr"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPanics(t *testing.T) {
	p := start(t)
	for _, test := range []struct{ decls, body, kind, text, frames string }{
		{"func f(s []int) int { return s[5] }", "f(make([]int, 3))", "runtime error", "runtime error: index out of range [5] with length 3", "f cell[7]:1, cell cell[7]:100"},
		{"type T struct{}; func (t *T) M() { panic(\"x\\ny\") }", "\n(&T{}).M()", "panic", "x\n\ty", "(*T).M cell[7]:1, cell cell[7]:101"},
		{"type P struct{ x *int }", "var p *P; rt.Println(p.x)", "runtime error", "runtime error: invalid memory address or nil pointer dereference", "cell cell[7]:100"},
		{"type E int; func (e E) Error() string { return \"an E\" }", "panic(E(1))", "panic", "an E", "cell cell[7]:100"},
		{"type N int", "panic(N(1))", "panic", "main.N(1)", "cell cell[7]:100"},
	} {
		out, r := run(t, p, cell{count: 7, decls: test.decls, body: test.body}.program(t))
		if out.Panic == nil {
			t.Errorf("%s: no panic: %+v\n%s", test.body, out, r.got())
			continue
		}
		var frames []string
		for _, f := range out.Panic.Frames {
			frames = append(frames, fmt.Sprintf("%s %s:%d", f.Func, f.File, f.Line))
		}
		got := engine.Panic{Kind: out.Panic.Kind, Text: out.Panic.Text}
		if got.Kind != test.kind || got.Text != test.text || strings.Join(frames, ", ") != test.frames {
			t.Errorf("%s: got %s %q %v, want %s %q %s", test.body, got.Kind, got.Text, frames, test.kind, test.text, test.frames)
		}
	}
}

func TestExit(t *testing.T) {
	p := start(t)
	for body, want := range map[string]int{
		`defer rt.Println("deferred"); rt.Exit(3)`:            3,
		`func() { rt.Fatalf("bad %d", 1) }()`:                 1,
		`go rt.Exit(4); select {case <-rt.Done(): rt.Halt()}`: 4,
	} {
		out, r := run(t, p, cell{count: 1, body: body}.program(t))
		if out.Exit == nil || *out.Exit != want || out.Panic != nil || r.text("stdout") != "" {
			t.Errorf("%s: %+v\n%s", body, out, r.got())
		}
	}
	if r := mustRun(t, p, cell{count: 2, body: `defer rt.Println("deferred"); rt.Goexit()`}.program(t)); r.text("stdout") != "deferred\n" {
		t.Errorf("Goexit: %s", r.got())
	}
}

func TestInterrupt(t *testing.T) {
	p := start(t)
	for name, body := range map[string]string{
		"loop":      `for { rt.Check() }`,
		"printing":  `for { rt.Check(); rt.Println("again") }`,
		"sleep":     `rt.Sleep(time.Hour)`,
		"channel":   `rt.Recv(make(chan int))`,
		"select":    `select { case <-make(chan int): case <-rt.Done(): rt.Halt() }`,
		"goroutine": `for range 4 { go func() { defer rt.Guard(); for { rt.Check() } }() }; for { rt.Check() }`,
		"mutex":     `var m sync.Mutex; m.Lock(); rt.MutexLock(&m)`,
		"stdin":     `var s string; fmt.Scan(&s)`,
	} {
		prog := cell{count: 1, body: `rt.Println("ready");` + body}.program(t)
		var took []time.Duration
		for range 5 {
			r := &recorder{input: func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() }}
			stopped := make(chan time.Time, 1)
			go func() {
				r.waitFor(t, "stdout", "ready")
				if name == "stdin" {
					r.waitFor(t, "input", "")
				}
				time.Sleep(30 * time.Millisecond)
				stopped <- time.Now()
				p.Interrupt()
			}()
			out := p.Run(context.Background(), prog, r)
			took = append(took, time.Since(<-stopped))
			if out.Panic == nil || out.Panic.Kind != "interrupt" || out.Panic.Left {
				t.Fatalf("%s: %+v %+v\n%s", name, out, out.Panic, r.text("stderr"))
			}
			if d := took[len(took)-1]; d > 2*time.Second {
				t.Errorf("%s took %v to stop", name, d)
			}
		}
		t.Logf("%-10s %v", name, took)
	}
	mustRun(t, p, script(2, nil, nil, "")) // the session goes on
}

// A wait inside a package is left behind soon; a command that a cell waits for
// is interrupted, as a terminal does.
func TestInterruptWaits(t *testing.T) {
	p := start(t)
	for name, c := range map[string]struct {
		body string
		left bool
	}{
		"read":    {`r, w, _ := os.Pipe(); r.Read(make([]byte, 1)); w.Close()`, true},
		"syscall": {`syscall.Pause()`, true},
		"command": {`w, err := os.StartProcess("/bin/sleep", []string{"sleep", "1000"}, &os.ProcAttr{}); if err != nil { panic(err) }; rt.Println("pid", w.Pid); w.Wait()`, false},
	} {
		prog := cell{count: 1, body: `rt.Println("ready");` + c.body}.program(t)
		r := &recorder{}
		stopped := make(chan time.Time, 1)
		go func() {
			r.waitFor(t, "stdout", "ready")
			time.Sleep(100 * time.Millisecond)
			stopped <- time.Now()
			p.Interrupt()
		}()
		out := p.Run(context.Background(), prog, r)
		t.Logf("%-10s %v", name, time.Since(<-stopped))
		if out.Panic == nil || out.Panic.Kind != "interrupt" || c.left && !out.Panic.Left {
			t.Errorf("%s: %+v %+v\n%s", name, out, out.Panic, r.text("stderr"))
		}
		if _, text, ok := strings.Cut(r.text("stdout"), "pid "); ok {
			pid, err := strconv.Atoi(strings.TrimSpace(text))
			if err != nil {
				t.Fatal(err)
			}
			for deadline := time.Now().Add(10 * time.Second); !gone(pid); time.Sleep(10 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("the command goes on")
				}
			}
		}
	}
	mustRun(t, p, script(2, nil, nil, ""))
}

// A cell that closes the control connection ends the session: nobody waits for
// its outcome for ever.
func TestClosedDescriptors(t *testing.T) {
	p := start(t)
	out, _ := run(t, p, cell{count: 1, body: `for fd := 400; fd < 600; fd++ { syscall.Close(fd) }`}.program(t))
	if out.Died == "" { // its words depend on which side sees it first
		t.Errorf("%+v %+v", out, out.Panic)
	}
}

// A wait that nothing ends is left behind.
func TestInterruptLeft(t *testing.T) {
	p := start(t)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	out := p.Run(ctx, cell{count: 1, body: `time.Sleep(4 * time.Second); rt.Println("woken")`}.program(t), &recorder{})
	if out.Panic == nil || !out.Panic.Left {
		t.Errorf("%+v %+v", out, out.Panic)
	}
	mustRun(t, p, script(2, nil, nil, ""))
}

func TestRecursion(t *testing.T) {
	p := start(t)
	for name, c := range map[string]cell{
		"small frames":  {count: 4, decls: "func f(n int) int { rt.Enter(); return f(n+1) + 1 }", body: "f(0)"},
		"large frames":  {count: 4, decls: "func f(n int) int { rt.Enter(); var a [64 << 10]byte; a[n%len(a)] = 1; return f(n+1) + int(a[n/2%len(a)]) }", body: "f(0)"},
		"in a callback": {count: 4, decls: "type T struct{}; func (t T) String() string { rt.Enter(); return fmt.Sprint(t) }", body: "rt.Println(T{})"},
	} {
		prog := c.program(t)
		for range 3 {
			began := time.Now()
			out, r := run(t, p, prog)
			t.Logf("%s: %v", name, time.Since(began))
			if name == "in a callback" && out.Panic == nil && strings.Contains(r.text("stdout"), "PANIC=String method: stack overflow") {
				continue // fmt reports panics of String itself
			}
			if out.Panic == nil || out.Panic.Kind != "recursion" || !strings.HasPrefix(out.Panic.Text, "stack overflow: recursion too deep (cell [4], ") {
				t.Fatalf("%s: %+v %+v\n%s", name, out, out.Panic, r.got())
			}
		}
	}
	// Deep, but not endless.
	mustRun(t, p, cell{count: 5, decls: "func g(n int) int { rt.Enter(); if n == 0 { return 0 }; return g(n-1) + 1 }", body: "if g(500_000) != 500_000 { panic(1) }"}.program(t))
}

func TestDeath(t *testing.T) {
	p := start(t)
	out, r := run(t, p, cell{count: 6, decls: "func write(m map[int]int) { for i := 0; ; i++ { m[i%10] = i } }", body: `
		rt.Println("before")
		m := map[int]int{}
		for range 4 { go write(m) }
		write(m)`}.program(t))
	if !strings.HasPrefix(out.Died, "fatal error: concurrent map writes\n    cell [6], line 1, in write") {
		t.Errorf("died: %q", out.Died)
	}
	if r.got() != "stdout: \"before\\n\"\n" {
		t.Errorf("got:\n%s", r.got())
	}
	if out, _ := run(t, p, script(7, nil, nil, "")); out.Died == "" {
		t.Errorf("a dead child runs a program: %+v", out)
	}
	select {
	case <-p.Dead():
	case <-time.After(5 * time.Second):
		t.Error("the handle does not say that the child is dead")
	}
	began := time.Now()
	q := start(t)
	t.Logf("a new child is ready after %v", time.Since(began))
	mustRun(t, q, script(1, nil, nil, ""))
}

// What looks like a dying process, but is not, is ordinary output.
func TestFalseLastWords(t *testing.T) {
	p := start(t)
	r := mustRun(t, p, cell{count: 1, body: `os.Stderr.WriteString("panic: not really\nmore\n")`}.program(t))
	if got, want := r.text("stderr"), "panic: not really\nmore\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestInput(t *testing.T) {
	p := start(t)
	lines := []string{"Ada", "36", "last words"}
	r := &recorder{input: func(context.Context) (string, error) {
		line := lines[0]
		lines = lines[1:]
		return line, nil
	}}
	out := p.Run(context.Background(), cell{count: 1, body: `
		var name string
		var age int
		rt.Print("who? ")
		fmt.Scan(&name, &age)
		rt.Println(name, age)
		s := bufio.NewScanner(os.Stdin)
		s.Scan()
		rt.Println(s.Text())`}.program(t), r)
	want := "stdout: \"who? \"\ninput: \"\"\nstdout: \"Ada 36\\n\"\ninput: \"\"\nstdout: \"last words\\n\"\n"
	// Two requests in a row are one event of the recorder.
	if out.Panic != nil || r.got() != want {
		t.Errorf("%+v\ngot:\n%s\nwant:\n%s", out.Panic, r.got(), want)
	}
}

func TestNoInput(t *testing.T) {
	p := start(t)
	out, _ := run(t, p, cell{count: 1, body: `
		for {
			rt.Check()
			var s string
			fmt.Scan(&s)
		}`}.program(t))
	if out.Panic == nil || out.Panic.Kind != engine.Stdin || out.Panic.Text != "this front end does not support input requests" {
		t.Errorf("%+v %+v", out, out.Panic)
	}
	r := &recorder{input: func(context.Context) (string, error) { return "again", nil }}
	prog := cell{count: 2, body: `var s string; fmt.Scan(&s); rt.Println(s)`}.program(t)
	if out := p.Run(context.Background(), prog, r); out.Panic != nil || r.text("stdout") != "again\n" {
		t.Errorf("input does not work afterwards: %+v\n%s", out.Panic, r.got())
	}
}

func TestStartErrors(t *testing.T) {
	if _, err := engine.Start(context.Background(), engine.Options{Command: []string{"/nonexistent"}}); err == nil {
		t.Error("no error for a missing program")
	}
	_, err := engine.Start(context.Background(), engine.Options{Command: []string{"sh", "-c", "echo no good >&2; exit 7"}})
	if err == nil || !strings.Contains(err.Error(), "exit status 7") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := engine.Start(ctx, engine.Options{Command: []string{"sleep", "60"}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// BenchmarkInterrupt interrupts endless programs: how long until Run returns.
func BenchmarkInterrupt(b *testing.B) {
	for name, body := range map[string]string{
		"loop":     `for { rt.Check() }`,
		"busy":     `for range 8 { go func() { defer rt.Guard(); for { rt.Check() } }() }; for { rt.Check() }`,
		"sleep":    `rt.Sleep(time.Hour)`,
		"printing": `for { rt.Check(); rt.Println("again") }`,
		"stdin":    `var s string; fmt.Scan(&s)`,
	} {
		b.Run(name, func(b *testing.B) {
			p := start(b)
			prog := cell{count: 1, body: body}.program(b)
			var took []time.Duration
			for b.Loop() {
				asked := make(chan struct{})
				r := &recorder{input: func(ctx context.Context) (string, error) { close(asked); <-ctx.Done(); return "", ctx.Err() }}
				var began time.Time
				go func() {
					if name == "stdin" {
						<-asked
					}
					time.Sleep(20 * time.Millisecond)
					began = time.Now()
					p.Interrupt()
				}()
				if out := p.Run(context.Background(), prog, r); out.Panic == nil || out.Panic.Kind != "interrupt" {
					b.Fatalf("%+v", out)
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
		})
	}
}

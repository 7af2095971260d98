package session

import (
	"context"
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/warpbook/warpbook/display"
)

// A part of a cell: Go code, or a magic. Code keeps its place in the cell: what
// belongs to other parts is blank.
type part struct {
	magic string // without % and %%; "!" for a shell line, "?" for help
	args  string
	code  string // Go code, or the body of a cell magic
	line  int
}

// splitMagics cuts a cell at its magics. Lines that start with % or ! are
// magics only where a Go statement could start.
func splitMagics(code string) []part {
	lines := strings.SplitAfter(code, "\n")
	for i, line := range lines {
		t := strings.TrimSpace(line)
		if t == "" {
			continue
		}
		if name, ok := strings.CutPrefix(t, "%%"); ok {
			name, args, _ := strings.Cut(name, " ")
			body := strings.Repeat("\n", i+1) + strings.Join(lines[i+1:], "")
			return []part{{magic: "%" + name, args: strings.TrimSpace(args), code: body, line: i + 1}}
		}
		break
	}
	if !strings.ContainsAny(code, "%!?") {
		return []part{{code: code}}
	}
	var parts []part
	var segment strings.Builder // code since the last magic, on a blank page
	flush := func(n int) {
		if strings.TrimSpace(segment.String()) != "" {
			parts = append(parts, part{code: segment.String()})
		}
		segment.Reset()
		segment.WriteString(strings.Repeat("\n", n))
	}
	for i, line := range lines {
		if m, ok := lineMagic(line); ok && statementMayStart(segment.String()) {
			flush(i + 1)
			m.line = i + 1
			parts = append(parts, m)
			continue
		}
		segment.WriteString(line)
	}
	flush(0)
	return parts
}

func lineMagic(line string) (part, bool) {
	t := strings.TrimSpace(line)
	if rest, ok := strings.CutPrefix(t, "!"); ok && rest != "" {
		return part{magic: "!", args: strings.TrimPrefix(rest, "!")}, true
	}
	if rest, ok := strings.CutPrefix(t, "%"); ok && rest != "" {
		name, args, _ := strings.Cut(rest, " ")
		return part{magic: name, args: strings.TrimSpace(args)}, true
	}
	name := strings.Trim(t, "?")
	if name != t && name != "" && !strings.ContainsAny(name, " ()\"'`{}/=") && (strings.HasSuffix(t, "?") || strings.HasPrefix(t, "?")) {
		return part{magic: strings.Repeat("?", len(t)-len(name)), args: name}, true
	}
	return part{}, false
}

// statementMayStart says whether the code before is complete: no open bracket,
// and a line end that ends a statement.
func statementMayStart(before string) bool {
	var s scanner.Scanner
	fset := token.NewFileSet()
	bad := false
	s.Init(fset.AddFile("", -1, len(before)), []byte(before), func(token.Position, string) { bad = true }, 0)
	depth, last := 0, token.SEMICOLON
	for {
		_, tok, _ := s.Scan()
		switch tok {
		case token.EOF:
			return !bad && depth == 0 && last == token.SEMICOLON
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		}
		last = tok
	}
}

// cellCode runs a cell part by part. When it has several, the Go code is checked
// as a whole first: a cell with a compile error does nothing.
func (r *run) cellCode(code string) (out Outcome) {
	parts := splitMagics(code)
	if len(parts) > 1 && !gets(parts) {
		if err := r.precheck(parts); err != nil {
			return Outcome{Err: err}
		}
	}
	for _, p := range parts {
		if r.ctx.Err() != nil {
			out.Err = interrupted()
			return out
		}
		if p.magic == "" {
			out.Err = r.goCode(p.code)
		} else {
			payload, err := r.magic(p)
			out.Err = err
			out.Payload = append(out.Payload, payload...)
		}
		if out.Err != nil {
			return out
		}
	}
	return out
}

func (r *run) precheck(parts []part) *Error {
	var whole []string
	for _, p := range parts {
		if p.magic != "" {
			if _, known := magics[p.magic]; !known {
				return unknownMagic(p)
			}
			continue
		}
		for i, line := range strings.Split(p.code, "\n") {
			for len(whole) <= i {
				whole = append(whole, "")
			}
			whole[i] += line
		}
	}
	if _, diags := r.s.front.Check(r.cell.Count, strings.Join(whole, "\n")); len(diags) > 0 && r.ctx.Err() == nil {
		return r.s.compileError(diags)
	}
	return nil
}

// magics lists what there is, with one line of help each.
var magics = map[string]string{
	"%writefile": "%%writefile [-a] FILE  write the rest of the cell to a file (-a: append)",
	"%bash":      "%%bash                 run the rest of the cell with bash",
	"%sh":        "%%sh                   run the rest of the cell with sh",
	"%html":      "%%html                 show the rest of the cell as HTML",
	"%markdown":  "%%markdown             show the rest of the cell as Markdown",
	"%time":      "%%time                 run the cell and say how long it took",
	"%cuda":      "%%cuda NAME [--ptx]    compile the rest of the cell as CUDA C++",
	"cuda":       "%cuda [--device NAME] [--seed N] [--schedules N] [--budget N] [--sanitize TOOL]  how kernels run; without options: what is set",
	"%timeit":    "%%timeit               run the cell many times: ns/op with spread",
	"!":          "!COMMAND               run a shell command",
	"?":          "?NAME or NAME?         documentation of a name; ?? shows the source too",
	"??":         "",
	"who":        "%who                   names of the session, with kinds and types",
	"whos":       "",
	"reset":      "%reset                 forget everything declared",
	"time":       "%time CODE             run the code and say how long it took",
	"timeit":     "%timeit CODE           run the code many times: ns/op with spread",
	"engine":     "%engine [MODE]         how cells are run: auto, yaegi or compiled",
	"get":        "%get MODULE[@VERSION]  add a module to the session; without MODULE: list them",
	"replay":     "%replay                run the cells that succeeded again, after the session ended",
	"help":       "%help                  this list",
	"lsmagic":    "",
}

func unknownMagic(p part) *Error {
	name := "%" + p.magic
	e := simpleError("unknown magic", name+" is not known here: %help lists what is")
	for known := range magics {
		if len(known) > 2 && strings.TrimLeft(known, "%") == strings.TrimLeft(p.magic, "%") {
			return simpleError("unknown magic", name+" is not known here, but %"+known+" is")
		}
	}
	hints := map[string]string{
		"matplotlib": "plots show inline without it: display.Line, display.Chart, or a *plot.Plot as the last expression",
		"pip":        "this is a Go notebook: the standard library and Warpbook's packages are imported as you use them",
		"cd":         "use os.Chdir(\"...\")", "env": "use os.Setenv(\"NAME\", \"value\")", "run": "use !go run FILE",
		"%python": "this is a Go notebook", "load": "paste the file into a cell",
	}
	if h := hints[p.magic]; h != "" {
		e = simpleError("unknown magic", name+" is not known here: "+h)
	}
	return e
}

func (r *run) magic(p part) ([]map[string]any, *Error) {
	switch p.magic {
	case "!":
		return nil, r.shell("bash", []string{"-c", p.args}, "", false)
	case "%bash", "%sh":
		return nil, r.shell(p.magic[1:], []string{"-s"}, strings.TrimLeft(p.code, "\n"), true)
	case "%writefile":
		return nil, r.writeFile(p)
	case "%html":
		r.ev.Publish(display.Message{Kind: display.Data, Bundle: display.Bundle{Data: map[string]any{"text/html": body(p), "text/plain": body(p)}}})
	case "%markdown":
		r.ev.Publish(display.Message{Kind: display.Data, Bundle: display.Bundle{Data: map[string]any{"text/markdown": body(p), "text/plain": body(p)}}})
	case "%cuda":
		return nil, r.cudaCell(p)
	case "cuda":
		return nil, r.cudaSettings(p.args)
	case "time", "%time":
		return nil, r.time(p)
	case "timeit", "%timeit":
		return nil, r.timeit(p)
	case "who", "whos":
		r.who()
	case "reset":
		r.s.good = nil
		r.s.reset()
		r.ev.Stream("stdout", "The session is empty.\n")
	case "engine":
		return nil, r.engine(p.args)
	case "replay":
		return nil, r.replay()
	case "get":
		return nil, r.get(p.args)
	case "help", "lsmagic":
		r.help()
	case "?", "??":
		return r.pageHelp(p)
	default:
		return nil, unknownMagic(p)
	}
	return nil, nil
}

func body(p part) string { return strings.TrimLeft(p.code, "\n") }

// shell runs a command in the notebook's folder; an interrupt ends it and all
// that it started. Strict makes a failure the cell's.
func (r *run) shell(program string, args []string, stdin string, strict bool) *Error {
	cmd := exec.CommandContext(r.ctx, program, args...)
	cmd.Dir = r.s.folder()
	cmd.Stdin = strings.NewReader(stdin)
	ownGroup(cmd)
	cmd.WaitDelay = 2 * time.Second
	out := &streamWriter{ev: r.ev, name: "stdout"}
	errs := &streamWriter{ev: r.ev, name: "stderr"}
	cmd.Stdout, cmd.Stderr = out, errs
	err := cmd.Run()
	out.flush()
	errs.flush()
	var exit *exec.ExitError
	switch {
	case r.ctx.Err() != nil:
		return interrupted()
	case errors.As(err, &exit):
		if strict {
			return simpleError("exit", fmt.Sprintf("%s ended with %v", program, exit))
		}
	case err != nil:
		return simpleError("shell", fmt.Sprintf("cannot run %s: %v", program, err))
	}
	return nil
}

// streamWriter passes bytes on as whole runes.
type streamWriter struct {
	mu   sync.Mutex
	ev   Events
	name string
	rest []byte
}

func (w *streamWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rest = append(w.rest, p...)
	n := len(w.rest)
	for k := 1; k <= utf8.UTFMax && k <= n; k++ { // hold back a rune that is cut
		if utf8.RuneStart(w.rest[n-k]) {
			if !utf8.FullRune(w.rest[n-k:]) {
				n -= k
			}
			break
		}
	}
	if n > 0 {
		w.ev.Stream(w.name, strings.ToValidUTF8(string(w.rest[:n]), "\uFFFD"))
		w.rest = append(w.rest[:0], w.rest[n:]...)
	}
	return len(p), nil
}

func (w *streamWriter) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.rest) > 0 {
		w.ev.Stream(w.name, strings.ToValidUTF8(string(w.rest), "\uFFFD"))
		w.rest = nil
	}
}

func (r *run) writeFile(p part) *Error {
	name, appendTo := p.args, false
	if rest, ok := strings.CutPrefix(name, "-a "); ok {
		name, appendTo = strings.TrimSpace(rest), true
	}
	if name == "" {
		return simpleError("usage", "%%writefile wants the name of a file: %%writefile [-a] FILE")
	}
	path := r.s.path(name)
	if home, err := os.UserHomeDir(); err == nil && strings.HasPrefix(name, "~/") {
		path = filepath.Join(home, name[2:])
	}
	flags, verb := os.O_CREATE|os.O_WRONLY|os.O_TRUNC, "Writing"
	if _, err := os.Stat(path); err == nil {
		verb = "Overwriting"
		if appendTo {
			flags, verb = os.O_CREATE|os.O_WRONLY|os.O_APPEND, "Appending to"
		}
	}
	f, err := os.OpenFile(path, flags, 0o644)
	if err == nil {
		_, err = io.WriteString(f, body(p))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return simpleError("writefile", err.Error())
	}
	r.ev.Stream("stdout", verb+" "+name+"\n")
	return nil
}

// timed runs f and says how long it took.
func (r *run) time(p part) *Error {
	code := p.args
	if p.magic == "%time" {
		code = p.code
		if p.args != "" {
			code = strings.Replace(code, "\n", p.args+"\n", 1)
		}
	} else {
		code = strings.Repeat("\n", p.line-1) + code
	}
	start := time.Now()
	err := r.goCode(code)
	if err == nil {
		r.ev.Stream("stdout", fmt.Sprintf("Wall time: %s\n", time.Since(start).Round(time.Microsecond)))
	}
	return err
}

func (r *run) engine(mode string) *Error {
	switch mode {
	case "":
	case "auto", "yaegi", "compiled":
		r.s.mode = mode
	default:
		return simpleError("usage", "%engine wants auto, yaegi or compiled")
	}
	text := "engine: " + r.s.mode
	if err := r.s.opt.Tool.Usable(); err != nil {
		text += "; " + err.Error()
	}
	r.ev.Stream("stdout", text+"\n")
	return nil
}

// replay runs what succeeded before the session ended.
func (r *run) replay() *Error {
	cells := r.s.good
	r.s.good = nil
	for i, code := range cells {
		r.ev.Stream("stderr", fmt.Sprintf("replay %d of %d\n", i+1, len(cells)))
		if strings.Contains(code, "%replay") || strings.Contains(code, "%reset") {
			continue
		}
		sub := &run{s: r.s, ctx: r.ctx, cell: r.cell, ev: r.ev}
		if out := sub.cellCode(code); out.Err != nil {
			r.s.good = append(r.s.good, cells[i:]...)
			return out.Err
		}
		r.s.good = append(r.s.good, code)
	}
	return nil
}

func (r *run) help() {
	var b strings.Builder
	b.WriteString("A cell holds Go: imports, declarations and statements in any order. The last expression is shown; end it with ; to show nothing.\n\n")
	for _, key := range []string{"%writefile", "%bash", "%html", "%markdown", "%time", "%timeit", "%cuda", "cuda", "!", "?", "time", "timeit", "who", "reset", "engine", "get", "replay", "help"} {
		b.WriteString(magics[key] + "\n")
	}
	r.ev.Stream("stdout", b.String())
}

func (r *run) pageHelp(p part) ([]map[string]any, *Error) {
	ins, err := r.s.Inspect(context.WithoutCancel(r.ctx), p.args, utf8.RuneCountInString(p.args), len(p.magic)-1)
	if err != nil || !ins.Found {
		return nil, simpleError("help", "nothing is known about "+p.args)
	}
	return []map[string]any{{"source": "page", "data": ins.Bundle.Data, "start": 0}}, nil
}

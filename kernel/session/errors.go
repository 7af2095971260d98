package session

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/warpbook/warpbook/kernel/engine"
	"github.com/warpbook/warpbook/kernel/front"
	"github.com/warpbook/warpbook/kernel/gotool"
	"github.com/warpbook/warpbook/kernel/lower"
)

func red(s string) string  { return "\x1b[1;31m" + s + "\x1b[0m" }
func bold(s string) string { return "\x1b[1m" + s + "\x1b[0m" }
func dim(s string) string  { return "\x1b[2m" + s + "\x1b[0m" }

func simpleError(name, value string) *Error {
	return &Error{Name: name, Value: value, Traceback: []string{red(name) + ": " + value}}
}

func internalError(err error) *Error {
	return simpleError("internal error", fmt.Sprintf("%v: this is a defect of Warpbook, not of your code; the notebook's state is kept", err))
}

// compileError renders everything that is wrong with a cell, with the source
// line and a caret.
func (s *Notebook) compileError(ds []front.Diagnostic) *Error {
	e := &Error{Name: "compile error", Value: ds[0].Msg}
	if ds[0].Line > 0 {
		e.Value = fmt.Sprintf("%s: %s", place(ds[0].Cell, ds[0].Line), ds[0].Msg)
	}
	e.Value = cut(e.Value, 300)
	if n := len(ds); n > 1 {
		e.Value += fmt.Sprintf(" (and %d more)", n-1)
	}
	const most = 20
	for i, d := range ds {
		if i == most {
			e.Traceback = append(e.Traceback, dim(fmt.Sprintf("and %d more errors", len(ds)-most)))
			break
		}
		e.Traceback = append(e.Traceback, s.renderDiagnostic(d))
	}
	return e
}

func place(cell string, line int) string {
	return front.Readable(fmt.Sprintf("%s:%d", cell, line))
}

func (s *Notebook) renderDiagnostic(d front.Diagnostic) string {
	var b strings.Builder
	if d.Line == 0 {
		fmt.Fprintf(&b, "%s: %s", red("error"), cut(d.Msg, 1000))
	} else {
		fmt.Fprintf(&b, "%s, column %d: %s: %s", bold(place(d.Cell, d.Line)), d.Col, red("error"), cut(d.Msg, 1000))
		b.WriteString(s.excerpt(d.Cell, d.Line, d.Col))
	}
	for _, n := range d.Notes {
		b.WriteString("\n    " + n)
	}
	return b.String()
}

// excerpt shows a source line, with a caret below when col is not zero.
func (s *Notebook) excerpt(cell string, line, col int) string {
	text, ok := s.sourceLine(cell, line)
	if !ok {
		return ""
	}
	number := fmt.Sprintf("%5d", line)
	text, col = window(text, col)
	out := "\n" + dim(number+" | ") + strings.ReplaceAll(text, "\t", "    ")
	if col > 0 && col <= len(text)+1 {
		pad := strings.ReplaceAll(text[:col-1], "\t", "    ")
		out += "\n" + dim("      | ") + strings.Repeat(" ", utf8.RuneCountInString(pad)) + red("^")
	}
	return out
}

// window cuts a long line to what is around column col, which counts bytes.
func window(text string, col int) (string, int) {
	const width = 160
	if len(text) <= width {
		return text, col
	}
	from := 0
	if col > width/2 && col <= len(text)+1 {
		from = col - width/2
	}
	to := min(from+width, len(text))
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	head, tail := "", ""
	if from > 0 {
		head = "…"
		col += len(head) - from
	}
	if to < len(text) {
		tail = "…"
	}
	return head + text[from:to] + tail, col
}

// cut shortens a text to n runes.
func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

func (s *Notebook) sourceLine(cell string, line int) (string, bool) {
	var n int
	if _, err := fmt.Sscanf(cell, "cell[%d]", &n); err != nil {
		return "", false
	}
	s.mu.Lock()
	src := s.sources[n]
	s.mu.Unlock()
	lines := strings.Split(src, "\n")
	if line < 1 || line > len(lines) {
		return "", false
	}
	return strings.Map(printable, strings.TrimRight(lines[line-1], "\r")), true
}

// printable replaces control characters: a quoted line must not move the cursor.
func printable(r rune) rune {
	if r < ' ' && r != '\t' || r == 0x7f {
		return '\uFFFD'
	}
	return r
}

// lowerError is for code that checks but cannot be built.
func (s *Notebook) lowerError(err error) *Error {
	var compile *gotool.CompileError
	if errors.As(err, &compile) {
		s.opt.Log.Error("a checked cell does not compile", "error", err)
		return internalError(fmt.Errorf("the compiler refuses the cell: %v", err))
	}
	var refused *lower.Refused
	if errors.As(err, &refused) {
		return s.compileError([]front.Diagnostic{{Cell: refused.Cell, Line: refused.Line, Col: refused.Col, Msg: err.Error()}})
	}
	return simpleError("compile error", err.Error())
}

func (s *Notebook) needsCompiler(refused *lower.Refused, why error) error {
	if why == nil {
		return refused
	}
	return fmt.Errorf("%w; it needs the Go compiler: %v", refused, why)
}

// panicError renders a panic with the calls inside the notebook.
func (s *Notebook) panicError(p *engine.Panic) *Error {
	switch p.Kind {
	case "interrupt":
		e := interrupted()
		if p.Left {
			e.Traceback = append(e.Traceback, "a wait that cannot be interrupted was left behind; it may still hold what it holds")
		}
		return e
	case engine.Device:
		first, _, _ := strings.Cut(p.Text, "\n")
		return &Error{Name: "device error", Value: cut(first, 300), Traceback: []string{red("device error") + ": " + p.Text}}
	case engine.Stdin:
		return simpleError("input", p.Text)
	case engine.Unsupported:
		if strings.Contains(p.Text, "oo many open files") {
			return simpleError("session", "the session has no file descriptors left, so nothing compiled can be loaded: close files that earlier cells have opened, or run %reset")
		}
		return internalError(errors.New(p.Text))
	}
	e := &Error{Name: p.Kind, Value: demangle(p.Text)}
	e.Traceback = append(e.Traceback, red("panic")+": "+e.Value)
	const most = 30
	shown, same := 0, 0
	for i, f := range p.Frames {
		if i > 0 && f == p.Frames[i-1] {
			same++
			continue
		}
		if same > 0 {
			e.Traceback = append(e.Traceback, dim(fmt.Sprintf("      the call above, %d times more", same)))
			same = 0
		}
		if shown == most {
			e.Traceback = append(e.Traceback, dim("      and more calls"))
			break
		}
		shown++
		where := place(f.File, f.Line)
		if f.Func != "" && f.Func != "cell" {
			where += ", in " + demangle(f.Func)
		}
		e.Traceback = append(e.Traceback, bold(where)+s.excerpt(f.File, f.Line, 0))
	}
	if same > 0 {
		e.Traceback = append(e.Traceback, dim("      the call above, again and again"))
	}
	return e
}

// packages are the paths of cells in Go's own texts.
var packages = regexp.MustCompile(`wb/s\d+/c\d+\.`)

// demangle gives the user's names for those that package lower makes up.
func demangle(s string) string {
	for _, made := range []string{"WbX.F_", "WbX.I_", "WbM_", "WbG_", "WbT_", "F_"} {
		s = strings.ReplaceAll(s, made, "")
	}
	return packages.ReplaceAllString(s, "main.")
}

// diedError is for a cell that ended its session.
func (s *Notebook) diedError(words string) *Error {
	first, rest, _ := strings.Cut(strings.TrimSpace(words), "\n")
	e := simpleError("session ended", first)
	if rest != "" {
		e.Traceback = append(e.Traceback, rest)
	}
	e.Traceback = append(e.Traceback,
		"The session was started again: its variables and declarations are gone, the notebook's text is not. Run %replay to run the cells that succeeded again.")
	return e
}

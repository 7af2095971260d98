package nvrtc

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// Diagnostic is one message of the compiler.
type Diagnostic struct {
	Severity string // "error", "warning", "note"
	File     string // the source's name, or a header's
	Line     int    // from 1
	Column   int    // of the caret, from 1; 0 when there is none
	Message  string
	Source   string // the line
	Notes    []string
}

// CompileError is a source that does not compile.
type CompileError struct {
	Source      Source
	Diagnostics []Diagnostic
	Log         string // NVRTC's own words
}

func (e *CompileError) Error() string {
	var lines []string
	for _, d := range e.Diagnostics {
		if d.Severity == "error" {
			lines = append(lines, d.String())
		}
	}
	if len(lines) == 0 {
		return fmt.Sprintf("%s does not compile: %s", e.Source.Name, strings.TrimSpace(e.Log))
	}
	return strings.Join(lines, "\n")
}

// String is the diagnostic with its source line and a caret.
func (d Diagnostic) String() string {
	where := d.File
	if d.Line > 0 {
		where += fmt.Sprintf(", line %d", d.Line)
	}
	if d.Column > 0 {
		where += fmt.Sprintf(", column %d", d.Column)
	}
	text := fmt.Sprintf("%s: %s: %s", where, d.Severity, d.Message)
	for _, n := range d.Notes {
		text += "\n    " + n
	}
	if d.Source != "" {
		text += "\n" + fmt.Sprintf("%5d | ", d.Line) + strings.ReplaceAll(d.Source, "\t", "    ")
		if d.Column > 0 && d.Column <= len(d.Source)+1 {
			pad := strings.ReplaceAll(d.Source[:d.Column-1], "\t", "    ")
			text += "\n      | " + strings.Repeat(" ", len(pad)) + "^"
		}
	}
	return text
}

// head is the first line of a message: file(line): severity #number: text.
var head = regexp.MustCompile(`^(.*)\((\d+)\): ((?:catastrophic )?error|warning|note|remark)(?: #[\w-]+)?: (.*)$`)

// parseLog reads NVRTC's messages. A message is followed by details, the source
// line and a caret below it, all indented.
func parseLog(log string, src Source) (out []Diagnostic) {
	lines := strings.Split(log, "\n")
	for i := 0; i < len(lines); i++ {
		m := head.FindStringSubmatch(lines[i])
		if m == nil {
			continue
		}
		n, _ := strconv.Atoi(m[2]) // digits
		d := Diagnostic{Severity: strings.TrimPrefix(m[3], "catastrophic "), File: m[1], Line: n, Message: m[4]}
		if path.Base(d.File) == fileName {
			d.File = src.Name
			d.Source = lineOf(src.Text, n)
		}
		for i+1 < len(lines) && strings.HasPrefix(lines[i+1], " ") {
			i++
			text := strings.TrimRight(lines[i], " ")
			if strings.TrimSpace(text) == "^" {
				// The caret stands below the line as NVRTC indents it, by two.
				d.Column = max(strings.IndexByte(text, '^')-1, 1)
				continue
			}
			if d.Source != "" && strings.TrimSpace(text) == strings.TrimSpace(d.Source) {
				continue
			}
			d.Notes = append(d.Notes, strings.TrimSpace(text))
		}
		if d.Severity != "remark" {
			out = append(out, d)
		}
	}
	return out
}

func lineOf(text string, n int) string {
	lines := strings.Split(text, "\n")
	if n < 1 || n > len(lines) {
		return ""
	}
	return strings.TrimRight(lines[n-1], "\r")
}

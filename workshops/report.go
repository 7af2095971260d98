package workshops

import (
	"fmt"
	"html"
	"strings"
)

// Report is the outcome of a workshop's checks.
type Report struct {
	ID      string
	Title   string
	Results []Result
	Err     error // the checks could not be run; Results is then empty
}

// Count returns how many checks ended so.
func (r Report) Count(s Status) (n int) {
	for _, result := range r.Results {
		if result.Status == s {
			n++
		}
	}
	return n
}

// Passed reports whether every check of the workshop ran and passed.
func (r Report) Passed() bool {
	return r.Err == nil && len(r.Results) > 0 && r.Count(Pass) == len(r.Results)
}

// Summary says in one line how the checks went.
func (r Report) Summary() string {
	if r.Err != nil {
		return "The checks were not run: " + r.Err.Error()
	}
	parts := []string{fmt.Sprintf("%d of %d checks passed", r.Count(Pass), len(r.Results))}
	for _, s := range []struct {
		status Status
		words  string
	}{{Fail, "failed"}, {Broken, "ended with an error"}, {Todo, "to do"}, {NotRun, "not run"}} {
		if n := r.Count(s.status); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s.words))
		}
	}
	return strings.Join(parts, ", ") + "."
}

// mark is what a status looks like: a sign that also reads without colour, the
// word beside it, and the colour of a JupyterLab theme with one for elsewhere.
var marks = map[Status]struct{ sign, word, colour string }{ // never changed after start
	Pass:   {"✓", "passed", "var(--jp-success-color1, #2e7d32)"},
	Fail:   {"✗", "failed", "var(--jp-error-color1, #d32f2f)"},
	Broken: {"!", "error", "var(--jp-error-color1, #d32f2f)"},
	Todo:   {"○", "to do", "var(--jp-warn-color1, #b26a00)"},
	NotRun: {"–", "not run", "inherit"},
}

// String returns the report as text for a terminal.
func (r Report) String() string {
	var b strings.Builder
	if r.Err != nil {
		fmt.Fprintf(&b, "%s: %s\n", r.ID, r.Summary())
		return b.String()
	}
	fmt.Fprintf(&b, "%s (%s)\n", r.Title, r.ID)
	for _, result := range r.Results {
		m := marks[result.Status]
		fmt.Fprintf(&b, "  %s %-7s  %s\n", m.sign, m.word, result.Name)
		for _, line := range result.details() {
			fmt.Fprintf(&b, "               %s\n", line)
		}
	}
	fmt.Fprintf(&b, "%s\n", r.Summary())
	return b.String()
}

// details explains a result, one thing a line.
func (r Result) details() []string {
	f := r.Failure
	switch {
	case r.Status == Pass:
		return nil
	case f == nil:
		return strings.Split(r.Message, "\n")
	}
	lines := []string{f.Property}
	if f.Index != nil {
		lines = append(lines, "first wrong at index "+f.index())
	}
	if f.Expected != nil || f.Actual != nil {
		lines = append(lines, fmt.Sprintf("expected %v", f.Expected), fmt.Sprintf("got      %v", f.Actual))
	}
	if f.Detail != "" {
		lines = append(lines, f.Detail)
	}
	return lines
}

// MIMEBundle shows the report in a notebook: a table, and its text.
func (r Report) MIMEBundle() map[string]any {
	return map[string]any{"text/plain": r.String(), "text/html": r.html()}
}

// html writes the table with colours of the front end's theme, so that it reads
// on light and on dark; without any styles it is still a table.
func (r Report) html() string {
	var b strings.Builder
	if r.Err != nil {
		fmt.Fprintf(&b, `<div role="alert" style="border-left: 4px solid %s; padding: 4px 12px">%s</div>`,
			marks[Fail].colour, html.EscapeString(r.Summary()))
		return b.String()
	}
	fmt.Fprintf(&b, "<div><strong>%s</strong> %s</div>\n", html.EscapeString(r.Title), html.EscapeString(r.Summary()))
	b.WriteString("<table>\n<thead><tr>")
	for _, head := range []string{"", "Check", "What must hold", "Index", "Expected", "Actual"} {
		fmt.Fprintf(&b, `<th style="text-align: left">%s</th>`, head)
	}
	b.WriteString("</tr></thead>\n<tbody>\n")
	for _, result := range r.Results {
		m := marks[result.Status]
		fmt.Fprintf(&b, `<tr><td style="text-align: left; color: %s; white-space: nowrap"><strong>%s %s</strong></td>`, m.colour, m.sign, m.word)
		for _, cell := range result.cells() {
			fmt.Fprintf(&b, `<td style="text-align: left">%s</td>`, cell)
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody>\n</table>")
	return b.String()
}

// cells returns the columns after the mark, as HTML.
func (r Result) cells() [5]string {
	cells := [5]string{html.EscapeString(r.Name)}
	f := r.Failure
	if f == nil {
		cells[1] = strings.ReplaceAll(html.EscapeString(r.Message), "\n", "<br>")
		return cells
	}
	cells[1] = html.EscapeString(f.Property)
	if f.Detail != "" {
		cells[1] += "<br><em>" + html.EscapeString(f.Detail) + "</em>"
	}
	if f.Index != nil {
		cells[2] = html.EscapeString(f.index())
	}
	if f.Expected != nil || f.Actual != nil {
		cells[3] = "<code>" + html.EscapeString(fmt.Sprint(f.Expected)) + "</code>"
		cells[4] = "<code>" + html.EscapeString(fmt.Sprint(f.Actual)) + "</code>"
	}
	return cells
}

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
		lines = append(lines, strings.Split(f.Detail, "\n")...)
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
	// The columns that only failures fill are there only with a failure.
	heads := []string{"", "Check", ""}
	if r.Count(Fail) > 0 {
		heads = []string{"", "Check", "What must hold", "Index", "Expected", "Actual"}
	}
	b.WriteString("<table>\n<thead><tr>")
	for _, head := range heads {
		fmt.Fprintf(&b, `<th style="text-align: left">%s</th>`, head)
	}
	b.WriteString("</tr></thead>\n<tbody>\n")
	for _, result := range r.Results {
		m := marks[result.Status]
		fmt.Fprintf(&b, `<tr><td style="text-align: left; color: %s; white-space: nowrap"><strong>%s %s</strong></td>`, m.colour, m.sign, m.word)
		fmt.Fprintf(&b, `<td style="text-align: left">%s</td>`, html.EscapeString(result.Name))
		b.WriteString(result.cells(len(heads) - 2))
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody>\n</table>")
	return b.String()
}

// cells returns the columns behind the name: those of a failure, or one message
// over all of them.
func (r Result) cells(columns int) string {
	const cell = `<td style="text-align: left">%s</td>`
	f := r.Failure
	if f == nil {
		return fmt.Sprintf(`<td colspan="%d" style="text-align: left">%s</td>`, columns,
			strings.ReplaceAll(html.EscapeString(r.Message), "\n", "<br>"))
	}
	property, index, expected, actual := html.EscapeString(f.Property), "", "", ""
	if f.Detail != "" {
		property += detail(f.Detail)
	}
	if f.Index != nil {
		index = html.EscapeString(f.index())
	}
	if f.Expected != nil || f.Actual != nil {
		expected = "<code>" + html.EscapeString(fmt.Sprint(f.Expected)) + "</code>"
		actual = "<code>" + html.EscapeString(fmt.Sprint(f.Actual)) + "</code>"
	}
	return fmt.Sprintf(cell+cell+cell+cell, property, index, expected, actual)
}

// detail is one line of words, or lines of which some are source.
func detail(text string) string {
	if !strings.Contains(text, "\n") {
		return "<br><em>" + html.EscapeString(text) + "</em>"
	}
	return `<pre style="margin: 0; white-space: pre-wrap; text-align: left">` + html.EscapeString(text) + "</pre>"
}

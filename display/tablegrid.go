package display

import (
	"fmt"
	"html"
	"reflect"
	"strconv"
	"strings"
	"unicode"
)

// grid is a table as it is shown: text in its cells, the columns in order.
type grid struct {
	title   string
	caption string
	heads   []gridColumn
	rows    int
	notes   []string
	marked  bool // some cell is best
}

type gridColumn struct {
	name  string
	unit  string
	align Alignment // never Auto
	cells []string
	best  []bool // nil without Best
}

// layout formats the table. The caller holds t.mu.
func (t *TableView) layout() grid {
	g := grid{title: t.title, caption: t.caption, rows: min(t.rows, maxRows), notes: t.notes}
	if t.rows > maxRows {
		g.notes = append(g.notes[:len(g.notes):len(g.notes)], fmt.Sprintf("%d rows; the first %d are shown", t.rows, maxRows))
	}
	columns := t.columns
	if t.shown != nil {
		columns = nil
		for _, name := range t.shown {
			columns = append(columns, t.named(name))
		}
	}
	for _, c := range columns {
		head := c.layout(g.rows)
		g.heads = append(g.heads, head)
		for _, b := range head.best {
			g.marked = g.marked || b
		}
	}
	return g
}

func (c *column) layout(rows int) gridColumn {
	g := gridColumn{name: c.name, unit: c.unit, align: c.align, cells: make([]string, rows)}
	if g.align == Auto {
		g.align = Left
		if c.numeric() {
			g.align = Right
		}
	}
	best, found := c.bestValue()
	if found {
		g.best = make([]bool, rows)
	}
	for i := range min(rows, len(c.cells)) {
		g.cells[i] = c.text(c.cells[i])
		if x, ok := number(c.cells[i]); ok && found {
			g.best[i] = x == best
		}
	}
	return g
}

// text is a cell on one line.
func (c *column) text(cell any) string {
	if cell == nil {
		return ""
	}
	v := reflect.ValueOf(cell)
	var s string
	switch {
	case c.format != "":
		s = fmt.Sprintf(c.format, cell)
	case hasText(cell):
		s = fmt.Sprint(cell)
	case v.Kind() == reflect.String:
		s = v.String()
	case v.CanFloat():
		s = strconv.FormatFloat(v.Float(), 'g', 6, 64)
	default:
		s = plain(cell)
	}
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' || r == '\t' }), " ")
	if r := []rune(s); len(r) > 500 {
		s = string(r[:500]) + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

func (c gridColumn) head() string {
	if c.unit == "" {
		return c.name
	}
	return c.name + " (" + c.unit + ")"
}

func (c gridColumn) isBest(row int) bool { return c.best != nil && c.best[row] }

// The colours let the front end's theme through, light or dark: lines are
// half-transparent grey, the highlight half-transparent green.
const (
	lineStyle = "1px solid rgba(128, 128, 128, 0.5)"
	bestStyle = "; background-color: rgba(46, 160, 67, 0.25)"
)

var cssAlign = [...]string{Left: "left", Right: "right", Center: "center"}

// html is the table with its styles inline, because front ends drop style sheets
// of notebooks that they do not trust.
func (g grid) html() string {
	var b strings.Builder
	b.WriteString(`<table style="border-collapse: collapse; border: none; color: inherit">` + "\n")
	if g.title != "" {
		fmt.Fprintf(&b, `<caption style="caption-side: top; text-align: left; color: inherit; padding: 4px 8px"><strong>%s</strong></caption>`+"\n", html.EscapeString(g.title))
	}
	b.WriteString("<thead><tr>")
	for _, c := range g.heads {
		fmt.Fprintf(&b, `<th style="text-align: %s; padding: 4px 8px; border-bottom: %s">%s`, cssAlign[c.align], lineStyle, html.EscapeString(c.name))
		if c.unit != "" {
			fmt.Fprintf(&b, ` <span style="font-weight: normal; opacity: 0.7">(%s)</span>`, html.EscapeString(c.unit))
		}
		b.WriteString("</th>")
	}
	b.WriteString("</tr></thead>\n<tbody>\n")
	for i := range g.rows {
		g.htmlRow(&b, i)
	}
	b.WriteString("</tbody>\n")
	if foot := g.foot(); len(foot) > 0 {
		fmt.Fprintf(&b, `<tfoot><tr><td colspan="%d" style="text-align: left; padding: 4px 8px; border-top: %s; opacity: 0.7">%s</td></tr></tfoot>`+"\n",
			max(len(g.heads), 1), lineStyle, strings.Join(escapeAll(foot), "<br>"))
	}
	b.WriteString("</table>")
	return b.String()
}

func (g grid) htmlRow(b *strings.Builder, i int) {
	b.WriteString("<tr>")
	for _, c := range g.heads {
		text, style := html.EscapeString(c.cells[i]), ""
		if c.isBest(i) {
			text, style = "<strong>"+text+"</strong>", bestStyle
		}
		fmt.Fprintf(b, `<td style="text-align: %s; padding: 4px 8px%s">%s</td>`, cssAlign[c.align], style, text)
	}
	b.WriteString("</tr>\n")
}

func (g grid) foot() []string {
	var foot []string
	if g.caption != "" {
		foot = append(foot, g.caption)
	}
	return append(foot, g.notes...)
}

func escapeAll(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = html.EscapeString(l)
	}
	return out
}

// text is the table as aligned columns without boxes; a star marks best values.
func (g grid) text() string {
	var lines []string
	if g.title != "" {
		lines = append(lines, g.title)
	}
	table := make([]string, g.rows+2)
	for i, c := range g.heads {
		for row, cell := range c.textColumn() {
			if i > 0 {
				table[row] += "  "
			}
			table[row] += cell
		}
	}
	if len(g.heads) > 0 {
		lines = append(lines, table...)
	}
	if g.marked {
		lines = append(lines, "* best")
	}
	lines = append(lines, g.foot()...)
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// textColumn is the column's header, rule and cells, all equally wide.
func (c gridColumn) textColumn() []string {
	cells := append([]string{c.head(), ""}, c.cells...)
	if c.best != nil {
		for i := range cells {
			mark := " "
			if i >= 2 && c.best[i-2] {
				mark = "*"
			}
			cells[i] += mark
		}
	}
	wide := 0
	for _, cell := range cells {
		wide = max(wide, width(cell))
	}
	for i, cell := range cells {
		gap := wide - width(cell)
		left := 0
		switch c.align {
		case Right:
			left = gap
		case Center:
			left = gap / 2
		}
		cells[i] = strings.Repeat(" ", left) + cell + strings.Repeat(" ", gap-left)
	}
	cells[1] = strings.Repeat("-", wide)
	return cells
}

// width is how many columns of a terminal s takes.
func width(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana),
			r >= 0xFF01 && r <= 0xFF60, r >= 0x1F300 && r <= 0x1FAFF:
			n += 2
		default:
			n++
		}
	}
	return n
}

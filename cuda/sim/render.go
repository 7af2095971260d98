package sim

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// Text tells all findings of a launch; it is empty when there are none.
func (r *Report) Text() string {
	if len(r.Findings) == 0 {
		return ""
	}
	var b strings.Builder
	s := "s"
	if len(r.Findings) == 1 {
		s = ""
	}
	fmt.Fprintf(&b, "%s<<<%v, %v>>>: %d finding%s", r.Kernel.Name(), r.Launch.Grid, r.Launch.Block, len(r.Findings), s)
	for i := range r.Findings {
		b.WriteString("\n\n" + r.Findings[i].Text())
	}
	return b.String()
}

// Table shows the profile's lines, and what limits its occupancy.
func (p *Profile) Table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s<<<%v, %v>>>: %d warp instructions, %.0f%% of the lanes active\n", p.Kernel, p.Grid, p.Block, p.Total.Warps, 100*p.Total.Active())
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "line\tinstructions\tshare\tlanes\tsectors/request\tideal\tbank ways\tatomic depth\tlocal\tbulk\t")
	for i := range p.Lines {
		l := &p.Lines[i]
		row(w, lineName(p, l), &l.Cost, p.Total.Warps)
	}
	row(w, "total", &p.Total, p.Total.Warps)
	_ = w.Flush() // to memory
	for _, o := range p.Occupancy {
		b.WriteString(o.String() + "\n")
	}
	return b.String()
}

// lineName is a line's number, with its file where there are several.
func lineName(p *Profile, l *LineCost) string {
	switch {
	case l.Line == 0:
		return "?"
	case p.Lines[0].File == p.Lines[len(p.Lines)-1].File:
		return itoa(l.Line)
	}
	return l.File + ":" + itoa(l.Line)
}

func row(w *tabwriter.Writer, name string, c *Cost, total int64) {
	cells := []string{name, fmt.Sprint(c.Warps), fmt.Sprintf("%.1f%%", 100*ratio(c.Warps, total, 0)), "", "", "", "", "", "", ""}
	if c.LaneWarps > 0 {
		cells[3] = fmt.Sprintf("%.1f", WarpSize*c.Active())
	}
	if c.GlobalRequests > 0 {
		cells[4], cells[5] = fmt.Sprintf("%.2f", c.SectorsPerRequest()), fmt.Sprintf("%.2f", c.IdealSectors())
	}
	if c.SharedRequests > 0 {
		cells[6] = fmt.Sprintf("%.2f", c.BankWays())
	}
	if c.AtomicRequests > 0 {
		cells[7] = fmt.Sprintf("%.2f", c.AtomicDepth())
	}
	if c.LocalBytes > 0 {
		cells[8] = amount(c.LocalBytes)
	}
	if c.BulkBytes > 0 {
		cells[9] = amount(c.BulkBytes)
	}
	fmt.Fprintln(w, strings.Join(cells, "\t")+"\t")
}

// amount is a number of bytes.
func amount(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}

const barWidth = 10

// bar is n of total as a bar of text.
func bar(n, total int64) string {
	eighths := int(8 * barWidth * n / max(total, 1))
	if eighths == 0 && n > 0 {
		eighths = 1
	}
	text := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		text += string([]rune(" ▏▎▍▌▋▊▉")[rest])
	}
	return text + strings.Repeat(" ", barWidth-len([]rune(text)))
}

// Rows gives each line of a source what it cost. Without a source it gives the lines
// that were executed.
func (p *Profile) Rows(source Source) []LineCost {
	if source.Text == "" {
		return p.Lines
	}
	costs := map[int]*LineCost{}
	for i := range p.Lines {
		if l := &p.Lines[i]; source.Name == "" || l.File == source.Name {
			costs[l.Line] = l
		}
	}
	var rows []LineCost
	for i, text := range strings.Split(strings.TrimRight(source.Text, "\n"), "\n") {
		row := LineCost{File: source.Name, Line: i + max(source.Line, 1), Source: text}
		if l := costs[row.Line]; l != nil {
			row.Cost = l.Cost
		}
		rows = append(rows, row)
	}
	return rows
}

// Annotated shows source with a bar a line, as long as the line's share of the
// instructions, and notes on what costs more than it must. Without a source it shows
// the lines that were executed.
func (p *Profile) Annotated(source Source) string {
	var b strings.Builder
	for _, l := range p.Rows(source) {
		line := fmt.Sprintf("%s %5d | %s", bar(l.Warps, p.Total.Warps), l.Line, strings.ReplaceAll(l.Source, "\t", "    "))
		if notes := l.Notes(); notes != "" {
			line += "   // " + notes
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// Notes says what costs more than it must.
func (c *Cost) Notes() string {
	var list []string
	note := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if c.LaneWarps > 0 && c.Active() < 0.95 {
		note("%.1f of 32 lanes", WarpSize*c.Active())
	}
	if s, ideal := c.SectorsPerRequest(), c.IdealSectors(); s > 1.05*ideal {
		note("%.1f sectors a request, %.1f would do", s, ideal)
	}
	if c.BankWays() > 1.05 {
		note("bank conflicts: %.1f passes instead of 1", c.BankWays())
	}
	if c.AtomicDepth() > 1.05 {
		note("atomics: %.1f lanes at one address", c.AtomicDepth())
	}
	if c.LocalBytes > 0 {
		note("%s of local memory", amount(c.LocalBytes))
	}
	return strings.Join(list, "; ")
}

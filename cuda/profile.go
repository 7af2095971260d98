package cuda

import (
	"errors"
	"fmt"
	"html"
	"strings"

	"github.com/warpbook/warpbook/cuda/device"
	"github.com/warpbook/warpbook/cuda/sim"
)

// Profiles is what launches cost on the simulator: for each source line the
// instructions, how many lanes took part, sectors of global memory a request, bank
// conflicts, and what limits how many blocks a multiprocessor holds. These are counts
// and no times. It shows itself as tables and as the source with bars.
type Profiles []device.Profile

// Profile runs f on the simulator and measures what it launches there:
//
//	cuda.Profile(func() error { return k.Launch(c, x, y, n) })
//
// It panics when f fails or a kernel does something wrong, for cells; a Device's method
// of this name returns the error.
func Profile(f func() error) Profiles {
	d, err := Open("sim")
	if err != nil {
		panic(err)
	}
	return Must(d.Profile(f))
}

// Profile runs f and measures what it launches on the device, which is the simulator.
func (d *Device) Profile(f func() error) (Profiles, error) {
	if d.name != "sim" {
		return nil, fmt.Errorf("%s cannot be profiled; make the tensors on cuda.Open(\"sim\") for that", d)
	}
	var p Profiles
	err := d.watched("profile", &p, func() error { return errors.Join(f(), d.Sync()) })
	if err == nil && len(p) == 0 {
		err = fmt.Errorf("nothing was launched on %s", d)
	}
	return p, err
}

// String shows the tables and the source with bars.
func (p Profiles) String() string {
	var b strings.Builder
	for i, launch := range p {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(launch.Table() + "\n" + launch.Annotated(sim.Source(launch.Source)))
	}
	return b.String()
}

// MIMEBundle shows the profiles in a notebook.
func (p Profiles) MIMEBundle() map[string]any {
	var b strings.Builder
	for _, launch := range p {
		profileTable(&b, launch)
	}
	return map[string]any{"text/plain": p.String(), "text/html": b.String()}
}

// profileTable writes a launch as a table: a row for each line of the source, with a
// bar, and notes on what costs more than it must.
func profileTable(b *strings.Builder, p device.Profile) {
	fmt.Fprintf(b, `<div><strong>%s</strong> &lt;&lt;&lt;%v, %v&gt;&gt;&gt;: %d warp instructions, %.0f%% of the lanes active</div>`,
		html.EscapeString(p.Kernel), p.Grid, p.Block, p.Total.Warps, 100*p.Total.Active())
	b.WriteString(`<table style="font-family: var(--jp-code-font-family, monospace); white-space: pre"><thead><tr>`)
	for _, head := range []string{"Instructions", "", "Line", "Source", "Notes"} {
		fmt.Fprintf(b, `<th style="text-align: left">%s</th>`, head)
	}
	b.WriteString("</tr></thead><tbody>\n")
	const cell = `<td style="text-align: left">%s</td>`
	for _, l := range p.Rows(sim.Source(p.Source)) {
		share := 0.0
		if p.Total.Warps > 0 {
			share = 100 * float64(l.Warps) / float64(p.Total.Warps)
		}
		count := ""
		if l.Warps > 0 {
			count = fmt.Sprint(l.Warps)
		}
		b.WriteString("<tr>")
		fmt.Fprintf(b, `<td style="text-align: right">%s</td>`, count)
		fmt.Fprintf(b, cell, fmt.Sprintf(`<div role="img" aria-label="%.0f%%" style="width: 80px"><div style="height: 0.9em; width: %.0f%%; background: var(--jp-brand-color1, #2196f3)"></div></div>`, share, share))
		fmt.Fprintf(b, cell, fmt.Sprint(l.Line))
		fmt.Fprintf(b, cell, html.EscapeString(l.Source))
		fmt.Fprintf(b, cell, html.EscapeString(l.Notes()))
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody></table>\n")
	for _, o := range p.Occupancy {
		fmt.Fprintf(b, "<div><small>%s</small></div>\n", html.EscapeString(o.String()))
	}
}

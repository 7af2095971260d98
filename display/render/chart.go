package render

import (
	"errors"
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/warpbook/warpbook/display"
)

// palette is Okabe and Ito's, which readers with any colour vision tell apart,
// less its yellow, which is faint on white. Shapes and dashes tell series apart
// too.
var palette = [...]color.NRGBA{
	{0x00, 0x72, 0xB2, 0xFF}, // blue
	{0xD5, 0x5E, 0x00, 0xFF}, // vermilion
	{0x00, 0x9E, 0x73, 0xFF}, // green
	{0xCC, 0x79, 0xA7, 0xFF}, // purple
	{0xE6, 0x9F, 0x00, 0xFF}, // orange
	{0x56, 0xB4, 0xE9, 0xFF}, // sky
	{0x20, 0x20, 0x20, 0xFF}, // near black
}

var shapes = [...]draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{},
	draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{},
}

var dashes = [...][]vg.Length{nil, {6, 3}, {2, 2}, {8, 3, 2, 3}}

var (
	ink  = color.NRGBA{0x22, 0x22, 0x22, 0xFF}
	pale = color.NRGBA{0xE2, 0xE2, 0xE2, 0xFF}
	grey = color.NRGBA{0x70, 0x70, 0x70, 0xFF}
)

const (
	small = 9.0 // text sizes in points
	body  = 10.5
	large = 12.5

	manyPoints   = 30   // lines with more have no point marks
	drawnPoints  = 2000 // lines with more are thinned, keeping their extremes
	drawnScatter = 5000
)

// chart is a figure on its way to the canvas.
type chart struct {
	fig     display.Figure
	plot    *plot.Plot
	legend  plot.Legend
	names   int       // in the legend
	unnamed int       // for lack of room
	edges   []float64 // of the histogram's bins
	left    vg.Length // room for slanted names
	notes   []string
}

// Chart draws a figure as SVG.
func Chart(f display.Figure) (svg string, err error) {
	defer guard(&err)
	if len(f.Series) == 0 {
		return "", errors.New("the chart has no data; add a series with Line, Scatter, Bars or Histogram")
	}
	c := &chart{fig: f, plot: newPlot(f), legend: plot.NewLegend()}
	c.legend.TextStyle.Font = sans(body)
	c.legend.TextStyle.Color = ink
	c.legend.Left, c.legend.Top = true, true
	c.legend.Padding = 5
	c.edges = binEdges(f.Series)
	drawn := 0
	for i, s := range f.Series {
		if c.series(i, s) {
			drawn++
		}
	}
	if drawn == 0 {
		return "", errors.New("no value of the chart can be drawn; they are NaN, infinite, or not positive on a logarithmic axis")
	}
	c.axes()
	return c.draw()
}

// draw puts the legend beside the plot, where it hides no data, and notes below.
func (c *chart) draw() (string, error) {
	canvas := vgsvg.New(vg.Length(c.fig.Width)*0.75, vg.Length(c.fig.Height)*0.75)
	dc := draw.New(canvas)
	dc.SetColor(color.White)
	dc.Fill(dc.Rectangle.Path())
	dc = draw.Crop(dc, 8, -12, 8, -8)
	for _, line := range wrap(titleStyle(), c.fig.Title, dc.Max.X-dc.Min.X) {
		dc.FillText(titleStyle(), vg.Point{X: (dc.Min.X + dc.Max.X) / 2, Y: dc.Max.Y}, line)
		dc = draw.Crop(dc, 0, 0, 0, -large*1.25)
	}
	dc = draw.Crop(dc, 0, 0, 0, -6)
	for _, note := range c.notes {
		style := c.legend.TextStyle
		style.Font, style.Color = sans(small), grey
		dc.FillText(style, vg.Point{X: dc.Min.X, Y: dc.Min.Y}, note)
		dc = draw.Crop(dc, 0, 0, 13, 0)
	}
	if c.unnamed > 0 {
		c.legend.Add(fmt.Sprintf("… %d more", c.unnamed))
	}
	if c.names > 0 {
		r := c.legend.Rectangle(dc)
		wide := r.Max.X - r.Min.X + 4
		side := draw.Crop(dc, dc.Max.X-dc.Min.X-wide, 0, 0, 0)
		c.legend.Draw(side)
		dc = draw.Crop(dc, 0, -wide-10, 0, 0)
	}
	dc = draw.Crop(dc, c.left, 0, 0, 0)
	c.plot.X.Label.Text = fit(c.plot.X.Label.TextStyle, c.fig.XLabel, dc.Max.X-dc.Min.X)
	c.plot.Y.Label.Text = fit(c.plot.Y.Label.TextStyle, c.fig.YLabel, dc.Max.Y-dc.Min.Y)
	c.plot.Draw(dc)
	return finish(canvas, c.fig.Title)
}

func newPlot(f display.Figure) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = color.White
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font, a.Label.TextStyle.Color = sans(body), ink
		a.Label.Padding = 4
		a.Tick.Label.Font, a.Tick.Label.Color = sans(small), ink
		a.Tick.LineStyle.Color, a.LineStyle.Color = grey, grey
		a.Tick.Length = 4
		a.Padding = 0
	}
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = pale, pale
	if len(f.Categories) > 0 || f.Series[0].Mark == display.MarkBars {
		grid.Vertical.Color = nil
	}
	p.Add(grid)
	return p
}

// series adds one series; false if none of its values can be drawn.
func (c *chart) series(i int, s display.Series) bool {
	col := palette[i%len(palette)]
	var thumb []plot.Thumbnailer
	switch s.Mark {
	case display.MarkBars:
		thumb = c.bars(i, s, col)
	case display.MarkHistogram:
		thumb = c.histogram(s, col)
	case display.MarkScatter:
		thumb = c.scatter(i, s, col)
	default:
		thumb = c.line(i, s, col)
	}
	if len(thumb) == 0 {
		return false
	}
	if s.Name != "" {
		c.name(s.Name, thumb)
	}
	return true
}

// name adds a name to the legend, as long as it has room.
func (c *chart) name(name string, thumb []plot.Thumbnailer) {
	const entry, around = 14, 60 // points
	if room := (int(float64(c.fig.Height)*0.75) - around) / entry; c.names >= room {
		c.unnamed++
		return
	}
	c.names++
	c.legend.Add(fit(c.legend.TextStyle, name, vg.Length(c.fig.Width)*0.75*0.3), thumb...)
}

// line draws the runs of values that can be drawn; between them are gaps.
func (c *chart) line(i int, s display.Series, col color.NRGBA) []plot.Thumbnailer {
	style := draw.LineStyle{Color: col, Width: 1.6, Dashes: dashes[i/len(palette)%len(dashes)]}
	glyph := draw.GlyphStyle{Color: col, Radius: 2.6, Shape: shapes[i%len(shapes)]}
	var thumb []plot.Thumbnailer
	runs, left := c.runs(s)
	c.leftOut(s.Name, left)
	for _, run := range runs {
		thin := thinned(run)
		l := &plotter.Line{XYs: thin, LineStyle: style}
		c.plot.Add(l)
		thumb = []plot.Thumbnailer{l}
		if len(s.X) <= manyPoints || len(run) == 1 {
			sc := &plotter.Scatter{XYs: thin, GlyphStyle: glyph}
			c.plot.Add(sc)
			thumb = append(thumb, sc)
		}
	}
	return thumb
}

func (c *chart) scatter(i int, s display.Series, col color.NRGBA) []plot.Thumbnailer {
	var pts plotter.XYs
	runs, left := c.runs(s)
	c.leftOut(s.Name, left)
	for _, run := range runs {
		pts = append(pts, run...)
	}
	if len(pts) == 0 {
		return nil
	}
	if n := len(pts); n > drawnScatter {
		some := make(plotter.XYs, drawnScatter)
		for k := range some {
			some[k] = pts[k*n/drawnScatter]
		}
		pts = some
		c.note("%s%d of %d points are drawn", prefix(s.Name), drawnScatter, n)
	}
	if len(pts) > 300 {
		col.A = 0x90 // where points crowd, density shows
	}
	sc := &plotter.Scatter{XYs: pts, GlyphStyle: draw.GlyphStyle{Color: col, Radius: 2.4, Shape: shapes[i%len(shapes)]}}
	c.plot.Add(sc)
	return []plot.Thumbnailer{sc}
}

// runs splits a series where values cannot be drawn, and counts those.
func (c *chart) runs(s display.Series) (runs []plotter.XYs, left int) {
	var run plotter.XYs
	for i := range min(len(s.X), len(s.Y)) {
		if !drawable(s.X[i], c.fig.LogX) || !drawable(s.Y[i], c.fig.LogY) {
			left++
			if len(run) > 0 {
				runs, run = append(runs, run), nil
			}
			continue
		}
		run = append(run, plotter.XY{X: s.X[i], Y: s.Y[i]})
	}
	if len(run) > 0 {
		runs = append(runs, run)
	}
	return runs, left
}

// drawable also keeps out values whose differences would overflow.
func drawable(x float64, log bool) bool {
	return !math.IsNaN(x) && math.Abs(x) < 1e300 && (!log || x > 0)
}

// thinned keeps the least and the greatest value of each of many short pieces.
func thinned(run plotter.XYs) plotter.XYs {
	if len(run) <= drawnPoints {
		return run
	}
	pieces := drawnPoints / 2
	out := plotter.XYs{run[0]}
	for p := range pieces {
		part := run[p*len(run)/pieces : (p+1)*len(run)/pieces]
		low, high := 0, 0
		for i, pt := range part {
			if pt.Y < part[low].Y {
				low = i
			}
			if pt.Y > part[high].Y {
				high = i
			}
		}
		out = append(out, part[min(low, high)])
		if low != high {
			out = append(out, part[max(low, high)])
		}
	}
	return append(out, run[len(run)-1])
}

func prefix(name string) string {
	if name == "" {
		return ""
	}
	return shorten(name, 28) + ": "
}

func (c *chart) leftOut(name string, n int) {
	switch {
	case n == 1:
		c.note("%s1 value left out (NaN, infinite, or not positive on a logarithmic axis)", prefix(name))
	case n > 1:
		c.note("%s%d values left out (NaN, infinite, or not positive on a logarithmic axis)", prefix(name), n)
	}
}

func (c *chart) note(format string, args ...any) {
	const lines = 3
	if len(c.notes) < lines {
		c.notes = append(c.notes, fmt.Sprintf(format, args...))
	}
}

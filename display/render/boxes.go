package render

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/warpbook/warpbook/display"
)

// box is a bar: from the base line to y, between two places on the x axis.
type box struct{ left, right, y float64 }

// boxes draws bars. gonum's own bar chart cannot stand on a logarithmic axis.
type boxes struct {
	boxes []box
	fill  color.Color
	edge  color.Color // nil: none
	log   bool
	count int // places on the x axis that are kept free where there is no bar
}

// base is where bars begin: zero, or the lower end of a logarithmic axis.
func (b *boxes) base(p *plot.Plot) float64 {
	if b.log {
		return p.Y.Min
	}
	return 0
}

func (b *boxes) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	base := y(b.base(p))
	for _, r := range b.boxes {
		corners := []vg.Point{
			{X: x(r.left), Y: base}, {X: x(r.right), Y: base},
			{X: x(r.right), Y: y(r.y)}, {X: x(r.left), Y: y(r.y)},
		}
		c.FillPolygon(b.fill, c.ClipPolygonXY(corners))
		if b.edge != nil {
			c.StrokeLines(draw.LineStyle{Color: b.edge, Width: 0.5}, c.ClipLinesXY(append(corners, corners[0]))...)
		}
	}
}

func (b *boxes) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, ymin, xmax, ymax = math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, r := range b.boxes {
		xmin, xmax = min(xmin, r.left), max(xmax, r.right)
		ymin, ymax = min(ymin, r.y), max(ymax, r.y)
	}
	if b.count > 0 {
		xmin, xmax = min(xmin, -0.45), max(xmax, float64(b.count)-0.55)
	}
	if b.log {
		return xmin, xmax, ymin / 2, ymax // the smallest bar is seen too
	}
	return xmin, xmax, min(ymin, 0), max(ymax, 0)
}

func (b *boxes) Thumbnail(c *draw.Canvas) {
	c.FillPolygon(b.fill, []vg.Point{
		{X: c.Min.X, Y: c.Min.Y}, {X: c.Min.X, Y: c.Max.Y}, {X: c.Max.X, Y: c.Max.Y}, {X: c.Max.X, Y: c.Min.Y},
	})
}

// bars draws the i-th series beside the other series of bars.
func (c *chart) bars(i int, s display.Series, col color.NRGBA) []plot.Thumbnailer {
	place, groups := 0, 0
	for j, other := range c.fig.Series {
		if other.Mark != display.MarkBars {
			continue
		}
		if j < i {
			place++
		}
		groups++
	}
	const room = 0.8
	wide := room / float64(groups)
	b := &boxes{fill: col, log: c.fig.LogY, count: max(len(s.Y), len(c.fig.Categories))}
	left := 0
	for k, y := range s.Y {
		if !drawable(y, c.fig.LogY) {
			left++
			continue
		}
		x := float64(k) - room/2 + float64(place)*wide
		b.boxes = append(b.boxes, box{x + wide*0.03, x + wide*0.97, y})
	}
	c.leftOut(s.Name, left)
	return c.addBoxes(b)
}

// histogram counts values between the edges that all histograms share.
func (c *chart) histogram(s display.Series, col color.NRGBA) []plot.Thumbnailer {
	bins := len(c.edges) - 1
	if bins < 1 {
		return nil
	}
	low, high := c.edges[0], c.edges[bins]
	counts := make([]float64, bins)
	left := 0
	for _, x := range s.X {
		if !drawable(x, false) {
			left++
			continue
		}
		k := int((x - low) / (high - low) * float64(bins))
		counts[min(max(k, 0), bins-1)]++ // the last edge belongs to the last bin
	}
	c.leftOut(s.Name, left)
	col.A = 0xFF
	if countMark(c.fig.Series, display.MarkHistogram) > 1 {
		col.A = 0x90
	}
	b := &boxes{fill: col, edge: color.White, log: c.fig.LogY}
	for k, n := range counts {
		if n > 0 {
			b.boxes = append(b.boxes, box{c.edges[k], c.edges[k+1], n})
		}
	}
	return c.addBoxes(b)
}

func (c *chart) addBoxes(b *boxes) []plot.Thumbnailer {
	if len(b.boxes) == 0 {
		return nil
	}
	c.plot.Add(b)
	return []plot.Thumbnailer{b}
}

func countMark(series []display.Series, m display.Mark) int {
	n := 0
	for _, s := range series {
		if s.Mark == m {
			n++
		}
	}
	return n
}

// binEdges are the edges of equal bins over the values of all histograms. Their
// number is what the caller asked for, else follows Freedman and Diaconis.
func binEdges(series []display.Series) []float64 {
	var values []float64
	bins := 0
	for _, s := range series {
		if s.Mark != display.MarkHistogram {
			continue
		}
		bins = max(bins, s.Bins)
		for _, x := range s.X {
			if drawable(x, false) {
				values = append(values, x)
			}
		}
	}
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	low, high := values[0], values[len(values)-1]
	if low == high {
		low, high = low-0.5, high+0.5
		if low == high { // a value so large that a half is nothing
			low, high = min(0, 2*values[0]), max(0, 2*values[0])
		}
	}
	if bins == 0 {
		bins = freedman(values, high-low)
	}
	edges := make([]float64, bins+1)
	for i := range edges {
		edges[i] = low + (high-low)*float64(i)/float64(bins)
	}
	return edges
}

func freedman(sorted []float64, span float64) int {
	n := len(sorted)
	spread := sorted[3*n/4] - sorted[n/4]
	if spread <= 0 {
		return min(max(int(math.Sqrt(float64(n))), 1), 50)
	}
	wide := 2 * spread / math.Cbrt(float64(n))
	return int(min(max(math.Ceil(span/wide), 5), 60))
}

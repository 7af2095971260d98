package display

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Figure is what a chart shows: what a renderer needs to draw it.
type Figure struct {
	Title          string
	XLabel, YLabel string
	LogX, LogY     bool
	Width, Height  int // pixels
	Series         []Series
	Categories     []string // names on the x axis, for bars
}

// Mark is how a series is drawn.
type Mark string

const (
	MarkLine      Mark = "line"
	MarkScatter   Mark = "scatter"
	MarkBars      Mark = "bars"
	MarkHistogram Mark = "histogram"
)

// Series is one set of data in a figure. X and Y are equally long; bars have no
// X, a histogram has its values in X and no Y.
type Series struct {
	Name string
	Mark Mark
	X, Y []float64
	Bins int // of a histogram; 0: chosen by the number of values
}

// Chart is a chart being built. It is a value: it is shown when it ends a cell,
// by Show, or as part of something else that is shown.
type Chart struct {
	mu  sync.Mutex
	fig Figure
	err error
}

// Plot makes a chart without data. Add series to it:
//
//	display.Plot("softmax").Line("naive", n, naive).Line("online", n, online).YLabel("us")
func Plot(title string) *Chart {
	return &Chart{fig: Figure{Title: title, Width: 640, Height: 400}}
}

// Line makes a chart of a line through points. xs and ys are slices of numbers;
// xs may be nil for 0, 1, 2, ...
func Line(title string, xs, ys any) *Chart { return Plot(title).Line("", xs, ys) }

// Scatter makes a chart of points.
func Scatter(title string, xs, ys any) *Chart { return Plot(title).Scatter("", xs, ys) }

// Bars makes a chart of a bar for each label.
func Bars(title string, labels []string, values any) *Chart {
	return Plot(title).Labels(labels...).Bars("", values)
}

// Histogram makes a chart of how often values fall into each of several equal
// ranges. With bins 0, their number is chosen by the number of values.
func Histogram(title string, values any, bins int) *Chart {
	return Plot(title).Histogram("", values, bins)
}

// Line adds a line. NaN in ys makes a gap.
func (c *Chart) Line(name string, xs, ys any) *Chart { return c.points(MarkLine, name, xs, ys) }

// Scatter adds points.
func (c *Chart) Scatter(name string, xs, ys any) *Chart { return c.points(MarkScatter, name, xs, ys) }

// Bars adds a bar for each label; several series stand side by side.
func (c *Chart) Bars(name string, values any) *Chart {
	ys, err := floats(values)
	return c.add(Series{Name: name, Mark: MarkBars, Y: ys}, err)
}

// Histogram adds the distribution of values.
func (c *Chart) Histogram(name string, values any, bins int) *Chart {
	xs, err := floats(values)
	if bins < 0 || bins > 10_000 {
		err = fmt.Errorf("%d bins; use 1 to 10,000, or 0 to have the number chosen", bins)
	}
	return c.add(Series{Name: name, Mark: MarkHistogram, X: xs, Bins: bins}, err)
}

// Name names the series added last, for the legend.
func (c *Chart) Name(name string) *Chart {
	return c.set(func() {
		if n := len(c.fig.Series); n > 0 {
			c.fig.Series[n-1].Name = name
		}
	})
}

// Labels names the places on the x axis where bars stand.
func (c *Chart) Labels(labels ...string) *Chart {
	return c.set(func() { c.fig.Categories = slices.Clone(labels) })
}

// XLabel names the x axis.
func (c *Chart) XLabel(s string) *Chart { return c.set(func() { c.fig.XLabel = s }) }

// YLabel names the y axis.
func (c *Chart) YLabel(s string) *Chart { return c.set(func() { c.fig.YLabel = s }) }

// LogX makes the x axis logarithmic; values that are not positive are left out.
func (c *Chart) LogX() *Chart { return c.set(func() { c.fig.LogX = true }) }

// LogY makes the y axis logarithmic; values that are not positive are left out.
func (c *Chart) LogY() *Chart { return c.set(func() { c.fig.LogY = true }) }

// Size sets the size in pixels, 640 by 400 otherwise.
func (c *Chart) Size(width, height int) *Chart {
	return c.set(func() {
		if width < 100 || height < 100 || width > 10_000 || height > 10_000 {
			c.err = errors.Join(c.err, fmt.Errorf("the size %d x %d is not drawn; use 100 to 10,000 pixels a side", width, height))
			return
		}
		c.fig.Width, c.fig.Height = width, height
	})
}

// Show shows the chart now.
func (c *Chart) Show() *Handle { return Show(c) }

// Figure returns a copy of what the chart shows.
func (c *Chart) Figure() Figure {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.fig
	f.Series = slices.Clone(f.Series) // the numbers are never changed
	return f
}

// Err tells what is wrong with the data that the chart was given.
func (c *Chart) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// MIMEBundle draws the chart.
func (c *Chart) MIMEBundle() map[string]any {
	f := c.Figure()
	if err := c.Err(); err != nil {
		return map[string]any{"text/plain": fmt.Sprintf("chart %q: %v", f.Title, err)}
	}
	data := map[string]any{"text/plain": f.String()}
	draw := current().render.Chart
	if draw == nil {
		return data
	}
	svg, err := draw(f)
	if err != nil {
		return map[string]any{"text/plain": fmt.Sprintf("%s\n(not drawn: %v)", f, err)}
	}
	data["image/svg+xml"] = svg
	return data
}

// String is the chart as text.
func (c *Chart) String() string { return c.Figure().String() }

func (c *Chart) set(change func()) *Chart {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	return c
}

func (c *Chart) points(m Mark, name string, xs, ys any) *Chart {
	y, err := floats(ys)
	x := make([]float64, len(y))
	for i := range x {
		x[i] = float64(i)
	}
	if err == nil && !isNil(xs) {
		if x, err = floats(xs); err == nil && len(x) != len(y) {
			err = fmt.Errorf("series %q has %d x values and %d y values; give as many of each", name, len(x), len(y))
		}
	}
	return c.add(Series{Name: name, Mark: m, X: x, Y: y}, err)
}

func (c *Chart) add(s Series, err error) *Chart {
	return c.set(func() {
		if err != nil {
			c.err = errors.Join(c.err, err)
			return
		}
		c.fig.Series = append(c.fig.Series, s)
	})
}

// floats copies a slice of numbers of any kind.
func floats(list any) ([]float64, error) {
	v := indirect(reflect.ValueOf(list))
	if v.Kind() != reflect.Slice && v.Kind() != reflect.Array {
		return nil, fmt.Errorf("a value of type %T is no data for a chart; give a slice of numbers", list)
	}
	out := make([]float64, v.Len())
	for i := range out {
		item := indirect(v.Index(i))
		if !item.IsValid() {
			out[i] = math.NaN()
			continue
		}
		x, ok := number(item.Interface())
		if !ok {
			return nil, fmt.Errorf("value %d of the data is of type %s; give a slice of numbers", i, item.Type())
		}
		out[i] = x
	}
	return out, nil
}

// String is the figure for a terminal: a line of small bars for each series.
func (f Figure) String() string {
	var b strings.Builder
	b.WriteString(f.Title)
	for _, s := range f.Series {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		values, of := s.Y, "y"
		if s.Mark == MarkHistogram {
			values, of = s.X, "x"
		}
		if s.Name != "" {
			b.WriteString(s.Name + " ")
		}
		low, high := span(values)
		fmt.Fprintf(&b, "%s: %d values, %s %.4g to %.4g", s.Mark, len(values), of, low, high)
		if s.Mark != MarkHistogram && len(values) > 1 {
			b.WriteString("  " + spark(values, f.LogY))
		}
	}
	return b.String()
}

// span is the range of the finite values.
func span(values []float64) (low, high float64) {
	low, high = math.NaN(), math.NaN()
	for _, x := range values {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		if math.IsNaN(low) {
			low, high = x, x
		}
		low, high = min(low, x), max(high, x)
	}
	return low, high
}

// spark draws values as at most 40 bars of eight heights.
func spark(values []float64, log bool) string {
	const bars, columns = "▁▂▃▄▅▆▇█", 40
	heights := []rune(bars)
	n := min(len(values), columns)
	some := make([]float64, n)
	for i := range some {
		some[i] = values[i*len(values)/n]
		if log {
			some[i] = math.Log(some[i])
		}
	}
	low, high := span(some)
	out := make([]rune, n)
	for i, x := range some {
		switch {
		case math.IsNaN(x) || math.IsInf(x, 0):
			out[i] = ' '
		case high == low:
			out[i] = heights[3]
		default: // halves, because high-low may overflow
			out[i] = heights[int((x/2-low/2)/(high/2-low/2)*7.999)]
		}
	}
	return string(out)
}

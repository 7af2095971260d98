package render

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/warpbook/warpbook/display"
)

var update = flag.Bool("update", false, "write the golden files anew")

// outline is the structure of an SVG: its size, its texts, and how many paths
// there are of each colour. Fonts and coordinates are left out.
func outline(t *testing.T, svg string) string {
	t.Helper()
	var b strings.Builder
	paths := map[string]int{}
	inText := false
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("not XML: %v\n%s", err, svg)
		}
		switch e := token.(type) {
		case xml.StartElement:
			inText = e.Name.Local == "text" || e.Name.Local == "title"
			for _, a := range e.Attr {
				if e.Name.Local == "svg" && (a.Name.Local == "width" || a.Name.Local == "height") {
					fmt.Fprintf(&b, "%s %s\n", a.Name.Local, a.Value)
				}
				if e.Name.Local == "path" && a.Name.Local == "style" {
					paths[paint(a.Value)]++
				}
			}
		case xml.CharData:
			if inText {
				fmt.Fprintf(&b, "text %s\n", e)
			}
		case xml.EndElement:
			inText = false
		}
	}
	var lines []string
	for style, n := range paths {
		lines = append(lines, fmt.Sprintf("%d paths %s\n", n, style))
	}
	slices.Sort(lines)
	return b.String() + strings.Join(lines, "")
}

// paint is the colours of a style.
func paint(style string) string {
	var keep []string
	for item := range strings.SplitSeq(style, ";") {
		if key, _, _ := strings.Cut(item, ":"); key == "fill" || key == "stroke" || key == "fill-opacity" {
			keep = append(keep, item)
		}
	}
	return strings.Join(keep, " ")
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; run the test with -update", err)
	}
	if got != string(want) {
		t.Errorf("%s differs:\n%s\nwant:\n%s", name, got, want)
	}
}

func TestChart(t *testing.T) {
	ns := []int{64, 1024, 16384, 262144}
	long := make([]float64, 100_000)
	for i := range long {
		long[i] = math.Sin(float64(i) / 5000)
	}
	crowd := display.Plot("A title that is longer than the chart is wide, and so goes on, and on, and on, in a second line")
	for i := range 40 {
		crowd.Line(fmt.Sprintf("series %d, with a name too long for a legend beside a chart", i), nil, []int{i, 2 * i})
	}
	for name, c := range map[string]*display.Chart{
		"crowd": crowd,
		"lines": display.Plot("Softmax <fast>").Line("naive", ns, []float64{8, 11, 60, 800}).
			Line("online & fused", ns, []float64{6, 7, 14, 110}).XLabel("elements").YLabel("time (µs)").LogX().LogY(),
		"long":      display.Line("", nil, long),
		"bars":      display.Bars("Rate", []string{"naive", "tiled"}, []int{120, 890}).Name("A").Bars("B", []int{90, 700}),
		"many-bars": display.Bars("", strings.Fields(strings.Repeat("quite_a_long_name ", 80)), make([]int, 80)),
		"log-bars":  display.Bars("", []string{"a", "b"}, []float64{0, 1000}).LogY(),
		"histogram": display.Histogram("Spread", []float64{1, 1, 2, 2, 2, 3, math.NaN()}, 3),
		"one-value": display.Histogram("", []float64{1e300 / 2}, 0),
		"scatter":   display.Scatter("Cloud", []float64{1, 2}, []float64{3, math.Inf(1)}).Name("points").Size(320, 200),
		"gaps":      display.Line("", nil, []float64{1e-7, math.NaN(), 2e-7, 3e-7}),
		"constant":  display.Line("", nil, []float64{5, 5}),
		"zero":      display.Line("", nil, []float64{0}),
		"huge":      display.Line("", nil, []float64{-9e299, 9e299}),
	} {
		t.Run(name, func(t *testing.T) {
			svg, err := Chart(c.Figure())
			if err != nil {
				t.Fatal(err)
			}
			if len(svg) > 200_000 {
				t.Errorf("the SVG has %d bytes", len(svg))
			}
			golden(t, name, outline(t, svg))
		})
	}
}

func TestChartErrors(t *testing.T) {
	for want, c := range map[string]*display.Chart{
		"no data":  display.Plot("empty"),
		"no value": display.Line("", nil, []float64{-1, math.NaN()}).LogY(),
	} {
		if svg, err := Chart(c.Figure()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v and %d bytes, want an error about %q", err, len(svg), want)
		}
	}
}

// A peak of one point in many is drawn, though the line is thinned.
func TestThinnedKeepsPeaks(t *testing.T) {
	run := make(plotter.XYs, 1_000_000)
	for i := range run {
		run[i].X = float64(i)
	}
	run[123_456].Y, run[654_321].Y = 9, -9
	got := thinned(run)
	if len(got) > 2*drawnPoints {
		t.Errorf("%d points are left", len(got))
	}
	if !slices.Contains(got, run[123_456]) || !slices.Contains(got, run[654_321]) || got[len(got)-1] != run[len(run)-1] {
		t.Error("a peak or the end is missing")
	}
	if !slices.IsSortedFunc(got, func(a, b plotter.XY) int { return int(a.X - b.X) }) {
		t.Error("the points are out of order")
	}
}

func TestTicks(t *testing.T) {
	for _, tt := range []struct {
		low, high float64
		log       bool
		want      string
	}{
		{0, 10, false, "0 2 4 6 8 10"},
		{-1, 1, false, "−1.0 −0.5 0 0.5 1.0"},
		{0.001, 0.0042, false, "0.001 0.002 0.003 0.004"},
		{0, 3e9, false, "0 5×10⁸ 1×10⁹ 1.5×10⁹ 2×10⁹ 2.5×10⁹ 3×10⁹"},
		{1, 100, true, "1 10 100"},
		{0.01, 1e6, true, "0.01 0.1 1 10 100 1000 10⁴ 10⁵ 10⁶"},
		{1, 30, true, "1 2 5 10 20"},
		{100, 110, true, "100 105 110"},
		{1e-30, 1e30, true, "10⁻²⁸ 10⁻²¹ 10⁻¹⁴ 10⁻⁷ 1 10⁷ 10¹⁴ 10²¹ 10²⁸"},
	} {
		ticks := linearTicks(tt.low, tt.high, 6)
		if tt.log {
			ticks = logTicks(tt.low, tt.high)
		}
		var labels []string
		for _, tick := range ticks {
			if tick.Label != "" {
				labels = append(labels, tick.Label)
			}
		}
		if got := strings.Join(labels, " "); got != tt.want {
			t.Errorf("ticks from %g to %g (log %v): %s, want %s", tt.low, tt.high, tt.log, got, tt.want)
		}
	}
}

func gonumPlot(t *testing.T) *plot.Plot {
	t.Helper()
	p := plot.New()
	p.Title.Text = "squares"
	l, err := plotter.NewLine(plotter.XYs{{X: 0, Y: 0}, {X: 1, Y: 1}, {X: 2, Y: 4}})
	if err != nil {
		t.Fatal(err)
	}
	p.Add(l)
	return p
}

// What cells show, through the facade, with these renderers.
func TestThroughDisplay(t *testing.T) {
	display.Connect(nil, All())
	t.Cleanup(func() { display.Connect(nil, display.Renderers{}) })
	picture := image.NewNRGBA(image.Rect(0, 0, 3, 2))
	picture.Set(1, 1, color.NRGBA{R: 200, A: 255})

	b := display.Render(picture)
	file, ok := b.Data["image/png"].([]byte)
	if !ok {
		t.Fatalf("a picture is shown as %v", b.Data)
	}
	got, err := png.Decode(bytes.NewReader(file))
	if err != nil || got.Bounds() != picture.Bounds() || got.At(1, 1) != picture.At(1, 1) {
		t.Errorf("the picture came back as %v, %v", got, err)
	}

	b = display.Render(gonumPlot(t))
	svg, ok := b.Data["image/svg+xml"].(string)
	if !ok {
		t.Fatalf("a plot is shown as %v", b.Data)
	}
	golden(t, "gonum", outline(t, svg))
	if text := b.Data["text/plain"]; text != `plot "squares", x 0 to 2, y 0 to 4` {
		t.Errorf("the plot's text is %v", text)
	}

	p := gonumPlot(t)
	p.Y.Scale = plot.LogScale{} // its data reach zero: gonum panics
	if text := display.Render(p).Data["text/plain"].(string); !strings.Contains(text, "the plot cannot be drawn") {
		t.Errorf("a plot that cannot be drawn says %q", text)
	}
	if b := display.Render((*plot.Plot)(nil)); b.Data["text/plain"] != "(*plot.Plot)(nil)" {
		t.Errorf("no plot is shown as %v", b.Data)
	}
	b = display.Render(display.Line("a", nil, []int{1, 2}), picture)
	if page, ok := b.Data["text/html"].(string); !ok || strings.Count(page, "<img ") != 2 {
		t.Errorf("a chart and a picture are shown as %v", b.Data)
	}
}

func TestJPEG(t *testing.T) {
	file, err := JPEG(image.NewGray(image.Rect(0, 0, 8, 4)), 90)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := jpeg.Decode(bytes.NewReader(file)); err != nil || m.Bounds().Dx() != 8 {
		t.Errorf("decoded %v, %v", m, err)
	}
}

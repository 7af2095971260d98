package display

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestChartText(t *testing.T) {
	for _, tt := range []struct {
		chart *Chart
		want  string
	}{
		{Line("up", nil, []int{0, 1, 2, 3}), "up\nline: 4 values, y 0 to 3  ▁▃▆█"},
		{Plot("").Line("a", []float64{1, 2, 3}, []float32{1, 10, 100}).LogY(), "a line: 3 values, y 1 to 100  ▁▄█"},
		{Bars("b", []string{"x", "y"}, []any{1, nil}), "b\nbars: 2 values, y 1 to 1  ▄ "},
		{Line("gap", nil, []float64{1, math.NaN(), math.Inf(1), 2}), "gap\nline: 4 values, y 1 to 2  ▁  █"},
		{Histogram("h", []uint8{1, 5}, 2).Name("bytes"), "h\nbytes histogram: 2 values, x 1 to 5"},
		{Line("far", nil, []float64{-math.MaxFloat64, math.MaxFloat64}), "far\nline: 2 values, y -1.798e+308 to 1.798e+308  ▁█"},
		{Line("x", []int{1}, []int{1, 2}), `chart "x": series "" has 1 x values and 2 y values; give as many of each`},
		{Line("x", nil, []string{"a"}), `chart "x": value 0 of the data is of type string; give a slice of numbers`},
		{Line("x", nil, 3), `chart "x": a value of type int is no data for a chart; give a slice of numbers`},
		{Plot("x").Size(1, 1), `chart "x": the size 1 x 1 is not drawn; use 100 to 10,000 pixels a side`},
		{Histogram("x", []int{1}, -1), `chart "x": -1 bins; use 1 to 10,000, or 0 to have the number chosen`},
	} {
		if got := text(t, Render(tt.chart)); got != tt.want {
			t.Errorf("got  %q\nwant %q", got, tt.want)
		}
	}
}

func TestChartIsDrawn(t *testing.T) {
	var drawn Figure
	fail := false
	connect(t, Renderers{Chart: func(f Figure) (string, error) {
		drawn = f
		if fail {
			return "", errors.New("no ink")
		}
		return "<svg/>", nil
	}})
	c := Bars("title", []string{"a", "b"}, []int{1, 2}).Name("one").Bars("two", []int{3, 4}).
		XLabel("x").YLabel("y").LogY().Size(300, 200)
	b := Render(c)
	if b.Data["image/svg+xml"] != "<svg/>" {
		t.Errorf("bundle is %v", b.Data)
	}
	if drawn.Width != 300 || !drawn.LogY || drawn.LogX || len(drawn.Series) != 2 || drawn.Series[0].Name != "one" || drawn.Categories[1] != "b" {
		t.Errorf("drawn is %+v", drawn)
	}
	fail = true
	if got := text(t, Render(c)); !strings.HasSuffix(got, "\n(not drawn: no ink)") {
		t.Errorf("a chart that cannot be drawn says %q", got)
	}
}

package display

import (
	"strings"
	"testing"
	"time"
)

type run struct {
	Kernel string   `display:"kernel"`
	Time   float64  `display:"time,unit=us,format=%.2f,best=lowest"`
	Rate   *float64 `display:"rate,unit=GB/s"`
	Ok     bool     `display:"correct,align=center"`
	Took   time.Duration
	Hidden int `display:"-"`
	secret int
}

func runs() []run {
	fast := 890.1234567
	return []run{
		{Kernel: "naive <script>", Time: 812.5, Took: 2 * time.Second, secret: 1},
		{Kernel: "分块", Time: 98.349, Rate: &fast, Ok: true, Took: time.Millisecond},
		{Kernel: "fused", Time: 98.349},
	}
}

func TestTable(t *testing.T) {
	for _, tt := range []struct {
		name  string
		table *TableView
	}{
		{"structs", Table(runs()).Title("Softmax & more").Caption("median of 100")},
		{"pointers", Table([]*run{nil, &runs()[0]}).Columns("time", "kernel")},
		{"maps", Table([]map[string]any{{"b": 1, "a": "x"}, {"c": 2.5, "b": -20}}).Best("b", Highest)},
		{"strings", Table([][]string{{"name", "value"}, {"one", "1"}, {"two"}}).Align(Right, "value")},
		{"mixed rows", Table([][]any{{"n", "error"}, {1, nil}, {2, "line\nbreak"}})},
		{"numbers", Table([][]float64{{1, 2.25}, {3.125, 1e9}}).Format("%.2f")},
		{"columns", Table(map[string][]int{"x": {1, 2, 3}, "y": {4, 5}})},
		{"map", Table(map[string]float64{"mean": 2.5, "count": 3})},
		{"map of structs", Table(map[int]point{2: {1, 2, ""}, 1: {3, 4, ""}})},
		{"struct", Table(point{1, 2, ""})},
		{"list", Table([]string{"a", "b"})},
		{"times", Table([]time.Time{time.Unix(0, 0).UTC()})},
		{"empty", Table([]point{})},
		{"none", Table(nil)},
		{"wrong", Table(5)},
		{"no column", Table([]point{{}}).Unit("Z", "m").Best("X", Lowest)},
	} {
		b := Render(tt.table)
		golden(t, "table-"+strings.ReplaceAll(tt.name, " ", "-")+".golden",
			text(t, b)+"\n\n"+b.Data["text/html"].(string)+"\n")
	}
}

func TestTableIsCut(t *testing.T) {
	rows := make([]point, 5000)
	rows[4999].X = 7
	table := Table(rows).Best("X", Highest)
	got := table.String()
	if n := strings.Count(got, "\n"); n > maxRows+5 {
		t.Errorf("%d lines", n)
	}
	if !strings.Contains(got, "5000 rows; the first 1000 are shown") {
		t.Errorf("no note that rows are missing")
	}
	if strings.Contains(got, "* best") {
		t.Error("a row is called best, though a better one is not shown")
	}
}

func TestTableNotesBadTag(t *testing.T) {
	type bad struct {
		A int `display:"a,colour=red"`
		B int `display:",align=up"`
	}
	got := Table([]bad{{}}).String()
	for _, want := range []string{`no option "colour=red"`, `no option "align=up"`} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%q is not told once in\n%s", want, got)
		}
	}
}

package display

import (
	"encoding/json"
	"errors"
	"image"
	"math"
	"os"
	"strings"
	"testing"
	"time"
)

type point struct {
	X, Y int
	name string
}

type node struct {
	val  int
	next *node
}

type badString struct{}

func (badString) String() string { panic("no text") }

type badError struct{}

func (*badError) Error() string { panic("no error") }

type rich1 struct{ data map[string]any }

func (r rich1) MIMEBundle() map[string]any { return r.data }

type richPointer struct{ v int }

func (r *richPointer) MIMEBundle() map[string]any {
	return map[string]any{"text/html": []string{"<i>zero</i>", "<i>one</i>"}[r.v]}
}

type celsius float64

func (c celsius) String() string { return "warm" }

func TestPlain(t *testing.T) {
	ring := &node{val: 1}
	ring.next = ring
	n := 5
	self := []any{nil}
	self[0] = self
	for _, tt := range []struct {
		value any
		want  string
	}{
		{nil, "nil"},
		{(*point)(nil), "(*display.point)(nil)"},
		{error(nil), "nil"},
		{42, "42"},
		{1.5, "1.5"},
		{true, "true"},
		{'a', "97"},
		{"héllo \"you\"\n", `"héllo \"you\"\n"`},
		{"\xff", `"\xff"`},
		{[]byte("text"), `[]byte("text")`},
		{[]byte{0, 255}, "[0 255]"},
		{[]byte(nil), "[]"},
		{[]string{"a b", "c"}, "[a b c]"},
		{map[string]int{"b": 2, "a": 1}, "map[a:1 b:2]"},
		{map[float64]int{2: 2, -1: 1}, "map[-1:1 2:2]"},
		{map[point]bool{{X: 2}: true, {X: 1}: false}, "map[{X:1 Y:0 name:}:false {X:2 Y:0 name:}:true]"},
		{point{1, 2, "p"}, "{X:1 Y:2 name:p}"},
		{&point{1, 2, "p"}, "&{X:1 Y:2 name:p}"},
		{[]*point{{X: 1}, nil}, "[&{X:1 Y:0 name:} <nil>]"},
		{&n, "&5"},
		{&node{1, &node{2, nil}}, "&{val:1 next:&{val:2 next:<nil>}}"},
		{errors.New("it failed"), "it failed"},
		{[]error{errors.New("it failed"), nil}, "[it failed <nil>]"},
		{celsius(30), "warm"},
		{[]celsius{1, 2}, "[warm warm]"},
		{1500 * time.Millisecond, "1.5s"},
		{math.NaN(), "NaN"},
		{strings.ToUpper, "func(string) string"},
		{(func())(nil), "<nil>"},
		{make(chan int), "chan int"},
		{[]any{1, "a", nil, []int{2}}, "[1 a <nil> [2]]"},
		{complex(1, -2), "(1-2i)"},
		{[2][]int{{1}, nil}, "[[1] []]"},
		{badString{}, "%!v(PANIC=String method: no text)"},
		{&badError{}, "%!v(PANIC=Error method: no error)"},
		{[]any{badString{}}, "[%!v(PANIC=String method: no text)]"},
	} {
		if got := text(t, Render(tt.value)); got != tt.want {
			t.Errorf("Render(%T) = %s, want %s", tt.value, got, tt.want)
		}
	}
	if got := text(t, Render(ring)); !strings.HasPrefix(got, "&{val:1 next:&{val:1 next:") || len(got) > 300 {
		t.Errorf("a ring is shown as %s", got)
	}
	if got := text(t, Render(self)); !strings.Contains(got, "…") || len(got) > 1000 {
		t.Errorf("a slice in itself is shown as %s", got)
	}
	if got := text(t, Render(os.Stdout)); strings.Contains(got, "0xc0") {
		t.Errorf("an address that changes with every run: %s", got)
	}
}

func TestPlainIsCut(t *testing.T) {
	deep := make([][]int, 100_000)
	for name, value := range map[string]any{
		"slice":  make([]int, 50_000_000),
		"nested": deep,
		"string": strings.Repeat("é", 5_000_000),
		"words":  []string{strings.Repeat("a", 5_000_000)},
		"bytes":  make([]byte, 50_000_000),
		"text":   errors.New(strings.Repeat("e", 5_000_000)),
	} {
		got := text(t, Render(value))
		if len(got) > 3*maxText || !strings.Contains(got, "(cut") {
			t.Errorf("%s: %d bytes, ends in %q", name, len(got), got[max(0, len(got)-100):])
		}
	}
}

func TestRenderItself(t *testing.T) {
	for _, tt := range []struct {
		name  string
		value any
		mime  string
		want  string
		plain string
	}{
		{"html gives text", rich1{map[string]any{"text/html": "<b>1 &lt; 2</b>"}}, "text/html", "<b>1 &lt; 2</b>", "1 < 2"},
		{"pointer", &richPointer{1}, "text/html", "<i>one</i>", "one"},
		{"own text is kept", rich1{map[string]any{"text/html": "h", "text/plain": "p"}}, "text/html", "h", "p"},
		{"JSON", rich1{map[string]any{"application/json": map[string]any{"a": math.NaN()}, "text/plain": "p"}}, "application/json", `{"a":null}`, "p"},
		{"JSON text", rich1{map[string]any{"application/geo+json": `{"a":[1]}`, "text/plain": "p"}}, "application/geo+json", `{"a":[1]}`, "p"},
		{"not UTF-8", rich1{map[string]any{"text/html": "a\xff"}}, "text/html", "a\uFFFD", "a\uFFFD"},
		{"xml bytes", rich1{map[string]any{"image/svg+xml": []byte("<svg/>"), "text/plain": "p"}}, "image/svg+xml", "<svg/>", "p"},
	} {
		b := Render(tt.value)
		var got string
		switch c := b.Data[tt.mime].(type) {
		case string:
			got = c
		case json.RawMessage:
			got = string(c)
		}
		if got != tt.want || text(t, b) != tt.plain {
			t.Errorf("%s: %s is %q, text %q; want %q and %q", tt.name, tt.mime, got, text(t, b), tt.want, tt.plain)
		}
	}
}

func TestRenderSurvives(t *testing.T) {
	for _, tt := range []struct {
		name  string
		value any
		want  string
	}{
		{"MIMEBundle panics", &richPointer{7}, "&{v:7}\n(shown as text: showing a *display.richPointer panicked: runtime error: index out of range [7] with length 2; correct its MIMEBundle method)"},
		{"nil pointer", (*richPointer)(nil), "(*display.richPointer)(nil)"},
		{"nil bundle", rich1{}, "{data:map[]}"},
		{"wrong content", rich1{map[string]any{"text/html": 5}}, "{data:map[text/html:5]}\n(text/html left out: its content is of type int; give a string or []byte)"},
		{"JSON that is none", As("application/json", make(chan int)), "(application/json left out: a value of type chan int cannot be JSON (json: unsupported type: chan int); give numbers, strings, slices, maps or structs of them)"},
		{"nil picture", (*image.RGBA)(nil), "(*image.RGBA)(nil)"},
	} {
		if got := text(t, Render(tt.value)); got != tt.want {
			t.Errorf("%s: %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

func TestRenderSeveral(t *testing.T) {
	if got := text(t, Render(1, "a", nil)); got != `1, "a", nil` {
		t.Errorf("text is %s", got)
	}
	b := Render(3, As("text/html", "<b>x</b>"), As("image/png", []byte("png")))
	const want = "<div><pre>3</pre></div>\n<div><b>x</b></div>\n<div><img src=\"data:image/png;base64,cG5n\"></div>"
	if b.Data["text/html"] != want {
		t.Errorf("HTML is %v", b.Data["text/html"])
	}
	if len(Render().Data) != 1 {
		t.Errorf("no values give %v", Render())
	}
}

func TestMarshalNonFinite(t *testing.T) {
	type inner struct {
		F float64 `json:"f"`
		g float64
	}
	type outer struct {
		inner
		List  []float32       `json:"list"`
		Map   map[int]float64 `json:"map,omitempty"`
		Skip  float64         `json:"-"`
		Empty float64         `json:"empty,omitempty"`
		Ptr   *float64        `json:"ptr"`
		When  time.Time       `json:"when"`
		Any   any             `json:"any"`
		Bytes []byte          `json:"bytes"`
	}
	inf := math.Inf(1)
	v := outer{inner: inner{F: math.NaN(), g: 1}, List: []float32{1, float32(inf)}, Map: map[int]float64{2: inf}, Ptr: &inf,
		When: time.Unix(0, 0).UTC(), Any: []any{inf, "s"}, Bytes: []byte{1}}
	got, err := marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"any":[null,"s"],"bytes":"AQ==","f":null,"list":[1,null],"map":{"2":null},"ptr":null,"when":"1970-01-01T00:00:00Z"}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	ring := map[string]any{"nan": math.NaN()}
	ring["ring"] = ring
	if _, err := marshal(ring); err == nil {
		t.Error("a map that contains itself became JSON")
	}
}

func FuzzStripTags(f *testing.F) {
	for _, s := range []string{"<p>a</p>b", "<script>x<y</script>z", "a < b", "<", "<!-- c -->", "<br/>x", "<style>", "</script"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := stripTags(s); len(got) > 4*len(s)+4 {
			t.Errorf("%q became longer: %q", s, got)
		}
	})
}

func TestStripTags(t *testing.T) {
	for in, want := range map[string]string{
		"<p>one</p><p>two &amp; three</p>":               "one\ntwo & three",
		"a < b and c > d":                                "a < b and c > d",
		"x<script>if (a<b) alert(1)</script>y":           "xy",
		"<style>td {}</style><table><tr><td>1</td></tr>": "1",
		"<b":           "<b",
		"line<br>next": "line\nnext",
	} {
		if got := stripTags(in); got != want {
			t.Errorf("stripTags(%q) = %q, want %q", in, got, want)
		}
	}
}

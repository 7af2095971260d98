package display

import (
	"encoding/json"
	"fmt"
	"image"
	"strings"
	"sync"
	"testing"
)

// trace writes messages as lines, with display ids numbered.
func trace(messages []Message) string {
	ids := map[string]int{}
	var b strings.Builder
	for _, m := range messages {
		fmt.Fprint(&b, m.Kind)
		if m.ID != "" {
			if _, ok := ids[m.ID]; !ok {
				ids[m.ID] = len(ids) + 1
			}
			fmt.Fprintf(&b, " #%d", ids[m.ID])
		}
		if m.Kind == Clear {
			fmt.Fprintf(&b, " wait=%v", m.Wait)
		} else {
			data, err := json.Marshal(m.Bundle)
			if err != nil {
				fmt.Fprintf(&b, " ERROR %v", err)
			}
			fmt.Fprintf(&b, " %s", data)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// What each call of a cell sends to the front end.
func TestMessages(t *testing.T) {
	host := connect(t, Renderers{
		PNG:  func(image.Image) ([]byte, error) { return []byte("png"), nil },
		JPEG: func(image.Image, int) ([]byte, error) { return []byte("jpeg"), nil },
	})
	picture := image.NewGray(image.Rect(0, 0, 3, 2))
	h := HTML("<b>one</b>")
	h.Update(2, "two")
	h.HTML("<i>three</i>").Markdown("*four*").Text("five")
	h.Update(As("text/latex", "$x$"))
	h.Clear()
	Show(h)
	Markdown("# head")
	LaTeX(`x^2`)
	LaTeX(`\begin{align}x\end{align}`)
	SVG("<svg/>")
	JavaScript("alert(1)")
	Text("plain")
	JSON(map[string]any{"a": 1})
	JSON([]byte(`{"b":2}`))
	JSON("text")
	JSON(`{"broken`)
	VegaLite(map[string]any{"title": "T", "mark": "bar"})
	VegaLite(`[1]`)
	PNG(picture)
	JPEG(picture)
	Image([]byte("GIF89a..."))
	Image([]byte("???"))
	Image("no/such/file.png")
	PNG([]byte("\xff\xd8\xff"))
	PNG(5)
	Image(image.NewUniform(nil))
	Show(picture)
	UpdateDisplay("mine", 1)
	ShowAs("mine", 2)
	ClearOutput(true)
	ClearOutput(false)
	ShowResult(1, nil)
	ShowResult(h)
	ShowResult()
	golden(t, "messages.golden", trace(host.all()))
}

func TestHandleTellsErrors(t *testing.T) {
	host := connect(t, Renderers{})
	host.fail = true
	h := Show(1)
	if h.Err() == nil || !strings.Contains(h.Err().Error(), "no front end") {
		t.Errorf("Err() = %v", h.Err())
	}
	if err := ShowResult(1); err == nil {
		t.Error("ShowResult did not tell that nothing arrived")
	}
}

// What is shown later does not follow the value: the bundle is a snapshot.
func TestBundleIsSnapshot(t *testing.T) {
	host := connect(t, Renderers{})
	m := map[string]any{"a": 1}
	JSON(m)
	m["a"] = 2
	data, err := json.Marshal(host.all()[0].Bundle.Data["application/json"])
	if err != nil || string(data) != `{"a":1}` {
		t.Errorf("sent %s, %v", data, err)
	}
}

func TestConcurrentUse(t *testing.T) {
	host := connect(t, Renderers{})
	h := HTML("start")
	table := Table([]point{{X: 1}})
	chart := Line("c", nil, []int{1, 2})
	bar := Progress(400, "work")
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 100 {
				h.Update(i, j)
				Show(j)
				table.Title(fmt.Sprint(j)).Unit("X", "m").Show()
				chart.Line(fmt.Sprint(j), nil, []int{1}).Show()
				bar.Add(1)
			}
		})
	}
	wg.Wait()
	bar.Done()
	if bar.Count() != 400 {
		t.Errorf("%d steps counted", bar.Count())
	}
	if n := len(host.all()); n < 1601 {
		t.Errorf("%d messages arrived", n)
	}
}

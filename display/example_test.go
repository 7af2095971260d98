package display_test

import (
	"fmt"

	"github.com/warpbook/warpbook/display"
)

// Without a notebook the text twin of everything goes to standard output.
func Example() {
	display.HTML("<b>Hello</b>, <i>cell</i>")
	display.Show(map[string]int{"a": 1, "b": 2})
	// Output:
	// Hello, cell
	// map[a:1 b:2]
}

func ExampleHTML() {
	h := display.HTML("<b>working</b>")
	h.HTML("<b>done</b>") // in a notebook, in the same place
	// Output:
	// working
	// done
}

func ExampleHandle_Update() {
	h := display.Text("measuring")
	for _, ms := range []float64{1.5, 1.25} {
		h.Update(display.As("text/markdown", fmt.Sprintf("**%.2f** ms", ms)))
	}
	// Output:
	// measuring
	// **1.50** ms
	// **1.25** ms
}

func ExampleTable() {
	type result struct {
		Kernel string  `display:"kernel"`
		Time   float64 `display:"time,unit=us"`
		Rate   float64 `display:"rate,unit=GB/s,format=%.1f"`
	}
	display.Table([]result{
		{"naive", 812.5, 120.25},
		{"tiled", 98.25, 890.12},
	}).Title("Softmax").Best("time", display.Lowest).Show()
	// Output:
	// Softmax
	// kernel  time (us)   rate (GB/s)
	// ------  ----------  -----------
	// naive       812.5         120.2
	// tiled       98.25*        890.1
	// * best
}

func ExampleLine() {
	xs := []int{1, 2, 3, 4}
	ys := []float64{1, 4, 9, 16}
	display.Line("squares", xs, ys).XLabel("n").YLabel("n²").Show()
	// Output:
	// squares
	// line: 4 values, y 1 to 16  ▁▂▅█
}

func ExampleTrack() {
	sum := 0
	for i := range display.Track(4, "adding") {
		sum += i
	}
	fmt.Println(sum)
	// Output: 6
}

func ExampleJSON() {
	display.JSON(map[string]any{"kernel": "tiled", "sizes": []int{1, 2}})
	// Output:
	// {
	//   "kernel": "tiled",
	//   "sizes": [
	//     1,
	//     2
	//   ]
	// }
}

type temperature float64

func (t temperature) MIMEBundle() map[string]any {
	return map[string]any{
		"text/html":  fmt.Sprintf("<b>%.1f</b> °C", float64(t)),
		"text/plain": fmt.Sprintf("%.1f °C", float64(t)),
	}
}

// A type shows itself by its MIMEBundle method.
func ExampleMIMEBundler() {
	display.Show(temperature(21.5))
	// Output: 21.5 °C
}

func ExampleNewComm() {
	_, err := display.NewComm("my.target", map[string]any{"n": 1})
	fmt.Println(err)
	// Output: there is no front end that takes comms; run this in a notebook
}

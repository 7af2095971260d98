package cuda

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

// edge is how many elements are shown at either end of a dimension, and most is up
// to how many a dimension is shown whole.
const (
	edge = 3
	most = 8
)

// String describes the tensor and shows its corner values.
func (t *Tensor) String() string {
	head := t.headline()
	values, err := t.Float64s()
	if err != nil {
		return head + "\n" + err.Error()
	}
	if len(values) == 0 {
		return head + "\n[]"
	}
	return head + "\n" + t.corners(values, t.shape, 0)
}

func (t *Tensor) headline() string {
	text := fmt.Sprintf("tensor %v%s on %s", t.dtype, brackets(t.shape), t.buf.where())
	if !t.IsContiguous() {
		text += ", strides " + brackets(t.strides)
	}
	return text
}

// corners writes nested brackets, with dots for what is left out.
func (t *Tensor) corners(values []float64, shape []int, depth int) string {
	if len(shape) == 0 {
		return number(values[0], t.dtype)
	}
	n, size := shape[0], len(values)/max(shape[0], 1)
	separator := ", "
	if len(shape) > 1 {
		separator = ",\n" + strings.Repeat(" ", depth+1)
	}
	var parts []string
	for i := range n {
		if n > most && i == edge {
			parts = append(parts, "...")
		}
		if n > most && i >= edge && i < n-edge {
			continue
		}
		parts = append(parts, t.corners(values[i*size:(i+1)*size], shape[1:], depth+1))
	}
	return "[" + strings.Join(parts, separator) + "]"
}

func number(v float64, t DType) string {
	if !t.Float() {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'g', 5, 64)
}

// MIMEBundle shows the tensor in a notebook: what it is, its corner values, and a
// picture of all of them: a heat map of a matrix, a histogram of anything else.
func (t *Tensor) MIMEBundle() map[string]any {
	head := t.headline()
	values, err := t.Float64s()
	if err != nil {
		text := head + "\n" + err.Error()
		return map[string]any{"text/plain": text, "text/html": "<div>" + html.EscapeString(head) + "</div><div>" + html.EscapeString(err.Error()) + "</div>"}
	}
	text := "[]"
	if len(values) > 0 {
		text = t.corners(values, t.shape, 0)
	}
	page := fmt.Sprintf("<div>%s</div><pre>%s</pre>", html.EscapeString(head), html.EscapeString(text))
	if len(t.shape) == 2 && len(values) > 0 {
		page += heatMap(values, t.shape[0], t.shape[1])
	} else if len(values) > 1 {
		page += histogram(values)
	}
	return map[string]any{"text/plain": head + "\n" + text, "text/html": page}
}

// finite gives the range of the finite values, and how many others there are.
func finite(values []float64) (lo, hi float64, others int) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if math.IsInf(v, 0) || math.IsNaN(v) {
			others++
			continue
		}
		lo, hi = min(lo, v), max(hi, v)
	}
	return lo, hi, others
}

// heatMap draws a matrix, averaged to at most 64 x 96 cells: blue is low, red high,
// and black cells hold a value that is no finite number.
func heatMap(values []float64, rows, columns int) string {
	lo, hi, others := finite(values)
	down, across := min(rows, 64), min(columns, 96)
	cell := max(2, min(12, 480/across))
	var b strings.Builder
	fmt.Fprintf(&b, `<svg role="img" aria-label="heat map" width="%d" height="%d" shape-rendering="crispEdges">`, across*cell, down*cell)
	for r := range down {
		for c := range across {
			sum, n, bad := 0.0, 0, false
			for i := r * rows / down; i < (r+1)*rows/down; i++ {
				for j := c * columns / across; j < (c+1)*columns/across; j++ {
					v := values[i*columns+j]
					bad = bad || math.IsInf(v, 0) || math.IsNaN(v)
					sum += v
					n++
				}
			}
			colour := "#000"
			if !bad {
				colour = shade(sum/float64(n), lo, hi)
			}
			fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`, c*cell, r*cell, cell, cell, colour)
		}
	}
	b.WriteString("</svg>")
	return b.String() + caption(lo, hi, others, "blue", "red")
}

// shade goes from blue over white to red.
func shade(v, lo, hi float64) string {
	x := 0.5
	if hi > lo {
		x = (v - lo) / (hi - lo)
	}
	if x < 0.5 {
		k := int(510 * x)
		return fmt.Sprintf("rgb(%d,%d,255)", k, k)
	}
	k := int(510 * (1 - x))
	return fmt.Sprintf("rgb(255,%d,%d)", k, k)
}

func caption(lo, hi float64, others int, low, high string) string {
	text := fmt.Sprintf("%s: %.5g, %s: %.5g", low, lo, high, hi)
	if others > 0 {
		text += fmt.Sprintf("; %d values are infinite or no numbers", others)
	}
	return "<div><small>" + html.EscapeString(text) + "</small></div>"
}

// histogram draws how the finite values are distributed.
func histogram(values []float64) string {
	lo, hi, others := finite(values)
	if others == len(values) || lo == hi {
		return caption(lo, hi, others, "least", "greatest")
	}
	const bins, width, height = 40, 400, 100
	var counts [bins]int
	top := 0
	for _, v := range values {
		if math.IsInf(v, 0) || math.IsNaN(v) {
			continue
		}
		i := min(int((v-lo)/(hi-lo)*bins), bins-1)
		counts[i]++
		top = max(top, counts[i])
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg role="img" aria-label="histogram" width="%d" height="%d">`, width, height)
	for i, n := range counts {
		h := n * height / top
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="%d" fill="#4c78a8"/>`, i*width/bins, height-h, width/bins-1, h)
	}
	b.WriteString("</svg>")
	return b.String() + caption(lo, hi, others, "least", "greatest")
}

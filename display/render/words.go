package render

import (
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

func sans(size float64) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Length(size)}
}

// titleStyle is for text that hangs in the middle of the upper edge.
func titleStyle() text.Style {
	f := sans(large)
	f.Weight = xfont.WeightBold
	return text.Style{Color: ink, Font: f, XAlign: text.XCenter, YAlign: text.YTop, Handler: plot.DefaultTextHandler}
}

// wrap breaks s between words into at most three lines that are no wider.
func wrap(style text.Style, s string, wide vg.Length) []string {
	const most = 3
	var lines []string
	for _, word := range strings.Fields(s) {
		last := len(lines) - 1
		if last >= 0 && (style.Width(lines[last]+" "+word) <= wide || last == most-1) {
			lines[last] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	for i := range lines {
		lines[i] = fit(style, lines[i], wide)
	}
	return lines
}

// fit cuts s to a width.
func fit(style text.Style, s string, wide vg.Length) string {
	if style.Width(s) <= wide {
		return s
	}
	r := []rune(s)
	for len(r) > 0 && style.Width(string(r)+"…") > wide {
		r = r[:len(r)-1-len(r)/20]
	}
	return string(r) + "…"
}

func shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

package render

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strings"

	"gonum.org/v1/plot/vg/vgsvg"
)

// families replaces gonum's font names by lists that end in a family which every
// system has. Liberation has the widths of Arial and Times, so the layout holds.
var families = strings.NewReplacer(
	"font-family:Liberation Sans;", "font-family:Liberation Sans,Arial,Helvetica,sans-serif;",
	"font-family:Liberation Serif;", "font-family:Liberation Serif,Times New Roman,Times,serif;",
	"font-family:Liberation Mono;", "font-family:Liberation Mono,Courier New,Courier,monospace;",
)

var root = regexp.MustCompile(`(?s)^.*?<svg width="([0-9.]+)pt" height="([0-9.]+)pt"([^>]*)>`)

// finish writes the canvas as an SVG element: sized in pixels, shrinking with a
// narrow page, with a title for readers who hear it.
func finish(canvas *vgsvg.Canvas, title string) (string, error) {
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return "", fmt.Errorf("the plot cannot be written: %w", err)
	}
	text := b.String()
	m := root.FindStringSubmatch(text)
	if m == nil {
		return "", fmt.Errorf("the plot has no SVG element; this version of gonum/plot is not supported")
	}
	var w, h float64
	if _, err := fmt.Sscan(m[1]+" "+m[2], &w, &h); err != nil {
		return "", fmt.Errorf("the plot has no size: %w", err)
	}
	head := fmt.Sprintf(`<svg width="%.0f" height="%.0f" role="img" style="max-width:100%%;height:auto"%s>`, w/0.75, h/0.75, m[3])
	head += "\n<title>" + html.EscapeString(title) + "</title>"
	return families.Replace(head + text[len(m[0]):]), nil
}

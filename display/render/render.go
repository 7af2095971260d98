// Package render is the heavy half of package display: picture encoders and
// plots. It is linked into the main program only; cells reach it through
// display.Connect.
//
// The model: a function for each member of display.Renderers, from a value to
// the content of one MIME type. All draws with gonum/plot to SVG.
package render

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/warpbook/warpbook/display"
)

// All are the renderers that this package has.
func All() display.Renderers {
	return display.Renderers{PNG: PNG, JPEG: JPEG, Chart: Chart, Value: Value}
}

// PNG encodes a picture without loss.
func PNG(m image.Image) ([]byte, error) {
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestSpeed} // a cell waits for it
	err := encoder.Encode(&b, m)
	return b.Bytes(), err
}

// JPEG encodes a picture with loss.
func JPEG(m image.Image, quality int) ([]byte, error) {
	var b bytes.Buffer
	err := jpeg.Encode(&b, m, &jpeg.Options{Quality: quality})
	return b.Bytes(), err
}

// Value draws the values of gonum/plot, and knows no others.
func Value(v any) (map[string]any, error) {
	p, ok := v.(*plot.Plot)
	if !ok || p == nil {
		return nil, nil
	}
	svg, err := Plot(p)
	if err != nil {
		return nil, err
	}
	return map[string]any{"image/svg+xml": svg, "text/plain": plotText(p)}, nil
}

// Size of a plot that does not name its own: 640 by 400 pixels.
const (
	plotWidth  = 480 * vg.Length(1)
	plotHeight = 300 * vg.Length(1)
)

// Plot draws a plot of gonum's as SVG.
func Plot(p *plot.Plot) (svg string, err error) {
	defer guard(&err)
	own := *p // drawing adjusts the ranges of the axes
	canvas := vgsvg.New(plotWidth, plotHeight)
	own.Draw(draw.New(canvas))
	return finish(canvas, p.Title.Text)
}

func plotText(p *plot.Plot) string {
	return fmt.Sprintf("plot %q, x %.4g to %.4g, y %.4g to %.4g", p.Title.Text, p.X.Min, p.X.Max, p.Y.Min, p.Y.Max)
}

// guard turns a panic of gonum's, for instance a logarithmic axis that reaches
// zero, into an error.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the plot cannot be drawn: %v; check its data and its axes", p)
	}
}

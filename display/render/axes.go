package render

import (
	"fmt"
	"image/color"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// axes sets ranges, scales and ticks, once all series are in the plot.
func (c *chart) axes() {
	if c.fig.LogX && len(c.edges) == 0 && len(c.fig.Categories) == 0 {
		logAxis(&c.plot.X)
	} else {
		linearAxis(&c.plot.X, fitting(c.fig.Width, 70), 0.02)
	}
	if c.fig.LogY {
		logAxis(&c.plot.Y)
	} else {
		linearAxis(&c.plot.Y, fitting(c.fig.Height, 50), 0.05)
	}
	c.categories()
}

// fitting is how many ticks fit on an axis with so many pixels for each.
func fitting(pixels, each int) int { return min(max(pixels/each, 2), 10) }

// linearAxis leaves some room around the data, but none below bars that stand
// on zero, and puts ticks at round numbers.
func linearAxis(a *plot.Axis, ticks int, margin float64) {
	if a.Max <= a.Min {
		pad := max(math.Abs(a.Min)*0.1, 0.5)
		a.Min, a.Max = a.Min-pad, a.Max+pad
	}
	room := (a.Max - a.Min) * margin
	if a.Min != 0 {
		a.Min -= room
	}
	if a.Max != 0 {
		a.Max += room
	}
	a.Tick.Marker = plot.TickerFunc(func(low, high float64) []plot.Tick {
		return linearTicks(low, high, ticks)
	})
}

// linearTicks are multiples of 1, 2 or 5 times a power of ten.
func linearTicks(low, high float64, n int) []plot.Tick {
	step := (high - low) / float64(n)
	power := math.Pow(10, math.Floor(math.Log10(step)))
	switch r := step / power; {
	case r <= 1:
		step = power
	case r <= 2:
		step = 2 * power
	case r <= 5:
		step = 5 * power
	default:
		step = 10 * power
	}
	var ticks []plot.Tick
	first := math.Ceil(low/step - 1e-9)
	for i := range 3 * n {
		x := (first + float64(i)) * step
		if x > high+step*1e-9 {
			break
		}
		ticks = append(ticks, plot.Tick{Value: x, Label: tickLabel(x, step)})
	}
	return ticks
}

// tickLabel writes x as exactly as the distance to its neighbours needs.
func tickLabel(x, step float64) string {
	if math.Abs(x) < step/1e6 {
		return "0"
	}
	size := math.Abs(x)
	if size >= 1e6 || size < 1e-4 {
		digits := max(int(math.Floor(math.Log10(size))-math.Floor(math.Log10(step))), 0)
		s := strconv.FormatFloat(x, 'e', digits, 64)
		mantissa, exponent, _ := strings.Cut(s, "e")
		if strings.Contains(mantissa, ".") {
			mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
		}
		n, err := strconv.Atoi(exponent)
		if err != nil {
			return s
		}
		return minus(mantissa) + "×10" + superscript(n)
	}
	return minus(strconv.FormatFloat(x, 'f', max(int(-math.Floor(math.Log10(step)+1e-9)), 0), 64))
}

func minus(s string) string { return strings.Replace(s, "-", "−", 1) }

var superscripts = strings.NewReplacer("0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴",
	"5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹", "-", "⁻")

func superscript(n int) string { return superscripts.Replace(strconv.Itoa(n)) }

func logAxis(a *plot.Axis) {
	if a.Max <= a.Min {
		a.Min, a.Max = a.Min/2, a.Max*2
	}
	room := math.Pow(a.Max/a.Min, 0.04)
	a.Min, a.Max = a.Min/room, a.Max*room
	a.Scale = plot.LogScale{}
	a.Tick.Marker = plot.TickerFunc(logTicks)
}

// logTicks labels powers of ten, and 2 and 5 times them on a short axis.
func logTicks(low, high float64) []plot.Tick {
	first, last := int(math.Floor(math.Log10(low))), int(math.Ceil(math.Log10(high)))
	decades := math.Log10(high / low)
	every := 1 + int(decades)/9
	var ticks []plot.Tick
	for e := first; e <= last; e++ {
		for m := 1; m <= 9; m++ {
			x := float64(m) * math.Pow(10, float64(e))
			if x < low || x > high || m > 1 && every > 1 {
				continue
			}
			label := ""
			if m == 1 && e%every == 0 || decades < 2 && (m == 2 || m == 5) || decades < 0.7 {
				label = logLabel(m, e)
			}
			ticks = append(ticks, plot.Tick{Value: x, Label: label})
		}
	}
	labels := 0
	for _, t := range ticks {
		if t.Label != "" {
			labels++
		}
	}
	if labels < 2 { // a very short axis
		return linearTicks(low, high, 4)
	}
	return ticks
}

func logLabel(m, e int) string {
	if e >= -3 && e <= 3 {
		return strconv.FormatFloat(float64(m)*math.Pow(10, float64(e)), 'f', max(-e, 0), 64)
	}
	if m == 1 {
		return "10" + superscript(e)
	}
	return fmt.Sprintf("%d×10%s", m, superscript(e))
}

// categories names the places of bars. Names that would run into each other are
// slanted, and of very many only some are written.
func (c *chart) categories() {
	names := c.fig.Categories
	if len(names) == 0 {
		return
	}
	label := &c.plot.X.Tick.Label
	room := vg.Length(c.fig.Width) * 0.75 * 0.75 / vg.Length(len(names))
	const slanted, yAxis = 12, 30
	every := 1 + int(slanted/room)
	crowded := false
	for _, name := range names {
		crowded = crowded || label.Width(name) > room-4
	}
	longest := 24
	if crowded {
		longest = 20
		label.Rotation = math.Pi / 6
		label.XAlign, label.YAlign = text.XRight, text.YTop
	}
	var ticks plot.ConstantTicks
	for i, name := range names {
		name = shorten(name, longest)
		if i%every != 0 {
			name = ""
		}
		if reach := label.Width(name)*0.87 - room*vg.Length(float64(i)+0.5) - yAxis; crowded && reach > c.left {
			c.left = reach // what the name needs beyond the plot's left edge
		}
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: name})
	}
	c.plot.X.Tick.Marker = ticks
	c.plot.X.Tick.LineStyle.Color = color.White // vgsvg cannot write transparent
}

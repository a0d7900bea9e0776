package figure

import (
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// sans is the figures' typeface.
func sans(size float64) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(size)}
}

// newPanel returns an empty plot in the figures' style with these labels.
func newPanel(x, y string) *plot.Plot {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = x, y
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Font = sans(9)
		axis.Label.Padding = vg.Points(3)
		axis.Tick.Label.Font = sans(8)
		axis.Tick.Length = vg.Points(3)
		axis.Width, axis.Tick.Width = vg.Points(0.5), vg.Points(0.5)
		axis.Padding = vg.Points(3)
	}
	grid := plotter.NewGrid()
	grid.Vertical.Width = 0
	grid.Horizontal.Color = color.Gray{Y: 0xDD}
	grid.Horizontal.Width = vg.Points(0.5)
	p.Add(grid)
	return p
}

// margin is the share of an axis left free at each end, so that no glyph reaches
// over the frame.
const margin = 0.04

// setAxis lets the axis reach from low to high and a margin around them, with
// round ticks, at most count of them, no closer than smallest and within floor and
// ceiling, beyond which the quantity has no values.
func setAxis(axis *plot.Axis, low, high float64, count int, smallest, floor, ceiling float64) {
	if low > high { // no data
		low, high = 0, 1
	}
	pad := margin * (high - low)
	if pad == 0 {
		pad = math.Max(margin*math.Abs(high), margin)
	}
	axis.Min, axis.Max = low-pad, high+pad
	axis.Tick.Marker = plot.TickerFunc(func(from, to float64) []plot.Tick {
		from, to = math.Max(from, floor), math.Min(to, ceiling)
		step := roundStep((to-from)/float64(count), smallest)
		decimals := max(0, int(math.Ceil(-math.Log10(step)-1e-9)))
		var ticks []plot.Tick
		for i := math.Ceil(from/step - 1e-9); i*step <= to+1e-9*step; i++ {
			value := i*step + 0 // not -0
			ticks = append(ticks, plot.Tick{Value: value, Label: strconv.FormatFloat(value, 'f', decimals, 64)})
		}
		return ticks
	})
}

// roundStep returns the smallest of 1, 2 and 5 times a power of ten that is at
// least as large as both arguments.
func roundStep(least, smallest float64) float64 {
	least = math.Max(least, smallest)
	power := math.Pow(10, math.Floor(math.Log10(least)))
	for _, factor := range []float64{1, 2, 5} {
		if factor*power >= least*(1-1e-9) {
			return factor * power
		}
	}
	return 10 * power
}

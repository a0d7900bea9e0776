package figure

import (
	"fmt"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"iwda/experiments/report/summary"
)

const (
	heatMapColumns = 2
	heatMapHeight  = 8 * vg.Centimeter
	// mostPrinted is the number of classes up to which cells show their numbers.
	mostPrinted = 15
)

// heatMaps draws the predictions by class of every method, the paper's beside ours.
func heatMaps(s summary.Selection, variant, task string) Figure {
	f := Figure{
		Title: s.Title(variant + ", " + task), panelHeight: heatMapHeight,
		Note: "percent of the images of a true class; the stronger the colour, the more; right ones are framed",
	}
	var row []*plot.Plot
	for _, c := range s.Confusions(variant, task) {
		row = append(row, heatMapPanel(c))
		if len(row) == heatMapColumns {
			f.panels, row = append(f.panels, row), nil
		}
	}
	if row != nil {
		f.panels = append(f.panels, append(row, nil))
	}
	return f
}

func heatMapPanel(c summary.Confusion) *plot.Plot {
	p := newPanel("predicted class", "true class")
	p.Title.Text = fmt.Sprintf("%s: accuracy %.2f%%", c.Name(), c.Accuracy)
	p.Title.TextStyle.Font = sans(9)
	p.Title.Padding = vg.Points(3)
	p.Add(heatMap(c.Percent))
	k := len(c.Classes)
	var columns, rows []plot.Tick
	for i, name := range c.Classes {
		columns = append(columns, plot.Tick{Value: float64(i), Label: name})
		rows = append(rows, plot.Tick{Value: float64(k - 1 - i), Label: name})
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.ConstantTicks(columns), plot.ConstantTicks(rows)
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Min, axis.Max = -0.5, float64(k)-0.5
		axis.Tick.Length, axis.Padding, axis.Width = 0, 0, 0
	}
	if k > mostPrinted {
		p.X.Tick.Label.Rotation = math.Pi / 2
		p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = text.XRight, text.YCenter
		p.X.Tick.Label.Font, p.Y.Tick.Label.Font = sans(4), sans(4)
	}
	return p
}

// heatMap draws a square of percentages, the first row at the top, as colored cells
// with their numbers.
type heatMap [][]float64

// Plot implements plot.Plotter.
func (h heatMap) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	k := len(h)
	style := text.Style{Font: sans(6), XAlign: text.XCenter, YAlign: text.YCenter, Handler: plot.DefaultTextHandler}
	for i, row := range h {
		for j, percent := range row {
			x, y := float64(j), float64(k-1-i)
			cell := vg.Rectangle{Min: vg.Point{X: toX(x - 0.5), Y: toY(y - 0.5)}, Max: vg.Point{X: toX(x + 0.5), Y: toY(y + 0.5)}}
			c.FillPolygon(shade(percent), corners(cell))
			if i == j {
				frame := corners(cell)
				c.StrokeLines(draw.LineStyle{Color: color.Black, Width: vg.Points(0.8)}, append(frame, frame[0]))
			}
			style.Color = color.Black
			if percent > pale {
				style.Color = color.White
			}
			if k <= mostPrinted {
				c.FillText(style, vg.Point{X: toX(x), Y: toY(y)}, strconv.FormatFloat(percent, 'f', 1, 64))
			}
		}
	}
}

// pale is the percentage up to which black is read on a cell.
const pale = 55

// shade is the color of a percentage: from white at 0 to the blue of the palette at 100. One hue says how
// many, not how good: few are good beside the diagonal, and many on it.
func shade(percent float64) color.NRGBA {
	part, full := math.Max(0, math.Min(100, percent))/100, hues[2]
	mix := func(to uint8) uint8 { return uint8(255 - part*float64(255-to) + 0.5) }
	return color.NRGBA{R: mix(full.R), G: mix(full.G), B: mix(full.B), A: 255}
}

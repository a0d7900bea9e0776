package main

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"os"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	canvas "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

const (
	width, height = 24 * vg.Centimeter, 14 * vg.Centimeter
	dotsPerInch   = 160
)

// hues are of the palette of Okabe and Ito (2008), which colour-blind readers tell apart.
var hues = []color.Color{
	color.NRGBA{R: 0x00, G: 0x72, B: 0xB2, A: 0xFF}, // blue
	color.NRGBA{R: 0xD5, G: 0x5E, B: 0x00, A: 0xFF}, // vermillion
	color.NRGBA{R: 0x00, G: 0x9E, B: 0x73, A: 0xFF}, // bluish green
}

var marks = []canvas.GlyphDrawer{canvas.CircleGlyph{}, canvas.BoxGlyph{}, canvas.PyramidGlyph{}}

// sizes are the columns of the figure with their labels, which must not be wider than a
// panel.
var sizes = []struct{ against, label string }{
	{classes, "classes"},
	{batch, "rows of a domain a step"},
	{rows, "rows of a domain"},
}

// quantity is a row of the figure.
type quantity struct {
	name string
	of   func(measurement) float64
}

var quantities = []quantity{
	{"milliseconds a step", func(m measurement) float64 { return m.stepMS }},
	{"peak memory (MB)", func(m measurement) float64 { return m.megabytes }},
}

// draw writes the figure: a column for each size that grows.
func draw(path string, measured []measurement) error {
	panels := make([][]*plot.Plot, len(quantities))
	for _, size := range sizes {
		of := slices.DeleteFunc(slices.Clone(measured), func(m measurement) bool { return m.against != size.against })
		if len(of) == 0 {
			continue
		}
		for i, q := range quantities {
			p, err := panel(size.label, q, of)
			if err != nil {
				return err
			}
			panels[i] = append(panels[i], p)
		}
	}
	png := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dotsPerInch))}
	tiles := canvas.Tiles{
		Rows: len(panels), Cols: len(panels[0]), PadX: 0.8 * vg.Centimeter, PadY: 0.6 * vg.Centimeter,
		PadTop: 0.2 * vg.Centimeter, PadBottom: 0.2 * vg.Centimeter, PadLeft: 0.2 * vg.Centimeter, PadRight: 0.4 * vg.Centimeter,
	}
	for i, row := range plot.Align(panels, tiles, canvas.New(png)) {
		for j, area := range row {
			panels[i][j].Draw(area)
		}
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = png.WriteTo(file)
	return errors.Join(err, file.Close())
}

// panel draws a quantity against the size of what was measured, both logarithmic, a line a series.
func panel(label string, q quantity, measured []measurement) (*plot.Plot, error) {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = label, q.name
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Scale = plot.LogScale{}
		axis.Tick.Marker = plot.TickerFunc(ticks)
		axis.Label.TextStyle.Font = sans(9)
		axis.Tick.Label.Font = sans(8)
		axis.Width, axis.Tick.Width = vg.Points(0.5), vg.Points(0.5)
	}
	p.Legend.TextStyle.Font = sans(8)
	p.Legend.Top, p.Legend.Left, p.Legend.Padding = true, true, vg.Points(2)
	grid := plotter.NewGrid()
	grid.Vertical.Width = 0
	grid.Horizontal.Color, grid.Horizontal.Width = color.Gray{Y: 0xDD}, vg.Points(0.5)
	p.Add(grid)
	var series []string
	values := make(map[string]plotter.XYs)
	for _, m := range measured {
		if !slices.Contains(series, m.series) {
			series = append(series, m.series)
		}
		values[m.series] = append(values[m.series], plotter.XY{X: float64(m.size), Y: q.of(m)})
	}
	low, high := math.Inf(1), 0.0
	for i, name := range series {
		line, glyphs, err := plotter.NewLinePoints(values[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		line.Color, line.Width = hues[i%len(hues)], vg.Points(1.3)
		glyphs.GlyphStyle = canvas.GlyphStyle{Color: line.Color, Radius: vg.Points(2.4), Shape: marks[i%len(marks)]}
		p.Add(line, glyphs)
		p.Legend.Add(name, line, glyphs)
		for _, point := range values[name] {
			low, high = min(low, point.Y), max(high, point.Y)
		}
	}
	// Room for the legend above the lines, and no less than a power of ten in all.
	p.Y.Min, p.Y.Max = low/1.3, max(high*math.Pow(high/low, 0.25), low*10)
	return p, nil
}

// ticks marks powers of ten and, unlabelled, what lies between; where there are fewer
// than two powers, 2 and 5 of each have labels too.
func ticks(low, high float64) []plot.Tick {
	few := math.Log10(high/low) < 2
	var all []plot.Tick
	for power := math.Pow(10, math.Floor(math.Log10(low))); power <= high; power *= 10 {
		for digit := 1; digit < 10; digit++ {
			value := power * float64(digit)
			if value < low*(1-1e-9) || value > high*(1+1e-9) {
				continue
			}
			t := plot.Tick{Value: value}
			if digit == 1 || few && (digit == 2 || digit == 5) {
				t.Label = strconv.FormatFloat(value, 'f', -1, 64)
			}
			all = append(all, t)
		}
	}
	return all
}

func sans(size float64) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(size)}
}

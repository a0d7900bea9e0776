// Package figure draws finished runs: accuracy and weight distance by epoch,
// predictions by class, and gain and performance against divergence.
//
// A kind of figure is a function from the experiment's runs to a Figure, without panels if
// there is nothing to draw, and a line in All.
package figure

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"io"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"iwda/experiments/config"
	"iwda/experiments/report/summary"
	"iwda/experiments/store"
)

// Measures of figures on paper, and of their PNG.
const (
	figureWidth  = 17.5 * vg.Centimeter
	panelHeight  = 6.6 * vg.Centimeter
	figureMargin = 0.25 * vg.Centimeter
	panelGap     = 0.6 * vg.Centimeter
	dotsPerInch  = 200
)

// The formats of figures.
const (
	PNG = "png"
	SVG = "svg"
)

// Formats returns the formats that Figure.Write knows.
func Formats() []string { return []string{PNG, SVG} }

// Figure is a drawing: panels in rows under a title, with a legend below.
type Figure struct {
	Name  string // of its file, without extension
	Title string
	Note  string // what it is a mean of, what its colors mean

	panels      [][]*plot.Plot // as many in each row, nil at the end of the last
	panelHeight vg.Length      // 0 for the usual one
	legend      legend
}

// All draws everything that the experiment's finished runs give, those that the
// experiment does not plan left out. A run whose metrics cannot be read is part of the
// error; what could be drawn is there.
func All(runs []store.Run, experiment config.Config) ([]Figure, error) {
	s := summary.Select(runs, experiment)
	var figures []Figure
	var failures []error
	add := func(name string, f Figure) {
		if f.panels != nil {
			f.Name = name
			figures = append(figures, f)
		}
	}
	for variant, task := range s.NamedTasks() {
		place, title := variant+"-"+task, s.Title(variant+", "+task)
		curves, err := readCurves(s, variant, task)
		failures = append(failures, err)
		add("curves-"+place, accuracyAndWeightDistance(title, unitOf(experiment), curves))
		add("confusion-"+place, heatMaps(s, variant, task))
	}
	for _, task := range experiment.Tasks {
		add("gain-"+task, gain(s, task))
		add("performance-"+task, performance(s, task))
	}
	return figures, errors.Join(failures...)
}

// Write draws the figure in a format. The same figure gives the same bytes.
func (f Figure) Write(w io.Writer, format string) error {
	rows := vg.Length(len(f.panels))
	height := headingHeight + rows*cmp.Or(f.panelHeight, panelHeight) + (rows-1)*panelGap + f.legend.height() + 2*figureMargin
	canvas, err := newCanvas(format, figureWidth, height)
	if err != nil {
		return err
	}
	c := draw.New(canvas)
	c.FillPolygon(color.White, corners(c.Rectangle)) // for paper; a page in dark mode inverts it
	c = draw.Crop(c, figureMargin, -figureMargin, figureMargin, -figureMargin)
	drawHeading(c, f.Title, f.Note)
	f.legend.draw(c)
	middle := draw.Crop(c, 0, 0, f.legend.height(), -headingHeight)
	tiles := draw.Tiles{Rows: len(f.panels), Cols: len(f.panels[0]), PadX: panelGap, PadY: panelGap}
	for i, row := range plot.Align(f.panels, tiles, middle) {
		for j, area := range row {
			if f.panels[i][j] != nil {
				f.panels[i][j].Draw(area)
			}
		}
	}
	_, err = canvas.WriteTo(w)
	return err
}

func newCanvas(format string, width, height vg.Length) (vg.CanvasWriterTo, error) {
	switch format {
	case PNG:
		return vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dotsPerInch))}, nil
	case SVG:
		return svgCanvas{vgsvg.New(width, height)}, nil
	}
	return nil, fmt.Errorf("unknown format %q of a figure: choose from %s", format, strings.Join(Formats(), ", "))
}

func corners(r vg.Rectangle) []vg.Point {
	return []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}}
}

// svgCanvas names other fonts without serifs for whoever lacks the one that an SVG only names. Those named
// first have letters of the same widths.
type svgCanvas struct{ *vgsvg.Canvas }

// WriteTo implements io.WriterTo.
func (c svgCanvas) WriteTo(w io.Writer) (int64, error) {
	var svg bytes.Buffer
	if _, err := c.Canvas.WriteTo(&svg); err != nil {
		return 0, err
	}
	n, err := w.Write(bytes.ReplaceAll(svg.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;")))
	return int64(n), err
}

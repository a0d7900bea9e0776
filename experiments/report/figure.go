package report

import (
	"errors"
	"fmt"
	"image/color"
	"io"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"iwda/experiments/config"
	"iwda/experiments/store"
	"iwda/internal/wholefile"
)

// ErrNoData is returned for a figure without a single point.
var ErrNoData = errors.New("nothing to draw")

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
	panelHeight vg.Length
	legend      legend
}

// Figures draws everything that the experiment's finished runs give, those that the
// experiment does not plan left out: for each variant without class fractions and
// each task accuracy and weight distance by epoch, class weights and predictions by
// class; and for variants with class fractions gain and performance against
// divergence. A run whose metrics cannot be read is part of the error; what could be
// drawn is there.
func Figures(runs []store.Run, experiment config.Config) ([]Figure, error) {
	results := make([]store.Result, len(runs))
	for i, run := range runs {
		results[i] = run.Result
	}
	s := selectResults(results, experiment)
	var figures []Figure
	var failures []error
	for _, variant := range namedVariants(experiment) {
		for _, task := range experiment.Tasks {
			curves, err := readCurves(runs, experiment, variant, task)
			failures = append(failures, err)
			drawn, err := s.figuresOf(variant, task, curves)
			failures = append(failures, err)
			figures = append(figures, drawn...)
		}
	}
	for _, task := range experiment.Tasks {
		drawn, err := s.divergenceFigures(task)
		failures = append(failures, err)
		figures = append(figures, drawn...)
	}
	return figures, errors.Join(failures...)
}

// figuresOf draws what there is of one variant and task.
func (s selection) figuresOf(variant, task string, curves []Curve) ([]Figure, error) {
	place := fmt.Sprintf("%s-%s", variant, task)
	title := s.title(variant + ", " + task)
	var drawn []Figure
	var failures []error
	keep := func(name string, f Figure, err error) {
		if errors.Is(err, ErrNoData) {
			return
		}
		f.Name = name + "-" + place
		failures = append(failures, err)
		if err == nil {
			drawn = append(drawn, f)
		}
	}
	f, err := AccuracyAndWeightDistance(title, unitOf(s.experiment), curves)
	keep("curves", f, err)
	f, err = s.classWeights(title, variant, task)
	keep("weights", f, err)
	f, err = s.heatMaps(title, variant, task)
	keep("confusion", f, err)
	return drawn, errors.Join(failures...)
}

// WriteFigures writes each figure in each format, PNG or SVG, into the folder, which
// must be there, and returns the paths.
func WriteFigures(figures []Figure, folder string, formats ...string) (paths []string, err error) {
	for _, f := range figures {
		for _, format := range formats {
			path := filepath.Join(folder, f.Name+"."+format)
			if err := wholefile.Write(path, func(w io.Writer) error { return f.Write(w, format) }); err != nil {
				return paths, err
			}
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// Write draws the figure in a format. The same figure gives the same bytes.
func (f Figure) Write(w io.Writer, format string) error {
	rows := vg.Length(len(f.panels))
	heading := newHeading(f.Title, f.Note)
	height := heading.height() + rows*f.panelHeight + (rows-1)*panelGap + f.legend.height() + 2*figureMargin
	canvas, err := newCanvas(format, figureWidth, height)
	if err != nil {
		return err
	}
	c := draw.New(canvas)
	c.FillPolygon(color.White, corners(c.Rectangle))
	c = draw.Crop(c, figureMargin, -figureMargin, figureMargin, -figureMargin)
	heading.draw(c)
	f.legend.draw(c)
	middle := draw.Crop(c, 0, 0, f.legend.height(), -heading.height())
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
		return &svgCanvas{Canvas: vgsvg.New(width, height)}, nil
	}
	return nil, fmt.Errorf("unknown format %q of a figure: choose from %s", format, strings.Join(Formats(), ", "))
}

func corners(r vg.Rectangle) []vg.Point {
	return []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}}
}

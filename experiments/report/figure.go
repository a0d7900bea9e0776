package report

import (
	"bytes"
	"errors"
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"iwda/experiments/config"
	"iwda/experiments/store"
)

// Measures of figures on paper.
const (
	figureWidth  = 17.5 * vg.Centimeter
	panelHeight  = 6.6 * vg.Centimeter
	figureMargin = 0.25 * vg.Centimeter
	panelGap     = 0.6 * vg.Centimeter
)

// Figure is a drawing: panels in rows under a title, with a legend below.
type Figure struct {
	Name  string // of its file, without extension
	Title string
	Note  string // what it is a mean of

	panels []*plot.Plot // side by side
	legend plot.Legend
}

// Figures draws everything that the experiment's finished runs give, those that the
// experiment does not plan left out. A run whose metrics cannot be read is part of the
// error; what could be drawn is there.
func Figures(runs []store.Run, experiment config.Config) ([]Figure, error) {
	s := Select(runs, experiment)
	var figures []Figure
	var failures []error
	add := func(name string, f Figure) {
		if f.panels != nil {
			f.Name = name
			figures = append(figures, f)
		}
	}
	for variant, task := range s.NamedTasks() {
		curves, err := readCurves(s, variant, task)
		failures = append(failures, err)
		add("curves-"+variant+"-"+task, accuracyAndWeightDistance(s.Title(variant+", "+task), unitOf(experiment), curves))
	}
	for _, task := range experiment.Tasks {
		add("gain-"+task, gain(s, task))
		add("performance-"+task, performance(s, task))
	}
	return figures, errors.Join(failures...)
}

// Write draws the figure as SVG. The same figure gives the same bytes.
func (f Figure) Write(w io.Writer) error {
	legendHeight := f.legend.Rectangle(draw.Canvas{}).Size().Y + panelGap
	canvas := vgsvg.New(figureWidth, headingHeight+panelHeight+legendHeight+2*figureMargin)
	c := draw.New(canvas)
	r := c.Rectangle
	c.FillPolygon(color.White, []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}}) // for paper
	c = draw.Crop(c, figureMargin, -figureMargin, figureMargin, -figureMargin)
	drawHeading(c, f.Title, f.Note)
	f.legend.Draw(c)
	middle := draw.Crop(c, 0, 0, legendHeight, -headingHeight)
	areas := plot.Align([][]*plot.Plot{f.panels}, draw.Tiles{Rows: 1, Cols: len(f.panels), PadX: panelGap}, middle)
	for i, area := range areas[0] {
		f.panels[i].Draw(area)
	}
	// An SVG only names its font. For whoever lacks that one, it names others without serifs, those first
	// whose letters have the same widths.
	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		return err
	}
	_, err := w.Write(bytes.ReplaceAll(svg.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;")))
	return err
}

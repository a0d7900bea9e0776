package report

import (
	"bytes"
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"iwda/experiments/store"
)

// ErrNoData is returned for a figure without a single point.
var ErrNoData = errors.New("nothing to draw")

// Measures of AccuracyAndWeightDistance on paper, and of its PNG.
const (
	figureWidth  = 17.5 * vg.Centimeter
	panelHeight  = 6.6 * vg.Centimeter
	titleHeight  = 0.8 * vg.Centimeter
	figureMargin = 0.25 * vg.Centimeter
	panelGap     = 0.6 * vg.Centimeter
	dotsPerInch  = 200
)

// mostMarks is the number of glyphs on a line above which some are left out.
const mostMarks = 14

// AccuracyAndWeightDistance draws the target's test accuracy and the Euclidean
// distance of the class weights to the true ones by epoch, a line a method: the
// mean over seeds, in a band from the lowest to the highest seed. The accuracy of
// the untrained network, at epoch 0, is left out. Each path ends in .png or .svg;
// the same curves give the same bytes. The error wraps ErrNoData if no curve has
// an accuracy.
func AccuracyAndWeightDistance(title string, curves []Curve, paths ...string) error {
	accuracy := newPanel("epoch", "accuracy on the target's test set (%)")
	distance := newPanel("epoch", "Euclidean distance to the true weights")
	curves = slices.DeleteFunc(slices.Clone(curves), func(c Curve) bool { return len(course(c, trainedAccuracy)) == 0 })
	if len(curves) == 0 {
		return fmt.Errorf("figure %q: %w", title, ErrNoData)
	}
	addCourses(accuracy, curves, trainedAccuracy, 0, 100)
	addCourses(distance, curves, func(m store.Metrics) float64 { return m.WeightDistance }, 0, math.Inf(1))
	last := math.Max(math.Max(accuracy.X.Max, distance.X.Max), 1)
	for _, panel := range []*plot.Plot{accuracy, distance} {
		setAxis(&panel.X, 0, last, 8, 1, 0, last)
	}

	legend := newLegend(curves)
	height := titleHeight + panelHeight + legend.height() + 2*figureMargin
	for _, path := range paths {
		canvas, err := newCanvas(filepath.Ext(path), figureWidth, height)
		if err != nil {
			return fmt.Errorf("figure %s: %w", path, err)
		}
		c := draw.New(canvas)
		c.FillPolygon(color.White, corners(c.Rectangle))
		c = draw.Crop(c, figureMargin, -figureMargin, figureMargin, -figureMargin)
		writeTitle(c, title, seedsNote(curves))
		legend.draw(c)
		middle := draw.Crop(c, 0, 0, legend.height(), -titleHeight)
		tiles := draw.Tiles{Rows: 1, Cols: 2, PadX: panelGap}
		panels := [][]*plot.Plot{{accuracy, distance}}
		for i, area := range plot.Align(panels, tiles, middle)[0] {
			panels[0][i].Draw(area)
		}
		err = store.WriteFile(path, func(w io.Writer) error {
			_, err := canvas.WriteTo(w)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// trainedAccuracy is the accuracy in percent, and NaN before the first epoch.
func trainedAccuracy(m store.Metrics) float64 {
	if m.Epoch == 0 {
		return math.NaN()
	}
	return 100 * m.Accuracy
}

// addCourses adds to the panel, for each curve, the band, the line and its marks,
// and lets the y axis reach over what is drawn.
func addCourses(p *plot.Plot, curves []Curve, quantity func(store.Metrics) float64, floor, ceiling float64) {
	lowest, highest := math.Inf(1), math.Inf(-1)
	var bands, lines []plot.Plotter
	for rank, curve := range curves {
		moments := course(curve, quantity)
		if len(moments) == 0 {
			continue
		}
		style := styleOf(curve.Method)
		means, outline := make(plotter.XYs, len(moments)), make(plotter.XYs, 2*len(moments))
		for i, m := range moments {
			means[i] = plotter.XY{X: m.epoch, Y: m.mean}
			outline[i] = plotter.XY{X: m.epoch, Y: m.low}
			outline[len(outline)-1-i] = plotter.XY{X: m.epoch, Y: m.high}
			lowest, highest = math.Min(lowest, m.low), math.Max(highest, m.high)
		}
		if len(curve.Seeds) > 1 {
			bands = append(bands, &plotter.Polygon{XYs: []plotter.XYs{outline}, Color: style.band()})
		}
		lines = append(lines,
			&plotter.Line{XYs: means, LineStyle: style.line()},
			&plotter.Scatter{XYs: marked(means, rank), GlyphStyle: style.mark()})
	}
	p.Add(bands...)
	p.Add(lines...)
	setAxis(&p.Y, lowest, highest, 6, 0, floor, ceiling)
}

// marked returns the points that get a glyph: all of a short line, some of a long
// one, elsewhere for each rank, so that the glyphs of close lines do not coincide.
func marked(line plotter.XYs, rank int) plotter.XYs {
	stride := (len(line) + mostMarks - 1) / mostMarks
	var points plotter.XYs
	for i, point := range line {
		if i%stride == rank%stride {
			points = append(points, point)
		}
	}
	return points
}

// newCanvas returns a canvas for the format that the extension names.
func newCanvas(extension string, width, height vg.Length) (vg.CanvasWriterTo, error) {
	switch strings.ToLower(extension) {
	case ".png":
		return vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dotsPerInch))}, nil
	case ".svg":
		return svgCanvas{vgsvg.New(width, height)}, nil
	}
	return nil, fmt.Errorf("no format has the extension %q: use .png or .svg", extension)
}

// svgCanvas names fonts to fall back on. A font is named in an SVG, not embedded:
// whoever lacks it would get one with serifs.
type svgCanvas struct {
	*vgsvg.Canvas
}

// WriteTo implements io.WriterTo.
func (c svgCanvas) WriteTo(w io.Writer) (int64, error) {
	var svg bytes.Buffer
	if _, err := c.Canvas.WriteTo(&svg); err != nil {
		return 0, err
	}
	n, err := w.Write(bytes.ReplaceAll(svg.Bytes(),
		[]byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;")))
	return int64(n), err
}

func corners(r vg.Rectangle) []vg.Point {
	return []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}}
}

// writeTitle puts the title at the upper left and the note at the upper right.
func writeTitle(c draw.Canvas, title, note string) {
	style := text.Style{Color: color.Black, Font: sans(11), XAlign: text.XLeft, Handler: plot.DefaultTextHandler}
	baseline := c.Max.Y - style.Font.Size
	c.FillText(style, vg.Point{X: c.Min.X, Y: baseline}, title)
	style.Font, style.Color, style.XAlign = sans(8), color.Gray{Y: 0x55}, text.XRight
	c.FillText(style, vg.Point{X: c.Max.X, Y: baseline}, note)
}

// seedsNote says what lines and bands are.
func seedsNote(curves []Curve) string {
	fewest, most := len(curves[0].Seeds), 0
	for _, c := range curves {
		fewest, most = min(fewest, len(c.Seeds)), max(most, len(c.Seeds))
	}
	switch {
	case most == 1:
		return "one seed"
	case fewest == most:
		return fmt.Sprintf("mean of %d seeds; band: lowest to highest", most)
	}
	return fmt.Sprintf("mean of %d to %d seeds; band: lowest to highest", fewest, most)
}

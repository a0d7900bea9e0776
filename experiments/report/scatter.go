package report

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"iwda/experiments/paper"
)

const divergenceLabel = "JSD of the label distributions (nat)"

// families returns the gains of a task by base, without the points whose divergence is unknown.
func families(s Selection, task string) [][]Gain {
	var families [][]Gain
	for _, g := range Gains(s) {
		g.Points = slices.DeleteFunc(g.Points, func(p GainPoint) bool { return math.IsNaN(p.JSD) })
		switch last := len(families) - 1; {
		case g.Task != task || len(g.Points) == 0:
		case last >= 0 && families[last][0].Base == g.Base:
			families[last] = append(families[last], g)
		default:
			families = append(families, []Gain{g})
		}
	}
	return families
}

// scatter draws a panel a family of a task. fill adds a family to its panel and to the legend.
func scatter(s Selection, task, what, note string, fill func(*plot.Plot, *plot.Legend, []Gain)) Figure {
	f := Figure{Title: s.Title(task + ", " + what), Note: "each point is a variation of the task; lines: " + note, legend: newLegend()}
	for _, family := range families(s, task) {
		panel := newPanel(divergenceLabel, "")
		fill(panel, &f.legend, family)
		f.panels = append(f.panels, panel)
	}
	return f
}

// gain draws gain against divergence: a panel a family, zero as a line, and the mean
// gain of each method as a line of its own.
func gain(s Selection, task string) Figure {
	return scatter(s, task, "gain", "means", func(panel *plot.Plot, legend *plot.Legend, family []Gain) {
		panel.Y.Label.Text = fmt.Sprintf("gain over %s (points of accuracy)", family[0].Base)
		var lines []plot.Plotter
		for _, g := range family {
			style := styleOf(s.Methods, g.Method)
			mean := g.Mean(Best)
			panel.Add(&plotter.Scatter{XYs: pointsOf(g, func(p GainPoint) float64 { return p.Gain(Best) }), GlyphStyle: style.mark()})
			lines = append(lines, horizontal(mean, style.line()))
			name := fmt.Sprintf("%s: mean %+.2f", g.Method, mean)
			if printed, ok := paper.Gains(s.Published(), task, g.Method); ok {
				name += fmt.Sprintf(" (paper %+.2f)", printed.Mean)
			}
			legend.Add(name, &plotter.Line{LineStyle: style.line()}, &plotter.Scatter{GlyphStyle: style.mark()})
		}
		panel.Add(lines...)
		panel.Add(horizontal(0, draw.LineStyle{Color: color.Gray{Y: 0x77}, Width: vg.Points(1.2)}))
		panel.Y.Min, panel.Y.Max = math.Min(panel.Y.Min, 0), math.Max(panel.Y.Max, 0)
	})
}

// performance draws accuracy against divergence with linear fits: a panel a family, the
// base in it too.
func performance(s Selection, task string) Figure {
	return scatter(s, task, "performance", "linear fits", func(panel *plot.Plot, legend *plot.Legend, family []Gain) {
		panel.Y.Label.Text = "accuracy on the target's test set (%)"
		add := func(method string, points plotter.XYs) {
			style := styleOf(s.Methods, method)
			panel.Add(&plotter.Scatter{XYs: points, GlyphStyle: style.mark()})
			thumbnails := []plot.Thumbnailer{&plotter.Scatter{GlyphStyle: style.mark()}}
			name := method
			if line, slope, ok := linearFit(points); ok {
				panel.Add(&plotter.Line{XYs: line, LineStyle: style.line()})
				thumbnails = append(thumbnails, &plotter.Line{LineStyle: style.line()})
				name = fmt.Sprintf("%s: %+.1f points per 0.1", method, slope/10)
			}
			legend.Add(name, thumbnails...)
		}
		add(family[0].Base, pointsOf(family[0], func(p GainPoint) float64 { return p.Base[Best] }))
		for _, g := range family {
			add(g.Method, pointsOf(g, func(p GainPoint) float64 { return p.Accuracy[Best] }))
		}
	})
}

// pointsOf are a quantity against divergence, a point a variation.
func pointsOf(g Gain, quantity func(GainPoint) float64) plotter.XYs {
	var points plotter.XYs
	for _, p := range g.Points {
		points = append(points, plotter.XY{X: p.JSD, Y: quantity(p)})
	}
	return points
}

// linearFit returns the least-squares line through the points, from the leftmost to
// the rightmost, and its slope; ok is false for points on a vertical line.
func linearFit(points plotter.XYs) (line plotter.XYs, slope float64, ok bool) {
	low, high, _, _ := plotter.XYRange(points)
	if !(high > low) {
		return nil, 0, false
	}
	var x, y []float64
	for _, p := range points {
		x, y = append(x, p.X), append(y, p.Y)
	}
	intercept, slope := stat.LinearRegression(x, y, nil, false)
	return plotter.XYs{{X: low, Y: intercept + slope*low}, {X: high, Y: intercept + slope*high}}, slope, true
}

// horizontal is a line at height y across the panel.
func horizontal(y float64, style draw.LineStyle) plot.Plotter {
	line := plotter.NewFunction(func(float64) float64 { return y })
	line.LineStyle, line.Samples = style, 2
	return line
}

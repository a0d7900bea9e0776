package figure

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"iwda/experiments/report/summary"
)

// criteriaRow is the height of a criterion's row, and reach the points of accuracy beyond which
// a choice is drawn at the edge.
const (
	criteriaRow = 0.62 * vg.Centimeter
	reach       = 20.
)

// strength is how much the label distributions of a task's domains differ.
type strength struct {
	name  string
	below float64 // of the Jensen-Shannon divergence, nats
	glyph draw.GlyphStyle
}

var strengths = []strength{
	{"JSD below 0.01 nat", 0.01, draw.GlyphStyle{Color: color.Gray{Y: 0x99}, Radius: vg.Points(2), Shape: draw.CircleGlyph{}}},
	{"0.01 to 0.1", 0.1, draw.GlyphStyle{Color: hues[2], Radius: vg.Points(2), Shape: draw.BoxGlyph{}}},
	{"0.1 and above, or not known", math.Inf(1), draw.GlyphStyle{Color: hues[3], Radius: vg.Points(2), Shape: draw.PyramidGlyph{}}},
}

// Criteria draws what criteria choose without labels of the target, a row a criterion: the run
// of each task, in points of accuracy below the best. The error wraps ErrNoData if no accuracy of
// what was chosen is known.
func Criteria(c summary.Criteria) (Figure, error) {
	of := map[string][]summary.Choice{}
	var names []string
	for _, choice := range c.Choices {
		if math.IsNaN(choice.Regret()) {
			continue
		}
		if !slices.Contains(names, choice.Criterion) {
			names = append(names, choice.Criterion)
		}
		of[choice.Criterion] = append(of[choice.Criterion], choice)
	}
	f := Figure{
		Name: "selection", Title: c.Experiment + ": choosing without labels of the target",
		Note:        fmt.Sprintf("bar: mean; beyond %.0f points: at the edge", reach),
		panelHeight: vg.Length(len(names)+2) * criteriaRow,
	}
	if len(names) == 0 {
		return Figure{}, fmt.Errorf("figure %q: %w", f.Title, ErrNoData)
	}
	f.panels = [][]*plot.Plot{{choices("run chosen: points above the best", names, of)}}
	for _, s := range strengths {
		f.legend.add(s.name, &plotter.Scatter{GlyphStyle: s.glyph})
	}
	return f, nil
}

// choices draws a row of points for each name, the first at the top, and their mean as a bar.
func choices(label string, names []string, of map[string][]summary.Choice) *plot.Plot {
	p := newPanel(label, "")
	var ticks plot.ConstantTicks
	shown := make([]plotter.XYs, len(strengths))
	var means []plot.Plotter
	lowest := 0.
	for i, name := range names {
		row := float64(len(names) - 1 - i)
		ticks = append(ticks, plot.Tick{Value: row, Label: name})
		mean := 0.
		for _, choice := range of[name] {
			mean -= choice.Regret() / float64(len(of[name]))
			x := math.Max(-choice.Regret(), -reach)
			s := slices.IndexFunc(strengths, func(s strength) bool {
				return !(choice.JSD >= s.below) && !math.IsNaN(choice.JSD) || math.IsInf(s.below, 1)
			})
			shown[s] = append(shown[s], plotter.XY{X: x, Y: row + 0.25*float64(1-s)})
			lowest = math.Min(lowest, x)
		}
		x := math.Max(mean, -reach)
		means = append(means, &plotter.Line{XYs: plotter.XYs{{X: x, Y: row - 0.4}, {X: x, Y: row + 0.4}}, LineStyle: draw.LineStyle{Color: color.Black, Width: vg.Points(1.8)}})
	}
	for s, points := range shown {
		p.Add(&plotter.Scatter{XYs: points, GlyphStyle: strengths[s].glyph})
	}
	p.Add(means...)
	p.Add(&plotter.Line{XYs: plotter.XYs{{X: 0, Y: -0.6}, {X: 0, Y: float64(len(names)) - 0.4}}, LineStyle: draw.LineStyle{Color: color.Gray{Y: 0x55}, Width: vg.Points(0.5)}})
	setAxis(&p.X, lowest, 0, 6, 0, -reach, 0)
	p.Y.Min, p.Y.Max = -0.6, float64(len(names))-0.4
	p.Y.Tick.Marker = ticks
	return p
}

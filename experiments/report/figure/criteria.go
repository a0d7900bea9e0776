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

// choicePoint is a choice: by how much it is better or worse, and where the label
// distributions differ by how much.
type choicePoint struct{ points, jsd float64 }

// Criteria draws what criteria choose without labels of the target, a row a criterion: to
// the left the epoch of each run, in points of accuracy above the last one, to the right
// the run of each task, in points below the best. The error wraps ErrNoData if nothing was
// chosen.
func Criteria(c summary.Criteria) (Figure, error) {
	epochs, runs := map[string][]choicePoint{}, map[string][]choicePoint{}
	var names []string
	for _, e := range c.Epochs {
		names = append(names, e.Criterion)
		for _, o := range e.Each {
			epochs[e.Criterion] = append(epochs[e.Criterion], choicePoint{o.Chosen - o.Last, o.JSD})
		}
	}
	for _, r := range c.Runs {
		if !slices.Contains(names, r.Criterion) {
			names = append(names, r.Criterion)
		}
		runs[r.Criterion] = append(runs[r.Criterion], choicePoint{-r.Regret(), r.JSD})
	}
	f := Figure{
		Name: "selection", Title: c.Experiment + ": choosing without labels of the target",
		Note:        fmt.Sprintf("bar: mean; beyond %.0f points: at the edge", reach),
		panelHeight: vg.Length(len(names)+2) * criteriaRow,
	}
	if len(names) == 0 {
		return Figure{}, fmt.Errorf("figure %q: %w", f.Title, ErrNoData)
	}
	f.panels = [][]*plot.Plot{{
		choices("epoch chosen: points above the last", names, epochs),
		choices("run chosen: points above the best", names, runs),
	}}
	for _, s := range strengths {
		f.legend.add(s.name, &plotter.Scatter{GlyphStyle: s.glyph})
	}
	return f, nil
}

// choices draws a row of points for each name, the first at the top, and their mean as a bar.
func choices(label string, names []string, of map[string][]choicePoint) *plot.Plot {
	p := newPanel(label, "")
	var ticks plot.ConstantTicks
	shown := make([]plotter.XYs, len(strengths))
	var means []plot.Plotter
	lowest, highest := 0., 0.
	for i, name := range names {
		row := float64(len(names) - 1 - i)
		ticks = append(ticks, plot.Tick{Value: row, Label: name})
		mean := 0.
		for _, point := range of[name] {
			mean += point.points / float64(len(of[name]))
			x := math.Max(-reach, math.Min(point.points, reach))
			s := slices.IndexFunc(strengths, func(s strength) bool {
				return !(point.jsd >= s.below) && !math.IsNaN(point.jsd) || math.IsInf(s.below, 1)
			})
			shown[s] = append(shown[s], plotter.XY{X: x, Y: row + 0.25*float64(1-s)})
			lowest, highest = math.Min(lowest, x), math.Max(highest, x)
		}
		if len(of[name]) > 0 {
			x := math.Max(-reach, math.Min(mean, reach))
			means = append(means, &plotter.Line{XYs: plotter.XYs{{X: x, Y: row - 0.4}, {X: x, Y: row + 0.4}}, LineStyle: draw.LineStyle{Color: color.Black, Width: vg.Points(1.8)}})
		}
	}
	for s, points := range shown {
		p.Add(&plotter.Scatter{XYs: points, GlyphStyle: strengths[s].glyph})
	}
	p.Add(means...)
	p.Add(&plotter.Line{XYs: plotter.XYs{{X: 0, Y: -0.6}, {X: 0, Y: float64(len(names)) - 0.4}}, LineStyle: draw.LineStyle{Color: color.Gray{Y: 0x55}, Width: vg.Points(0.5)}})
	setAxis(&p.X, lowest, highest, 6, 0, -reach, reach)
	p.Y.Min, p.Y.Max = -0.6, float64(len(names))-0.4
	p.Y.Tick.Marker = ticks
	return p
}

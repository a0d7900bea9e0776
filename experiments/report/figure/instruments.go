package figure

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"iwda/experiments/store"
)

// instrument is a quantity that shows how training goes.
type instrument struct {
	title string
	of    func(store.Metrics) float64
}

// instruments are those that announce training that diverges: each rises before a loss is
// not finite.
var instruments = [][]instrument{
	{
		{"domain loss", func(m store.Metrics) float64 { return m.DomainLoss }},
		{"root mean square of ‖z‖", func(m store.Metrics) float64 { return m.FeatureNorm.OrNaN() }},
	},
	{
		{"norm of the network's gradient", func(m store.Metrics) float64 { return m.NetworkGradient.OrNaN() }},
		{"largest class weight", func(m store.Metrics) float64 { return m.LargestWeight.OrNaN() }},
	},
}

// instrumentCurves draws the instruments by epoch or step, as [accuracyAndWeightDistance]
// does accuracies. The error wraps ErrNoData if no run recorded them; what cannot be read
// is left to [curves].
func instrumentCurves(r runs, variant, task string) (Figure, error) {
	curves, _ := r.readCurves(variant, task)
	unit := unitOf(r.Experiment)
	norm := instruments[0][1].of
	curves = slices.DeleteFunc(curves, func(c curve) bool { return len(course(c, unit, norm)) == 0 })
	title := r.Title(variant+", "+task) + ": training"
	if len(curves) == 0 {
		return Figure{}, fmt.Errorf("figure %q: %w", title, ErrNoData)
	}
	f := Figure{Title: title, Note: seedsNote(curves), panelHeight: panelHeight}
	for _, row := range instruments {
		var panels []*plot.Plot
		for _, i := range row {
			p := newPanel(string(unit), i.title)
			addCourses(p, curves, unit, i.of, 0, math.Inf(1))
			setAxis(&p.X, 0, math.Max(p.X.Max, 1), 8, 1, 0, math.Max(p.X.Max, 1))
			panels = append(panels, p)
		}
		f.panels = append(f.panels, panels)
	}
	for _, curve := range curves {
		style := styleOf(curve.method)
		f.legend.add(curve.method, &plotter.Line{LineStyle: style.line()}, &plotter.Scatter{GlyphStyle: style.mark()})
	}
	return f, nil
}

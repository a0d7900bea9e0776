package report

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"iwda/experiments/config"
	"iwda/experiments/store"
)

// unit is what the progress of a run is counted in: epochs, or steps where its length is given so.
type unit struct {
	name string
	of   func(store.Metrics) int // how far the run was at an evaluation
}

func unitOf(experiment config.Config) unit {
	if experiment.Train.Steps > 0 {
		return unit{"step", func(m store.Metrics) int { return m.Step }}
	}
	return unit{"epoch", func(m store.Metrics) int { return m.Epoch }}
}

// curve is the course of one method on one task.
type curve struct {
	method string
	style  style
	seeds  [][]store.Metrics // the evaluations of each seed
}

// readCurves reads the metrics of a task's runs, in the order of config.MethodNames.
func readCurves(s Selection, variant, task string) ([]curve, error) {
	var curves []curve
	var failures []error
	for _, method := range s.Methods {
		c := curve{method: method, style: styleOf(s.Methods, method)}
		for _, run := range s.Runs(variant, task, method) {
			metrics, err := run.Dir.ReadMetrics()
			if err != nil {
				failures = append(failures, err)
				continue
			}
			c.seeds = append(c.seeds, metrics)
		}
		if len(c.seeds) > 0 {
			curves = append(curves, c)
		}
	}
	return curves, errors.Join(failures...)
}

// moment is a quantity at a time over seeds.
type moment struct {
	at              float64
	mean, low, high float64
}

// course returns the quantity by epoch or step, over the seeds that have a finite
// value there.
func course(c curve, unit unit, quantity func(store.Metrics) float64) []moment {
	values := map[int][]float64{}
	for _, seed := range c.seeds {
		for _, m := range seed {
			if v := quantity(m); !math.IsNaN(v) && !math.IsInf(v, 0) {
				values[unit.of(m)] = append(values[unit.of(m)], v)
			}
		}
	}
	var moments []moment
	for _, at := range slices.Sorted(maps.Keys(values)) {
		v := values[at]
		moments = append(moments, moment{at: float64(at), mean: floats.Sum(v) / float64(len(v)), low: slices.Min(v), high: slices.Max(v)})
	}
	return moments
}

// accuracyAndWeightDistance draws the target's test accuracy and the Euclidean
// distance of the class weights to the true ones by epoch or step, a line a method: the
// mean over seeds, in a band from the lowest to the highest seed. The accuracy of
// the untrained network, at epoch 0, is left out, and so is a method without accuracies.
func accuracyAndWeightDistance(title string, unit unit, curves []curve) Figure {
	curves = slices.DeleteFunc(slices.Clone(curves), func(c curve) bool { return len(course(c, unit, trainedAccuracy)) == 0 })
	if len(curves) == 0 {
		return Figure{}
	}
	f := Figure{Title: title, Note: seedsNote(curves), legend: newLegend()}
	for _, q := range []struct {
		name string
		of   func(store.Metrics) float64
	}{
		{"accuracy on the target's test set (%)", trainedAccuracy},
		{"Euclidean distance to the true weights", func(m store.Metrics) float64 { return m.WeightDistance }},
	} {
		p := newPanel(unit.name, q.name)
		addCourses(p, curves, unit, q.of)
		f.panels = append(f.panels, p)
	}
	for _, curve := range curves {
		f.legend.Add(curve.method, &plotter.Line{LineStyle: curve.style.line()})
	}
	return f
}

// trainedAccuracy is the accuracy in percent, and NaN before the first epoch.
func trainedAccuracy(m store.Metrics) float64 {
	if m.Epoch == 0 {
		return math.NaN()
	}
	return 100 * m.Accuracy.OrNaN()
}

// addCourses adds the band and the line of each curve to the panel.
func addCourses(p *plot.Plot, curves []curve, unit unit, quantity func(store.Metrics) float64) {
	var bands, lines []plot.Plotter
	for _, curve := range curves {
		moments := course(curve, unit, quantity)
		if len(moments) == 0 {
			continue
		}
		means, outline := make(plotter.XYs, len(moments)), make(plotter.XYs, 2*len(moments))
		for j, m := range moments {
			means[j] = plotter.XY{X: m.at, Y: m.mean}
			outline[j] = plotter.XY{X: m.at, Y: m.low}
			outline[len(outline)-1-j] = plotter.XY{X: m.at, Y: m.high}
		}
		if len(curve.seeds) > 1 {
			bands = append(bands, &plotter.Polygon{XYs: []plotter.XYs{outline}, Color: curve.style.band()})
		}
		lines = append(lines, &plotter.Line{XYs: means, LineStyle: curve.style.line()})
		if len(means) == 1 { // no line
			lines = append(lines, &plotter.Scatter{XYs: means, GlyphStyle: curve.style.mark()})
		}
	}
	p.Add(bands...)
	p.Add(lines...)
}

// seedsNote says what lines and bands are.
func seedsNote(curves []curve) string {
	fewest, most := len(curves[0].seeds), 0
	for _, c := range curves {
		fewest, most = min(fewest, len(c.seeds)), max(most, len(c.seeds))
	}
	switch {
	case most == 1:
		return "one seed"
	case fewest == most:
		return fmt.Sprintf("mean of %d seeds; band: lowest to highest", most)
	}
	return fmt.Sprintf("mean of %d to %d seeds; band: lowest to highest", fewest, most)
}

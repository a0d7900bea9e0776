package report

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/floats"

	"iwda/experiments/config"
	"iwda/experiments/store"
)

// Curve is the course of one method on one task.
type Curve struct {
	Method string
	Seeds  [][]store.Metrics // the evaluations of each seed
}

// WriteCurves draws AccuracyAndWeightDistance for each variant and task of the
// experiment that has finished runs, as PNG and SVG in folder, which must be
// there, and returns the paths. A run whose metrics cannot be read is left out of
// its figure and part of the error; what could be drawn is drawn.
func WriteCurves(runs []store.Run, experiment config.Config, folder string) (paths []string, err error) {
	title := cmp.Or(experiment.Title, experiment.Experiment)
	var failures []error
	for _, variant := range experiment.Variants {
		for _, task := range experiment.Tasks {
			curves, err := readCurves(runs, experiment, variant, task)
			failures = append(failures, err)
			if len(curves) == 0 {
				continue
			}
			base := filepath.Join(folder, fmt.Sprintf("curves-%s-%s", variant, task))
			files := []string{base + ".png", base + ".svg"}
			if err := AccuracyAndWeightDistance(fmt.Sprintf("%s: %s, %s", title, variant, task), curves, files...); err != nil {
				failures = append(failures, err)
				continue
			}
			paths = append(paths, files...)
		}
	}
	return paths, errors.Join(failures...)
}

// readCurves reads the metrics of the planned runs of a task, in the order of
// config.MethodNames.
func readCurves(runs []store.Run, experiment config.Config, variant, task string) ([]Curve, error) {
	var curves []Curve
	var failures []error
	for _, method := range config.MethodNames() {
		if !slices.Contains(experiment.Methods, method) {
			continue
		}
		curve := Curve{Method: method}
		for _, run := range runs {
			r := run.Result
			if r.Variant != variant || r.Task != task || r.Method != method || !slices.Contains(experiment.Seeds, r.Seed) {
				continue
			}
			metrics, err := run.Dir.ReadMetrics()
			if err != nil {
				failures = append(failures, err)
				continue
			}
			curve.Seeds = append(curve.Seeds, metrics)
		}
		if len(curve.Seeds) > 0 {
			curves = append(curves, curve)
		}
	}
	return curves, errors.Join(failures...)
}

// moment is a quantity at an epoch over seeds.
type moment struct {
	epoch           float64
	mean, low, high float64
}

// course returns the quantity by epoch, over the seeds that have a finite value
// there.
func course(curve Curve, quantity func(store.Metrics) float64) []moment {
	values := map[int][]float64{}
	for _, seed := range curve.Seeds {
		for _, m := range seed {
			if v := quantity(m); !math.IsNaN(v) && !math.IsInf(v, 0) {
				values[m.Epoch] = append(values[m.Epoch], v)
			}
		}
	}
	var moments []moment
	for epoch, v := range values {
		moments = append(moments, moment{
			epoch: float64(epoch), mean: floats.Sum(v) / float64(len(v)), low: slices.Min(v), high: slices.Max(v),
		})
	}
	slices.SortFunc(moments, func(a, b moment) int { return cmp.Compare(a.epoch, b.epoch) })
	return moments
}

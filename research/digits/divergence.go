package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"iwda/research/runs"
)

// divergence prints what the figures of the hundred tasks claim, from the finished runs of digits-jsd:
// accuracy and gain over the base as lines in the divergence of the label distributions.
func divergence(results string) error {
	finished := runs.Finished(results, "digits-jsd")
	type task struct{ best, last map[string]float64 }
	tasks, of := map[string]task{}, map[string]float64{}
	for _, run := range finished {
		r := run.Result
		if _, is := tasks[r.Variant]; !is {
			tasks[r.Variant] = task{map[string]float64{}, map[string]float64{}}
		}
		tasks[r.Variant].best[r.Method] = 100 * r.BestAccuracy.OrNaN()
		tasks[r.Variant].last[r.Method] = 100 * r.LastAccuracy.OrNaN()
		of[r.Variant] = r.JSD.OrNaN()
	}
	fmt.Println("| tasks | epoch | what | tasks | mean | worst | lost | at 0 | change for 0.1 of divergence | correlation |")
	fmt.Println("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, thinned := range []string{"", "source", "target"} {
		for _, epoch := range []string{"best", "last"} {
			for _, q := range []struct{ method, base string }{
				{"dann", ""}, {"iwdan", ""}, {"iwdan-o", ""}, {"iwdan", "dann"}, {"iwdan-o", "dann"},
				{"cdan", ""}, {"iwcdan", ""}, {"iwcdan-o", ""}, {"iwcdan", "cdan"}, {"iwcdan-o", "cdan"},
			} {
				var x, y []float64
				lost := 0
				for variant, t := range tasks {
					accuracy := t.best
					if epoch == "last" {
						accuracy = t.last
					}
					a, is := accuracy[q.method]
					base, isBase := accuracy[q.base]
					if !strings.HasPrefix(variant, thinned) || !is || q.base != "" && !isBase {
						continue
					}
					x, y = append(x, of[variant]), append(y, a-base)
					if q.base != "" && math.Round(100*a) < math.Round(100*base) {
						lost++
					}
				}
				if len(x) < 3 {
					continue
				}
				name := q.method
				if q.base != "" {
					name += " less " + q.base
				}
				l := fit(x, y)
				fmt.Printf("| %s | %s | %s | %d | %.2f | %.2f | %d | %.1f ± %.1f | %+.1f ± %.1f | %+.2f |\n", cmp.Or(thinned, "all"), epoch, name, len(x),
					stat.Mean(y, nil), slices.Min(y), lost, l.at0, l.at0Error, l.slope/10, l.slopeError/10, stat.Correlation(x, y, nil))
			}
		}
	}
	return nil
}

// line is the line of least squares; the errors are half the lengths of 95% intervals by Student's t.
type line struct{ at0, at0Error, slope, slopeError float64 }

func fit(x, y []float64) (l line) {
	l.at0, l.slope = stat.LinearRegression(x, y, nil, false)
	n := float64(len(x))
	mean, squares, residual := stat.Mean(x, nil), 0., 0.
	for i := range x {
		squares += (x[i] - mean) * (x[i] - mean)
		r := y[i] - l.at0 - l.slope*x[i]
		residual += r * r
	}
	t := distuv.StudentsT{Sigma: 1, Nu: n - 2}.Quantile(0.975)
	l.slopeError = t * math.Sqrt(residual/(n-2)/squares)
	l.at0Error = l.slopeError * math.Sqrt(squares/n+mean*mean)
	return l
}

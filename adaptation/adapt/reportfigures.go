package adapt

import (
	"cmp"
	"fmt"
	"slices"

	"iwda/experiments/report/chart"
)

// binRow is a bin of confidence before and after calibration.
type binRow struct {
	Name          string
	Before, After chart.Bin
}

type cell struct {
	Rows  int
	Share float64 // of the true class
}

// confused are classes that are taken for others.
type confused struct {
	True, Predicted string
	cell
}

// show sets what the report shows of held-out rows, and of confidence in both domains.
func (h heldOutRows) show(v *reportView) {
	v.After = h.after != nil
	if !v.After {
		v.Unfitted = h.unfitted.Error()
	}
	for i, b := range h.before {
		row := binRow{Name: fmt.Sprintf("%d–%d", 100*i/len(h.before), 100*(i+1)/len(h.before)), Before: b}
		if v.After {
			row.After = h.after[i]
		}
		v.Bins = append(v.Bins, row)
	}
	v.Reliability = chart.Reliability("Reliability on held-out source rows", "Accuracy against confidence, before and after calibration; the table below has the numbers.", h.before, h.after)
	for class, counts := range h.confusion {
		all := 0
		for _, n := range counts {
			all += n
		}
		row := make([]cell, len(counts))
		for predicted, n := range counts {
			row[predicted] = cell{n, float64(n) / float64(max(1, all))}
			if predicted != class && n > 0 {
				v.Confused = append(v.Confused, confused{v.Outcome.Classes[class].Class, v.Outcome.Classes[predicted].Class, row[predicted]})
			}
		}
		v.Confusion = append(v.Confusion, row)
	}
	if len(h.confusion) > mostConfusion {
		v.Confusion = nil
	}
	slices.SortStableFunc(v.Confused, func(a, b confused) int { return cmp.Compare(b.Rows, a.Rows) })
	v.Confused = v.Confused[:min(mostConfused, len(v.Confused))]
	most := chart.Top(h.source, h.target)
	for _, d := range []struct {
		domain, title, caption string
		shares                 []float64
	}{
		{"source", "Held-out source rows", "The largest calibrated probability of each row, for each network alone.", h.source},
		{"target", "Target rows", "The same for target rows, corrected for class shares as the predictions are.", h.target},
	} {
		sure := fmt.Sprintf("%.0f%% of rows have a confidence of 90%% or more.", 100*above(d.shares, 0.9))
		v.Histograms = append(v.Histograms, panel{Title: d.title, Caption: d.caption + " " + sure, SVG: chart.Histogram(d.title, "Histogram: "+sure, d.domain, d.shares, most)})
	}
}

// above is the share of rows in bins from a confidence on.
func above(shares []float64, confidence float64) (sum float64) {
	for _, share := range shares[binOf(confidence, len(shares)):] {
		sum += share
	}
	return sum
}

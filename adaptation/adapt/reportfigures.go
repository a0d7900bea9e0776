package adapt

import (
	"cmp"
	"fmt"
	"slices"

	"iwda/experiments/report/chart"
	"iwda/internal/evenly"
	"iwda/internal/printable"
)

// pictureView is a projection in two panels.
type pictureView struct {
	Title  string
	Panels []panel
}

// views are the projections before and after, and why one of them is missing.
func (p picture) views(classes []ClassOutcome) (views []pictureView, missing string) {
	if p.before != nil {
		views = append(views, p.view("Before the network: columns, standardised as in the source", p.before, classes))
	} else {
		missing = "There is no picture of images before the network: they have no columns."
	}
	if p.after != nil {
		views = append(views, p.view(fmt.Sprintf("After the network: %s of %s", p.what, p.network), p.after, classes))
	} else {
		missing = "There is no second picture: the features of what predicts are the columns themselves."
	}
	return views, missing
}

// view draws a projection by domain, and by class.
func (p picture) view(title string, of *projection, classes []ClassOutcome) pictureView {
	cloud := chart.NewCloud(of.rows)
	n := len(p.labels)
	var axes [2]string
	for i, share := range of.explained {
		axes[i] = fmt.Sprintf("component %d (%.0f%% of the variance)", i+1, 100*share)
	}
	// Marks go to the classes that are predicted most often; the others share the last one.
	order := evenly.All(len(classes))
	if len(classes) > chart.Marks {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(classes[b].PredictedShare, classes[a].PredictedShare) })
	}
	markOf := make([]int, len(classes))
	for place, class := range order {
		markOf[class] = min(place, chart.Marks)
	}
	domains, marks, names := make([]int, len(of.rows)), make([]int, len(of.rows)), make([]chart.Name, min(len(classes), chart.Marks))
	for i := range of.rows {
		if i < n {
			marks[i] = -1
			if m := markOf[p.labels[i]]; m < chart.Marks {
				names[m].Rows = append(names[m].Rows, i)
			}
			continue
		}
		domains[i], marks[i] = 1, markOf[p.predicted[i-n]]
	}
	domain := func(mark int) string { return []string{"dots source", "dots target"}[mark] }
	var key []keyEntry
	for place, class := range order[:len(names)] {
		names[place].Text = classes[class].Class
		key = append(key, keyEntry{chart.MarkClass(place), classes[class].Class})
	}
	if len(classes) > len(names) {
		key = append(key, keyEntry{chart.MarkClass(chart.Marks), fmt.Sprintf("%d others", len(classes)-len(names))})
	}
	names = slices.DeleteFunc(names, func(n chart.Name) bool { return len(n.Rows) == 0 })
	m := len(of.rows) - n
	byDomain := panel{Title: title + ", by domain", Key: []keyEntry{{domain(0), fmt.Sprintf("source (%s)", printable.Count(n, "row"))}, {domain(1), fmt.Sprintf("target (%s)", printable.Count(m, "row"))}}}
	byDomain.Caption = "First two principal components of both domains together."
	if edge := cloud.Edge; edge > 0 {
		byDomain.Caption += fmt.Sprintf(" Rows beyond the axes, drawn at the edge: %d.", edge)
	}
	byDomain.SVG = cloud.Scatter(byDomain.Title, fmt.Sprintf("Scatter plot of %d source and %d target rows.", n, m), axes, domains, domain, nil)
	byClass := panel{Title: title + ", by predicted class", Key: key}
	byClass.Caption = "Target rows by predicted class. The name of each class stands at the median of its source rows."
	byClass.SVG = cloud.Scatter(byClass.Title, fmt.Sprintf("Scatter plot of %d target rows in %d classes.", m, len(classes)), axes, marks, chart.MarkClass, names)
	return pictureView{title, []panel{byDomain, byClass}}
}

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

package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"iwda/experiments/report/sheet"
)

// alexandariRow sets a method under a condition beside the published one.
type alexandariRow struct {
	condition
	method
	mse, gain beside
}

// beside are the quartiles of a metric, ours and the published ones if there are any.
type beside struct {
	ours, published quartiles
	isPublished     bool
}

// within reports whether our median lies within the published quartiles.
func (b beside) within() bool {
	return b.isPublished && b.published.low <= b.ours.median && b.ours.median <= b.published.high
}

// quartilesOf returns those between the two nearest values, as NumPy computes them.
func quartilesOf(values []float64) quartiles {
	sorted := slices.Sorted(slices.Values(values))
	at := func(p float64) float64 {
		position := p * float64(len(sorted)-1)
		low := int(position)
		high := min(low+1, len(sorted)-1)
		return sorted[low] + (position-float64(low))*(sorted[high]-sorted[low])
	}
	return quartiles{at(0.25), at(0.5), at(0.75)}
}

func (a *Alexandari) rows(measured scores) []alexandariRow {
	var rows []alexandariRow
	for _, c := range a.conditions() {
		for _, m := range a.methods() {
			row := alexandariRow{condition: c, method: m}
			var mse, gain []float64
			for _, s := range measured[c][m] {
				mse, gain = append(mse, s.WeightMSE), append(gain, s.AccuracyGain)
			}
			row.mse = besidePublished(mse, alexandariKey{c, m, weightMSE})
			row.gain = besidePublished(gain, alexandariKey{c, m, accuracyGain})
			rows = append(rows, row)
		}
	}
	return rows
}

func besidePublished(values []float64, key alexandariKey) beside {
	b := beside{ours: quartilesOf(values)}
	b.published, b.isPublished = alexandariNumbers()[key]
	return b
}

// alexandariColumns are those of the table. Weights' errors are shown in thousandths,
// accuracies in points.
var alexandariColumns = slices.Concat(
	[]sheet.Column[alexandariRow]{
		{Name: "shift", Value: func(r alexandariRow) sheet.Value { return sheet.Word(r.Shift.Kind) }},
		{Name: "parameter", Value: func(r alexandariRow) sheet.Value { return sheet.Number(r.Shift.Parameter) }},
		{Name: "rows", Head: "Rows", Key: true, Value: func(r alexandariRow) sheet.Value { return sheet.Count(r.Rows) }},
		{Name: "estimator", Head: "Estimator", Key: true, Value: func(r alexandariRow) sheet.Value { return sheet.Word(r.Estimator) }},
		{Name: "calibration", Head: "Calibration", Key: true, Value: func(r alexandariRow) sheet.Value { return sheet.Word(r.Calibration) }},
	},
	besideColumns(weightMSE, "Error of w ·10³", 1000, func(r alexandariRow) beside { return r.mse }),
	besideColumns(accuracyGain, "Δ accuracy", 100, func(r alexandariRow) beside { return r.gain }),
)

func besideColumns(name, head string, factor float64, of func(alexandariRow) beside) []sheet.Column[alexandariRow] {
	shown := sheet.Printf("%.2f", " (%.2f", "–%.2f)")
	columns := []sheet.Column[alexandariRow]{
		{Head: head + ", published", Format: shown, Value: func(r alexandariRow) sheet.Value {
			b := of(r)
			if !b.isPublished {
				return sheet.Value{}
			}
			return quartileValue(b.published, factor)
		}},
		{Head: "ours", Format: shown, Value: func(r alexandariRow) sheet.Value { return quartileValue(of(r).ours, factor) }},
		{Name: name + "_within", Head: "within", Value: func(r alexandariRow) sheet.Value { return withinValue(of(r)) }},
	}
	for _, part := range []struct {
		name  string
		value func(quartiles) float64
	}{
		{"q25", func(q quartiles) float64 { return q.low }},
		{"median", func(q quartiles) float64 { return q.median }},
		{"q75", func(q quartiles) float64 { return q.high }},
	} {
		columns = append(columns,
			sheet.Column[alexandariRow]{Name: name + "_published_" + part.name, Value: func(r alexandariRow) sheet.Value {
				b := of(r)
				if !b.isPublished {
					return sheet.Value{}
				}
				return sheet.Number(part.value(b.published))
			}},
			sheet.Column[alexandariRow]{Name: name + "_" + part.name, Value: func(r alexandariRow) sheet.Value { return sheet.Number(part.value(of(r).ours)) }})
	}
	return columns
}

func quartileValue(q quartiles, factor float64) sheet.Value {
	return sheet.Number(factor*q.median, factor*q.low, factor*q.high)
}

func withinValue(b beside) sheet.Value {
	switch {
	case !b.isPublished:
		return sheet.Value{}
	case b.within():
		return sheet.Word("yes")
	}
	return sheet.Word("no")
}

// sheet is the table, a section a shift.
func (a *Alexandari) sheet(measured scores, accuracies []float64) sheet.Sheet {
	rows := a.rows(measured)
	s := sheet.Sheet{
		Experiment: a.Experiment,
		Title:      "Label shift on MNIST: Alexandari, Kundaje and Shrikumar (2020) again",
		Legend: fmt.Sprintf("Median (quartiles) over %d draws: %d networks, %d draws each. Error of w: mean over the classes of the squared error of the weights, "+
			"in thousandths. Δ accuracy: corrected predictions less the classifier's own, in points. Within: our median lies within the published quartiles.",
			a.Networks*a.Draws, a.Networks, a.Draws),
		Records: sheet.NewRecords(alexandariColumns, rows),
	}
	for _, shift := range a.Shifts {
		of := slices.DeleteFunc(slices.Clone(rows), func(r alexandariRow) bool { return r.Shift != shift })
		s.Sections = append(s.Sections, sheet.NewSection(shift.String(), alexandariColumns, of))
	}
	s.Notes = append(s.Notes, fmt.Sprintf("The networks classify %.2f%% to %.2f%% of the test images right.", 100*slices.Min(accuracies), 100*slices.Max(accuracies)))
	s.Notes = append(s.Notes,
		withinNote("Error of w", rows, func(r alexandariRow) beside { return r.mse }),
		withinNote("Δ accuracy", rows, func(r alexandariRow) beside { return r.gain }))
	for _, c := range a.conditions() {
		of := slices.DeleteFunc(slices.Clone(rows), func(r alexandariRow) bool { return r.condition != c || !r.mse.isPublished })
		if len(of) > 1 {
			s.Notes = append(s.Notes, fmt.Sprintf("%v, %d rows: %s", c.Shift, c.Rows, orderNote(of)))
		}
	}
	return s
}

// withinNote counts the medians within the published quartiles and names the others.
func withinNote(metric string, rows []alexandariRow, of func(alexandariRow) beside) string {
	inside, all := 0, 0
	var outside []string
	for _, r := range rows {
		switch b := of(r); {
		case !b.isPublished:
			continue
		case b.within():
			inside++
		default:
			outside = append(outside, fmt.Sprintf("%v, %d rows, %s on %s", r.Shift, r.Rows, r.Estimator, r.Calibration))
		}
		all++
	}
	note := fmt.Sprintf("%s: %d of %d medians are within the published quartiles", metric, inside, all)
	if len(outside) > 0 {
		note += "; outside: " + strings.Join(outside, "; ")
	}
	return note + "."
}

// clearRatio is from where on the order of two published medians counts.
const clearRatio = 1.2

// orderNote compares the order of methods by the median error of their weights.
func orderNote(rows []alexandariRow) string {
	pairs := 0
	var swapped []string
	var ours, published []float64
	for i, a := range rows {
		ours, published = append(ours, math.Log(a.mse.ours.median)), append(published, math.Log(a.mse.published.median))
		for j, b := range rows[:i] {
			before, now := published[i]-published[j], ours[i]-ours[j]
			if math.Abs(before) < math.Log(clearRatio) {
				continue
			}
			pairs++
			if before*now < 0 {
				swapped = append(swapped, fmt.Sprintf("%s on %s and %s on %s (%.2f, ours %.2f)", b.Estimator, b.Calibration, a.Estimator, a.Calibration, math.Exp(-before), math.Exp(-now)))
			}
		}
	}
	note := fmt.Sprintf("%d of the %d pairs of methods whose published medians differ by a factor of %.1f or more stand in another order", len(swapped), pairs, clearRatio)
	if len(swapped) > 0 {
		note += ": " + strings.Join(swapped, ", ")
	}
	return note + fmt.Sprintf("; correlation of the logarithms of all medians %.3f.", stat.Correlation(ours, published, nil))
}

// liptonRow sets a way to weights under a condition beside the published one.
type liptonRow struct {
	condition
	way         string
	mse         []float64
	accuracy    []float64
	published   liptonEntry
	isPublished bool
}

// publishedName is the published way to weights of each of ours: what the authors
// computed is the released code's.
var publishedName = map[string]string{unweighted: unweighted, bbseHard: bbseHard, bbseSoft: bbseSoft, releasedHard: bbseHard, releasedSoft: bbseSoft}

func (l *Lipton) rows(measured liptonScores) []liptonRow {
	var rows []liptonRow
	for _, shift := range l.Shifts {
		for _, n := range l.Rows {
			c := condition{shift, n}
			for _, way := range weightings {
				row := liptonRow{condition: c, way: way}
				for _, s := range measured[c][way] {
					row.mse = append(row.mse, s.WeightMSE)
					if s.Accuracy != nil {
						row.accuracy = append(row.accuracy, *s.Accuracy)
					}
				}
				row.published, row.isPublished = liptonNumbers()[liptonKey{c, publishedName[way]}]
				rows = append(rows, row)
			}
		}
	}
	return rows
}

var liptonColumns = []sheet.Column[liptonRow]{
	{Name: "shift", Value: func(r liptonRow) sheet.Value { return sheet.Word(r.Shift.Kind) }},
	{Name: "parameter", Value: func(r liptonRow) sheet.Value { return sheet.Number(r.Shift.Parameter) }},
	{Name: "rows", Head: "Rows", Key: true, Value: func(r liptonRow) sheet.Value { return sheet.Count(r.Rows) }},
	{Name: "estimator", Head: "Weights", Key: true, Value: func(r liptonRow) sheet.Value { return sheet.Word(r.way) }},
	{Name: "weight_mse_published_mean", Head: "Error of w, published", Format: sheet.Printf("%.4g"), Value: func(r liptonRow) sheet.Value { return r.publishedValue(r.published.meanWeightMSE) }},
	{Name: "weight_mse_mean", Head: "ours", Format: sheet.Printf("%.4g", " ± %.2g"), Value: func(r liptonRow) sheet.Value { return meanValue(r.mse) }},
	{Name: "weight_mse_published_median", Head: "median, published", Format: sheet.Printf("%.4g"), Value: func(r liptonRow) sheet.Value { return r.publishedValue(r.published.medianWeightMSE) }},
	{Name: "weight_mse_median", Head: "ours", Format: sheet.Printf("%.4g", " (%.3g", "–%.3g)"), Value: func(r liptonRow) sheet.Value { return quartileValue(quartilesOf(r.mse), 1) }},
	{Name: "accuracy_published_mean", Head: "Accuracy, published", Format: sheet.Printf("%.2f"), Value: func(r liptonRow) sheet.Value {
		if len(r.accuracy) == 0 {
			return sheet.Value{}
		}
		return r.publishedValue(100 * r.published.meanAccuracy)
	}},
	{Name: "accuracy_mean", Head: "ours", Format: sheet.Printf("%.2f", " ± %.2f"), Value: func(r liptonRow) sheet.Value {
		var percent []float64
		for _, a := range r.accuracy {
			percent = append(percent, 100*a)
		}
		return meanValue(percent)
	}},
}

func (r liptonRow) publishedValue(value float64) sheet.Value {
	if !r.isPublished {
		return sheet.Value{}
	}
	return sheet.Number(value)
}

// meanValue is the mean and its standard error; none of no values.
func meanValue(values []float64) sheet.Value {
	if len(values) == 0 {
		return sheet.Value{}
	}
	mean, deviation := stat.MeanStdDev(values, nil)
	return sheet.Number(mean, deviation/math.Sqrt(float64(len(values))))
}

// sheet is the table, a section a shift.
func (l *Lipton) sheet(measured liptonScores) sheet.Sheet {
	rows := l.rows(measured)
	s := sheet.Sheet{
		Experiment: l.Experiment,
		Title:      "Label shift on MNIST: Lipton, Wang and Smola (2018) again",
		Legend: "Mean ± its standard error, and median (quartiles), over " + strconv.Itoa(l.Runs) + " runs. Error of w: mean over the classes of the squared error " +
			"of the weights, to those that the target was drawn by. Accuracy: of networks trained with the weights, on the target, in percent. released-hard, released-soft: " +
			"with the ridge of the authors' code, beside the same published numbers.",
		Records: sheet.NewRecords(liptonColumns, rows),
	}
	for _, shift := range l.Shifts {
		of := slices.DeleteFunc(slices.Clone(rows), func(r liptonRow) bool { return r.Shift != shift })
		s.Sections = append(s.Sections, sheet.NewSection(shift.String(), liptonColumns, of))
	}
	return s
}

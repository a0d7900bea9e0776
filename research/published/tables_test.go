package main

import (
	"strings"
	"testing"
)

// As numpy.quantile of the same values.
func TestQuartiles(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   quartiles
	}{
		{[]float64{4, 1, 3, 2}, quartiles{low: 1.75, median: 2.5, high: 3.25}},
		{[]float64{5, 1, 2, 3, 4}, quartiles{low: 2, median: 3, high: 4}},
		{[]float64{7}, quartiles{low: 7, median: 7, high: 7}},
	} {
		if got := quartilesOf(test.values); got != test.want {
			t.Errorf("%v: %v, want %v", test.values, got, test.want)
		}
	}
}

// rowOf is a row in which our median and the published quartiles are these.
func rowOf(estimator string, ours, low, median, high float64) alexandariRow {
	return alexandariRow{
		condition: condition{Shift{Kind: Dirichlet, Parameter: 0.1}, 2000},
		method:    method{estimator, "none"},
		mse:       beside{quartiles{median: ours}, quartiles{low: low, median: median, high: high}, true},
	}
}

func TestWithinNote(t *testing.T) {
	rows := []alexandariRow{
		rowOf("lower-end", 1, 1, 2, 3), rowOf("upper-end", 3, 1, 2, 3), rowOf("below", 0.9, 1, 2, 3), rowOf("above", 3.1, 1, 2, 3),
		{method: method{"unpublished", "none"}},
	}
	got := withinNote("Error", rows, func(r alexandariRow) beside { return r.mse })
	want := "Error: 2 of 4 medians are within the published quartiles; outside: Dirichlet, α = 0.1, 2000 rows, below on none; Dirichlet, α = 0.1, 2000 rows, above on none."
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// The published order is a, b, c, d; c and d are too close to count.
func TestOrderNote(t *testing.T) {
	for want, ours := range map[string][4]float64{
		"0 of the 5 pairs of methods whose published medians differ by a factor of 1.2 or more stand in another order; correlation": {1, 2, 4, 3},
		"2 of the 5 pairs of methods whose published medians differ by a factor of 1.2 or more stand in another order: " +
			"a on none and c on none (0.40, ours 2.00), b on none and c on none (0.50, ours 3.00); correlation": {2, 3, 1, 5},
	} {
		rows := []alexandariRow{rowOf("a", ours[0], 0, 20, 0), rowOf("b", ours[1], 0, 25, 0), rowOf("c", ours[2], 0, 50, 0), rowOf("d", ours[3], 0, 55, 0)}
		if got := orderNote(rows); !strings.HasPrefix(got, want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestPublishedBeside(t *testing.T) {
	a := &Alexandari{Rows: []int{2000}, Shifts: []Shift{{Kind: Dirichlet, Parameter: 0.1}}, Estimators: []Estimator{{"mlls", []string{"bcts"}}, {"cc", []string{"none"}}}}
	c := a.conditions()[0]
	rows := a.rows(scores{c: {{"mlls", "bcts"}: {{0.002, 0.05}, {0.001, 0.06}, {0.0006, 0.07}}, {"cc", "none"}: {{1, 0}}}})
	if got := rows[0].mse; got.published.median != 0.000849139 || got.ours.median != 0.001 || !got.within() {
		t.Errorf("error of w: %+v", got)
	}
	if got := rows[0].gain; got.published.median != 0.0575 || got.ours.median != 0.06 || !got.within() {
		t.Errorf("accuracy: %+v", got)
	}
	if rows[1].mse.isPublished || rows[1].mse.within() {
		t.Errorf("a method without published numbers: %+v", rows[1].mse)
	}
}

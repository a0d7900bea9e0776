package adapt

import (
	"fmt"
	"slices"
	"testing"

	"iwda/datasets"
)

// numbered is a set whose rows hold their numbers, in two classes by turns.
func numbered(t *testing.T, n, columns int, labelled bool) *datasets.Features {
	t.Helper()
	values, rows := make([]float32, n*columns), datasets.UnknownLabels(n)
	var classes []int
	for i := range n {
		values[i*columns] = float32(i)
		classes = append(classes, i%2)
	}
	if labelled {
		rows = datasets.KnownLabels(classes)
	}
	set, err := datasets.NewFeatures("rows", values, rows, []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// A sample has each of its rows once, with its label, the same ones every time, and all of few rows;
// of wide rows it has fewer.
func TestDrawSample(t *testing.T) {
	s, err := drawSample(numbered(t, 5000, 2, true), numbered(t, 50, 2, false))
	if err != nil {
		t.Fatal(err)
	}
	again, err := drawSample(numbered(t, 5000, 2, true), numbered(t, 50, 2, false))
	if err != nil {
		t.Fatal(err)
	}
	row, same, last := make([]float32, 2), make([]float32, 2), float32(-1)
	if s.source.Len() != mostSampled || s.target.Len() != 50 || len(s.rows) != 50 {
		t.Fatalf("%d and %d rows, numbers %v", s.source.Len(), s.target.Len(), s.rows)
	}
	for i := range s.source.Len() {
		s.source.CopyRow(row, i)
		again.source.CopyRow(same, i)
		class, known := s.source.Label(i)
		if row[0] <= last || !known || class != int(row[0])%2 || row[0] != same[0] {
			t.Fatalf("row %d is %v of class %d, %v; before it %v, again %v", i, row, class, known, last, same)
		}
		last = row[0]
	}
	wide, err := drawSample(numbered(t, 600, 5000, true), numbered(t, 600, 5000, false))
	if err != nil || wide.source.Len() != 400 || wide.target.Len() != 400 {
		t.Errorf("of 5,000 columns %d rows, %v", wide.source.Len(), err)
	}
}

// Of all predictions those of the sample's rows are kept.
func TestSampleTakes(t *testing.T) {
	var into picture
	take := sample{rows: []int{1, 2, 5}}.take([]string{"a", "b"}, &into)
	for i, class := range []string{"b", "a", "b", "a", "a", "b"} {
		take(fmt.Sprint(i), class, 0.5)
	}
	if !slices.Equal(into.predicted, []int{0, 1, 1}) {
		t.Errorf("classes %v", into.predicted)
	}
}

package adapt

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

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
	var classes []int
	take := sample{rows: []int{1, 2, 5}}.take([]string{"a", "b"}, &classes)
	for i, class := range []string{"b", "a", "b", "a", "a", "b"} {
		take(fmt.Sprint(i), class, 0.5)
	}
	if !slices.Equal(classes, []int{0, 1, 1}) {
		t.Errorf("classes %v", classes)
	}
}

// The projection is that onto the principal components that gonum finds by all of the covariance, but
// for their signs.
func TestPrincipal(t *testing.T) {
	const n, columns = 300, 40
	random := rand.New(rand.NewPCG(1, 2))
	x := mat.NewDense(n, columns, nil)
	for i := range n {
		for j := range columns {
			x.Set(i, j, 3+random.NormFloat64()*math.Pow(0.8, float64(j)))
		}
	}
	var all stat.PC
	if !all.PrincipalComponents(x, nil) {
		t.Fatal("no principal components")
	}
	var vectors, want mat.Dense
	all.VectorsTo(&vectors)
	variances := all.VarsTo(nil)
	centred := mat.DenseCopyOf(x)
	for j := range columns {
		mean := stat.Mean(mat.Col(nil, j, x), nil)
		for i := range n {
			centred.Set(i, j, x.At(i, j)-mean)
		}
	}
	want.Mul(centred, vectors.Slice(0, columns, 0, 2))
	got := principal(x)
	sum := 0.0
	for _, v := range variances {
		sum += v
	}
	for c := range 2 {
		if math.Abs(got.explained[c]-variances[c]/sum) > 1e-3 {
			t.Errorf("component %d explains %v, want %v", c, got.explained[c], variances[c]/sum)
		}
		sign := math.Copysign(1, want.At(0, c)*got.rows[0][c])
		for i, row := range got.rows {
			if math.Abs(sign*row[c]-want.At(i, c)) > 0.02 {
				t.Fatalf("row %d is at %v of component %d, want %v", i, row[c], c, want.At(i, c))
			}
		}
	}
}

// One column has one component, and rows that are all the same none.
func TestPrincipalOfLittle(t *testing.T) {
	got := principal(mat.NewDense(3, 1, []float64{1, 2, 6}))
	if math.Abs(got.explained[0]-1) > 1e-12 || got.explained[1] != 0 || math.Abs(math.Abs(got.rows[2][0])-3) > 1e-12 || got.rows[2][1] != 0 {
		t.Errorf("%+v", got)
	}
	if got := principal(mat.NewDense(2, 2, []float64{5, 5, 5, 5})); got.explained != [2]float64{} || got.rows[1] != [2]float64{} {
		t.Errorf("%+v", got)
	}
}

package normalise

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"iwda/datasets"
	"iwda/internal/must"
)

// drawn returns labelled rows of normal columns around the centres of their classes, the
// class of each drawn by the shares, then moved and stretched.
func drawn(t testing.TB, seed uint64, n int, centres [][]float64, shares, stretch, move []float64) *datasets.Features {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	var values []float32
	labels := make([]int, n)
	for i := range labels {
		for u := random.Float64(); u > shares[labels[i]]; labels[i]++ {
			u -= shares[labels[i]]
		}
		common := random.NormFloat64() // makes columns depend on each other
		for j, centre := range centres[labels[i]] {
			values = append(values, float32(stretch[j]*(centre+0.6*common+0.8*random.NormFloat64())+move[j]))
		}
	}
	names := make([]string, len(centres))
	for i := range names {
		names[i] = string(rune('a' + i))
	}
	return must.Have(datasets.NewFeatures("drawn", values, datasets.KnownLabels(labels), names))(t)
}

var (
	threeCentres = [][]float64{{2, 0, 0, 1}, {0, 2, 0, 1}, {0, 0, 2, -1}}
	unmoved      = []float64{0, 0, 0, 0}
	unstretched  = []float64{1, 1, 1, 1}
)

// Whatever moves or stretches the target's columns, and however frequent its classes are
// there, the map undoes the one and the shares are the other: a value of a class comes
// out as the source's do. The columns' own means would be off by up to 0.7.
func TestMatchUndoWhatMovesTheDomain(t *testing.T) {
	stretch, move := []float64{3, 0.5, 1, 2}, []float64{10, -4, 0, 1}
	before, after := []float64{0.7, 0.2, 0.1}, []float64{0.1, 0.2, 0.7}
	source := drawn(t, 1, 4000, threeCentres, before, unstretched, unmoved)
	for _, shares := range [][]float64{before, after} {
		for _, moved := range []bool{false, true} {
			by, how := unstretched, unmoved
			if moved {
				by, how = stretch, move
			}
			target := drawn(t, 2, 4000, threeCentres, shares, by, how)
			m := match(t, source, target)
			for class, want := range shares {
				if math.Abs(m.Shares[class]-want) > 0.03 {
					t.Errorf("moved %v: shares %.3f, want %v", moved, m.Shares, shares)
				}
			}
			for j := range 4 {
				for _, value := range []float64{-1, 0, 2} {
					x := [2][]float32{make([]float32, 4), make([]float32, 4)}
					x[0][j], x[1][j] = float32(value), float32(by[j]*value+how[j])
					m.Source.standardise(x[0])
					m.Target.standardise(x[1])
					if math.Abs(float64(x[0][j]-x[1][j])) > 0.12 {
						t.Errorf("moved %v, shares %v, column %d: %v is %.3f of the source and %.3f of the target", moved, shares, j, value, x[0][j], x[1][j])
					}
				}
			}
		}
	}
}

// A target of the source's very rows needs no map, its labels are not read, and columns
// that are constant in either domain come out finite.
func TestMatchOfTheSameRows(t *testing.T) {
	source := drawn(t, 3, 600, threeCentres, []float64{0.5, 0.3, 0.2}, []float64{1, 1, 1, 0}, unmoved)
	m := match(t, source, source)
	for j := range 4 {
		if math.Abs(float64(m.Source.Mean[j]-m.Target.Mean[j])) > 0.05 || math.Abs(float64(m.Source.Deviation[j]/m.Target.Deviation[j])-1) > 0.05 {
			t.Errorf("column %d: the source's %v and %v, the target's %v and %v", j, m.Source.Mean[j], m.Source.Deviation[j], m.Target.Mean[j], m.Target.Deviation[j])
		}
	}
	unlabelled := must.Have(datasets.NewFeatures("unlabelled", slices.Concat(rowsOf(t, source)...), datasets.UnknownLabels(source.Len()), source.ClassNames()))(t)
	again := match(t, source, unlabelled)
	if !slices.Equal(again.Target.Mean, m.Target.Mean) || !slices.Equal(again.Shares, m.Shares) {
		t.Errorf("without labels %v, with them %v", again, m)
	}
	varying := drawn(t, 4, 600, threeCentres, []float64{0.2, 0.3, 0.5}, unstretched, unmoved)
	for _, pair := range [][2]datasets.Set{{source, varying}, {varying, source}} {
		m := match(t, pair[0], pair[1])
		for j, deviation := range m.Target.Deviation {
			if !(deviation > 0) || math.IsInf(float64(deviation), 0) || math.IsNaN(float64(m.Target.Mean[j])) {
				t.Errorf("column %d: mean %v, deviation %v", j, m.Target.Mean[j], deviation)
			}
		}
	}
}

// Classes whose rows take turns, so that every second row is of one class, are all seen.
func TestMatchOfRowsThatTakeTurns(t *testing.T) {
	take := func(seed uint64) datasets.Set {
		drawn := drawn(t, seed, 20000, threeCentres[:2], []float64{0.5, 0.5}, unstretched, unmoved)
		var byClass [2][]int
		for i := range drawn.Len() {
			class, _ := drawn.Label(i)
			byClass[class] = append(byClass[class], i)
		}
		var turns []int
		for i := range 4000 {
			turns = append(turns, byClass[0][i], byClass[1][i])
		}
		return datasets.Subset(drawn, turns)
	}
	if m, err := NewMatch(take(1), take(2)); err != nil || math.Abs(m.Shares[0]-0.5) > 0.05 {
		t.Errorf("shares %v, %v", m.Shares, err)
	}
}

// Fewer rows than columns leave a covariance without an inverse but for the rows that
// stand for the same variance in every direction.
func TestMatchOfFewRows(t *testing.T) {
	set := vectorsOf(t, [][]float32{{1, 2, 3, 4, 5, 6}, {2, 3, 4, 5, 6, 8}, {-1, 0, 2, 2, 1, 0}}, []int{0, 0, 1}, "a", "b")
	m := match(t, set, set)
	if math.Abs(m.Shares[0]-2./3) > 0.05 {
		t.Errorf("shares %v, want those of two rows and one", m.Shares)
	}
	must.Refuse(NewMatch(vectorsOf(t, [][]float32{{1}, {2}}, []int{0, 0}, "a", "b"), set))(t, `class "b" has no row`)
}

func vectorsOf(t *testing.T, rows [][]float32, labels []int, names ...string) *datasets.Features {
	t.Helper()
	return must.Have(datasets.NewFeatures("made", slices.Concat(rows...), datasets.KnownLabels(labels), names))(t)
}

// Columns that say nothing in the target are left out, and the rest is matched as without
// them: the share of classes is found, and values stay finite.
func TestMatchLeaveOutDeadColumns(t *testing.T) {
	after := []float64{0.1, 0.2, 0.7}
	source := drawn(t, 1, 4000, threeCentres, []float64{0.7, 0.2, 0.1}, unstretched, unmoved)
	target := drawn(t, 2, 4000, threeCentres, after, []float64{3, 0, 1, 1}, []float64{10, 5, 0, 1})
	m := match(t, source, target)
	for class, share := range after {
		if math.Abs(m.Shares[class]-share) > 0.03 {
			t.Errorf("shares %v, want %v", m.Shares, after)
		}
	}
	for _, row := range append(rowsOf(t, standardised(source, m.Source)), rowsOf(t, standardised(target, m.Target))...) {
		for j, v := range row {
			if dead := j == 1; dead && math.Abs(float64(v)) > 1e-15 || !(math.Abs(float64(v)) < 20) {
				t.Fatalf("row %v", row)
			}
		}
	}
}

func match(t testing.TB, source, target datasets.Set) Match {
	t.Helper()
	return must.Have(NewMatch(source, target))(t)
}

package normalise

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"iwda/datasets"
)

// The density is that of a mixture of normal classes, row by row, times the map's determinant.
func TestLogDensity(t *testing.T) {
	set := drawn(t, 4, 300, threeCentres, []float64{0.5, 0.3, 0.2}, []float64{1, 2, 0.5, 1}, unmoved)
	classes, err := momentsByClass(set)
	if err != nil {
		t.Fatal(err)
	}
	discriminant, err := classes.discriminant(set)
	if err != nil {
		t.Fatal(err)
	}
	rows := Values(set)
	n, d := rows.Dims()
	shares := []float64{0.2, 0.3, 0.5}
	direct := func(mean, deviation []float64) (sum float64) {
		for i := range n {
			density := 0.0
			for class, share := range shares {
				away := mat.NewVecDense(d, nil)
				for j := range d {
					away.SetVec(j, rows.At(i, j)*deviation[j]+mean[j]-classes.means.At(class, j))
				}
				density += share * math.Exp(-mat.Inner(away, discriminant.precision, away)/2)
			}
			sum += math.Log(density) / float64(n)
		}
		for _, v := range deviation {
			sum += math.Log(v)
		}
		return sum
	}
	for name, of := range map[string]struct{ mean, deviation []float64 }{
		"as they are": {nil, nil},
		"mapped":      {[]float64{0.3, -0.2, 1, 0}, []float64{0.5, 1.5, 2, 0.1}},
	} {
		_, meanLogSum := discriminant.meanPosterior(rows, of.mean, of.deviation, shares)
		got := discriminant.logDensity(meanLogSum, secondMomentsOf(rows), of.mean, of.deviation)
		mean, deviation := of.mean, of.deviation
		if mean == nil {
			mean, deviation = unmoved, unstretched
		}
		if want := direct(mean, deviation); math.Abs(got-want) > 1e-9*math.Abs(want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// Where columns are at rest in most classes the map may shrink the target to one class: that
// costs many nats. Where it undoes what moved the columns, it gains some.
func TestGainOfTheMap(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 6))
	const inputs, units, rows = 12, 60, 1500
	centres, weights := make([]float64, 5*inputs), make([]float64, inputs*units)
	for i := range centres {
		centres[i] = 1.1 * random.NormFloat64()
	}
	for i := range weights {
		weights[i] = random.NormFloat64()
	}
	atRest := func(shares []float64) datasets.Set {
		values, labels := make([]float32, 0, rows*units), make([]int, rows)
		for i := range labels {
			for u := random.Float64(); u > shares[labels[i]]; labels[i]++ {
				u -= shares[labels[i]]
			}
			x := make([]float64, inputs)
			for j := range x {
				x[j] = centres[labels[i]*inputs+j] + random.NormFloat64()
			}
			for unit := range units {
				sum := -7.0 // nine of ten are below 0
				for j, v := range x {
					sum += v * weights[j*units+unit]
				}
				values = append(values, float32(max(sum, 0)))
			}
		}
		set, err := datasets.NewFeatures("units", values, datasets.KnownLabels(labels), []string{"a", "b", "c", "d", "e"})
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	m, err := NewMatch(atRest([]float64{0.2, 0.2, 0.2, 0.2, 0.2}), atRest([]float64{0.04, 0.08, 0.13, 0.25, 0.5}))
	if err != nil {
		t.Fatal(err)
	}
	if !(m.Gain < -2) {
		t.Errorf("units at rest: shares %.2f, gain %v", m.Shares, m.Gain)
	}
	before, after := []float64{0.7, 0.2, 0.1}, []float64{0.1, 0.2, 0.7}
	source := drawn(t, 1, 4000, threeCentres, before, unstretched, unmoved)
	for name, stretch := range map[string][]float64{"moved columns": {3, 0.5, 1, 2}, "a column that is left out": {3, 0.5, 1, 0}} {
		m, err := NewMatch(source, drawn(t, 2, 4000, threeCentres, after, stretch, []float64{10, -4, 0, 1}))
		if err != nil {
			t.Fatal(err)
		}
		if !(m.Gain > 0.1 && m.Gain < 5) {
			t.Errorf("%s: shares %.2f, gain %v", name, m.Shares, m.Gain)
		}
	}
}

package adapt

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/datasets"
	"iwda/datasets/normalise"
	"iwda/experiments/config"
)

// A probe comes close to the best there is, and to the same numbers again.
func TestProbeLearns(t *testing.T) {
	centres, shares := [][]float64{{3, 0, 0}, {0, 3, 0}, {0, 0, 3}}, []float64{0.5, 0.3, 0.2}
	learnt, fresh := rowsOf(t, 1, 1000, centres, shares, 1, 0), rowsOf(t, 2, 1000, centres, shares, 1, 0)
	right := func(p probe) (right int) {
		labels, logits := datasets.LabelsOf(fresh).Classes(), p.logits(normalise.Values(fresh))
		for i, label := range labels {
			if floats.MaxIdx(logits.RawRowView(i)) == label {
				right++
			}
		}
		return right
	}
	p := fitProbe(learnt, rand.New(rand.NewPCG(1, 1)))
	// Bayes' rule, by the densities that the rows are drawn from.
	best := fitProbe(learnt, rand.New(rand.NewPCG(1, 1)))
	for class, centre := range centres {
		best.weights.SetRow(class, centre)
	}
	copy(best.biases, []float64{-0.6931, -1.2040, -1.6094})
	if got, most := right(p), right(best); got < most-15 || most < 930 {
		t.Errorf("%d of 1000 rows right, where %d can be", got, most)
	}
	again := fitProbe(learnt, rand.New(rand.NewPCG(1, 1)))
	if !slices.Equal(again.weights.RawMatrix().Data, p.weights.RawMatrix().Data) || !slices.Equal(again.biases, p.biases) {
		t.Error("the same rows and seed gave other weights")
	}
	if few := fitProbe(rowsOf(t, 3, 5, centres, shares, 1, 0), rand.New(rand.NewPCG(1, 1))); floats.HasNaN(few.weights.RawMatrix().Data) {
		t.Errorf("five rows: %v", few.weights)
	}
}

// columnsLike draws rows of three classes, that differ in six columns by a deviation or so, and
// of 200 more columns that say nothing, as many times as large or small.
func columnsLike(t *testing.T, seed uint64, shares []float64, nothing float64, change func(column int, value float64) float64) *datasets.Features {
	t.Helper()
	const telling, others, n = 6, 200, 600
	random := rand.New(rand.NewPCG(seed, 6))
	var values []float32
	labels := make([]int, n)
	for i := range labels {
		labels[i] = classOf(random, shares)
		for j := range telling + others {
			value := random.NormFloat64()
			switch {
			case j >= telling:
				value *= nothing
			case j%3 == labels[i]:
				value += 1.2
			}
			values = append(values, float32(change(j, value)))
		}
	}
	set, err := datasets.NewFeatures("rows", values, datasets.KnownLabels(labels), []string{"a", "b", "c"})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// Columns keep their size where those that vary little say nothing, and not where those that
// vary much do, nor where sizes are units that somebody chose.
func TestScaleIsFound(t *testing.T) {
	even, uneven := []float64{0.5, 0.3, 0.2}, []float64{0.15, 0.25, 0.6}
	as := func(_ int, value float64) float64 { return value }
	units := func(j int, value float64) float64 { return value * []float64{1000, 1, 0.01}[j%3] }
	for name, c := range map[string]struct {
		source, target *datasets.Features
		shared         bool
	}{
		"noise of little variance":               {columnsLike(t, 10, even, 0.1, as), columnsLike(t, 11, even, 0.1, as), true},
		"noise of little variance, other shares": {columnsLike(t, 12, even, 0.1, as), columnsLike(t, 13, uneven, 0.1, as), true},
		"noise of much variance":                 {columnsLike(t, 10, even, 2, as), columnsLike(t, 11, uneven, 2, as), false},
		"units":                                  {columnsLike(t, 12, even, 0.1, units), columnsLike(t, 13, uneven, 0.1, units), false},
	} {
		got := normalised(c.source, c.target, lookAtColumns(c.source, c.target))
		if (got.Scale == config.SharedScale) != c.shared {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Of 1,000 rows of a frequent class and 12 and 4 of rare ones, 505 stay, ten and four.
func TestSpacedRows(t *testing.T) {
	labels := make([]int, 1016)
	for i := range 12 {
		labels[i*80] = 1
	}
	for i := range 4 {
		labels[i+1] = 2
	}
	rows := spacedRows(datasets.KnownLabels(labels), 3, 514)
	if got := datasets.KnownLabels(labels).Subset(rows).Counts(3); !slices.Equal(got, []int{505, 10, 4}) || !slices.IsSorted(rows) {
		t.Errorf("%v rows of the classes", got)
	}
	if all := spacedRows(datasets.KnownLabels(labels), 3, 5000); len(all) != len(labels) {
		t.Errorf("%d of %d rows, where all may stay", len(all), len(labels))
	}
}

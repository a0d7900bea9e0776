package weightest

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"iwda/internal/convert"
	"iwda/internal/must"
	"iwda/weightest/internal/weighttest"
)

// randomSample draws rows of a classifier that is right more often than not, with all
// k classes among the labels where n ≥ k.
func randomSample(t testing.TB, r *rand.Rand, k, n, m int) *Sample {
	t.Helper()
	var source, target []float64
	var labels []int
	row := func(label int) []float64 {
		p := weighttest.Distribution(r, k)
		for i := range p {
			p[i] *= 0.6
		}
		p[label] += 0.4
		return p
	}
	for i := range n {
		label := i % k
		source, labels = append(source, row(label)...), append(labels, label)
	}
	share := weighttest.Distribution(r, k)
	for range m {
		u, label := r.Float64(), 0
		for u -= share[label]; u > 0 && label < k-1; u -= share[label] {
			label++
		}
		target = append(target, row(label)...)
	}
	return sampleOf(t)(k, source, labels, target)
}

// countedProblem is the problem of counted sums, with the target's rows.
func countedProblem(s *Sample, sourceCounts, targetCounts []int) (Problem, error) {
	p, err := s.Counted(sourceCounts, targetCounts).Problem()
	p.Rows = &Rows{Probabilities: s.target, Counts: targetCounts}
	return p, err
}

func problem(t testing.TB, s *Sample) Problem {
	t.Helper()
	return must.Have(s.Problem())(t)
}

// Three source rows and four target rows, by hand. The tie of the second source row
// counts for class 0.
func TestProblemOfSampleByHand(t *testing.T) {
	p := problem(t, sampleOf(t)(2, convert.Slice[float64]([]float32{0.75, 0.25, 0.5, 0.5, 0.25, 0.75}), []int{0, 1, 1}, []float64{0, 1, 0.25, 0.75, 0.5, 0.5, 0.25, 0.75}))
	must.Do(t, p.Validate())
	third := 1.0 / 3
	for name, c := range map[string]struct{ got, want []float64 }{
		"C":        {p.Confusion.RawMatrix().Data, []float64{0.75 * third, 0.75 * third, 0.25 * third, 1.25 * third}},
		"hard C":   {p.Hard.Confusion.RawMatrix().Data, []float64{third, third, 0, third}},
		"mu":       {p.TargetPredictions, []float64{0.25, 0.75}},
		"hard mu":  {p.Hard.TargetPredictions, []float64{0.25, 0.75}},
		"D_S":      {p.SourceDistribution, []float64{third, 2 * third}},
		"the rows": {p.Rows.Probabilities, []float64{0, 1, 0.25, 0.75, 0.5, 0.5, 0.25, 0.75}},
	} {
		if d := weighttest.LargestDifference(c.got, c.want); !(d < 1e-15) {
			t.Errorf("%s is %v, want %v", name, c.got, c.want)
		}
	}
	if p.SourceRows != 3 || p.TargetRows != 4 {
		t.Errorf("%d and %d rows, want 3 and 4", p.SourceRows, p.TargetRows)
	}
}

// The sums of parts are those of the whole, and a row that counts c times is c rows.
func TestSumsMerge(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const k, n, m = 7, 211, 97
	s := randomSample(t, r, k, n, m)
	source, labels := s.Source()
	target := s.Target()
	sourceCounts, targetCounts := make([]int, n), make([]int, m)
	for i := range sourceCounts {
		sourceCounts[i] = r.IntN(4)
	}
	for i := range targetCounts {
		targetCounts[i] = r.IntN(4)
	}
	parts := []*Sums{NewSums(k), NewSums(k), NewSums(k)}
	for _, i := range r.Perm(n) {
		for range sourceCounts[i] {
			parts[r.IntN(3)].Add(source[i*k:(i+1)*k], labels[i:i+1], nil)
		}
	}
	for _, i := range r.Perm(m) {
		for range targetCounts[i] {
			parts[r.IntN(3)].Add(target[i*k:(i+1)*k], nil, nil)
		}
	}
	merged := NewSums(k)
	for _, part := range parts {
		must.Do(t, merged.Merge(part))
	}
	got, want := must.Have(merged.Problem())(t), must.Have(s.Counted(sourceCounts, targetCounts).Problem())(t)
	for name, pair := range map[string][2][]float64{
		"C": {got.Confusion.RawMatrix().Data, want.Confusion.RawMatrix().Data}, "mu": {got.TargetPredictions, want.TargetPredictions}, "D_S": {got.SourceDistribution, want.SourceDistribution},
		"hard C": {got.Hard.Confusion.RawMatrix().Data, want.Hard.Confusion.RawMatrix().Data}, "hard mu": {got.Hard.TargetPredictions, want.Hard.TargetPredictions},
	} {
		if d := weighttest.LargestDifference(pair[0], pair[1]); !(d < 1e-15) {
			t.Errorf("%s of the merged sums differs by %v", name, d)
		}
	}
	if got.SourceRows != want.SourceRows || got.TargetRows != want.TargetRows {
		t.Errorf("%d and %d rows, want %d and %d", got.SourceRows, got.TargetRows, want.SourceRows, want.TargetRows)
	}
	if err := merged.Merge(NewSums(k + 1)); err == nil {
		t.Error("sums of another number of classes: no error")
	}
}

func TestSumsEqualLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	const k, n, m = 5, 300, 200
	s := randomSample(t, r, k, n, m)
	source, labels := s.Source()
	var confusion [k][k]float64
	var mu [k]float64
	for i, label := range labels {
		for j := range k {
			confusion[j][label] += source[i*k+j] / n
		}
	}
	for i, p := range s.Target() {
		mu[i%k] += p / m
	}
	p := problem(t, s)
	for i := range k {
		for j := range k {
			if d := math.Abs(p.Confusion.At(i, j) - confusion[i][j]); d > 1e-15 {
				t.Errorf("C[%d][%d] differs by %v", i, j, d)
			}
		}
		if d := math.Abs(p.TargetPredictions[i] - mu[i]); d > 1e-14 {
			t.Errorf("mu[%d] differs by %v", i, d)
		}
	}
}

func TestInvalidRows(t *testing.T) {
	for name, test := range map[string]struct {
		row   []float64
		label int
		text  string
	}{
		"sum":      {[]float64{0.5, 0.4}, 0, "row 3 sum to 0.9"},
		"logits":   {[]float64{3, -2}, 0, "row 3 gives class 0 the probability 3"},
		"negative": {[]float64{1.0005, -0.0005}, 0, "row 3 gives class 1 the probability -0.0005"},
		"NaN":      {[]float64{math.NaN(), 1}, 0, "row 3 gives class 0 the probability NaN"},
		"label":    {[]float64{0.5, 0.5}, 2, "row 3 has label 2; there are 2 classes"},
		"no class": {[]float64{0.5, 0.5}, -1, "row 3 has label -1"},
	} {
		s, err := SampleOf(2, append([]float64{0.25, 0.75, 0.25, 0.75, 1, 0}, test.row...), []int{1, 1, 0, test.label}, nil)
		if s != nil || !errors.Is(err, ErrInvalidRow) || !strings.Contains(err.Error(), "source") || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: error %v, want one with %q", name, err, test.text)
		}
		if name == "label" || name == "no class" {
			continue
		}
		if _, err := SampleOf(2, nil, nil, test.row); !errors.Is(err, ErrInvalidRow) || !strings.Contains(err.Error(), "target row 0") {
			t.Errorf("%s: error %v of a target row", name, err)
		}
	}
}

func TestProblemOfNoRows(t *testing.T) {
	s := randomSample(t, rand.New(rand.NewPCG(1, 4)), 3, 6, 4)
	if _, err := s.Counted(make([]int, 6), nil).Problem(); !errors.Is(err, ErrNoStatistics) {
		t.Errorf("no source row counts: error %v", err)
	}
	if _, err := s.Counted(nil, make([]int, 4)).Problem(); !errors.Is(err, ErrNoStatistics) {
		t.Errorf("no target row counts: error %v", err)
	}
}

package calibration

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/golden"
	"iwda/internal/must"
	"iwda/weightest"
)

var goldenFile = struct {
	once sync.Once
	golden.File
}{}

// goldenProblem is one of the golden problems of label shift.
type goldenProblem struct {
	T    testing.TB
	Name string
}

// goldenNamed returns the problem of the name. The golden values are read once.
func goldenNamed(t testing.TB, name string) goldenProblem {
	t.Helper()
	goldenFile.once.Do(func() { goldenFile.File = golden.Open(t, "labelshift") })
	return goldenProblem{t, name}
}

// eachGolden runs a test on every golden problem.
func eachGolden(t *testing.T, test func(*testing.T, goldenProblem)) {
	goldenNamed(t, "")
	groups := goldenFile.Groups()
	if len(groups) != 9 {
		t.Fatalf("golden problems %v, want nine", groups)
	}
	for _, name := range groups {
		t.Run(name, func(t *testing.T) { test(t, goldenNamed(t, name)) })
	}
}

// Get returns golden values.
func (p goldenProblem) Get(key string) []float64 {
	p.T.Helper()
	return goldenFile.Get(p.T, p.Name+"/"+key).Data
}

// Classes returns k.
func (p goldenProblem) Classes() int { return len(p.Get("source_label_distribution")) }

// Labels returns those of the source rows.
func (p goldenProblem) Labels() []int {
	p.T.Helper()
	return goldenFile.Get(p.T, p.Name+"/labels").Ints()
}

// Near reports values that differ from the golden ones by more than the tolerance,
// relative to the largest where that exceeds 1.
func (p goldenProblem) Near(what string, got []float64, key string, tolerance float64) {
	p.T.Helper()
	want := p.Get(key)
	d := floats.Distance(got, want, math.Inf(1))
	if !(d <= tolerance*max(1, floats.Norm(want, math.Inf(1)))) {
		p.T.Errorf("%s differs from %s by %v: %v, want %v", what, key, d, got, want)
	}
}

// likelihood returns the mean over rows, row-major m×k, of log Σ_y w_y f_y, and the factors by
// which a step of EM would multiply shares, length k: 0 for a class without prior. Rows count
// that often; nil: once.
func likelihood(rows []float64, counts []int, w, prior []float64) (mean float64, factors []float64) {
	k, total := len(w), 0.0
	factors = make([]float64, k)
	for i := range len(rows) / k {
		row, count := rows[i*k:(i+1)*k], 1.0
		if counts != nil {
			count = float64(counts[i])
		}
		if count == 0 {
			continue
		}
		density := floats.Dot(row, w)
		mean += count * math.Log(density)
		total += count
		for j, f := range row {
			if prior[j] > 0 {
				factors[j] += count * f / prior[j] / density
			}
		}
	}
	floats.Scale(1/total, factors)
	return mean / total, factors
}

// softmax returns the probabilities of logits, both row-major n×k.
func softmax(logits []float64, k int) []float64 {
	p := slices.Clone(logits)
	for first := 0; first < len(p); first += k {
		row := p[first : first+k]
		largest := slices.Max(row)
		for j := range row {
			row[j] = math.Exp(row[j] - largest)
		}
		floats.Scale(1/floats.Sum(row), row)
	}
	return p
}

// shiftedLogits draws labels and the logits of an over-confident, biased classifier,
// which is right in about two thirds of the rows.
func shiftedLogits(r *rand.Rand, rows int, distribution []float64) (logits []float64, labels []int) {
	k := len(distribution)
	logits, labels = make([]float64, rows*k), make([]int, rows)
	signal := 0.5 + math.Sqrt(2*math.Log(float64(k)))
	for i := range labels {
		u := r.Float64()
		for u -= distribution[labels[i]]; u > 0 && labels[i] < k-1; u -= distribution[labels[i]] {
			labels[i]++
		}
		for j := range k {
			logits[i*k+j] = 2 * signal * (r.NormFloat64() + float64(j%5)/5)
		}
		logits[i*k+labels[i]] += 2 * signal * signal
	}
	return logits, labels
}

// sampleOf returns weightest.SampleOf without an error, to be called with a function's results.
func sampleOf(t testing.TB) func(k int, source []float64, labels []int, target []float64) *weightest.Sample {
	return func(k int, source []float64, labels []int, target []float64) *weightest.Sample {
		t.Helper()
		return must.Have(weightest.SampleOf(k, source, labels, target))(t)
	}
}

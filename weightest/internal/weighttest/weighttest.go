// Package weighttest is what the tests of the packages about class weights share: golden
// problems of label shift, and draws of distributions and rows.
package weighttest

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/golden"
)

var file = struct {
	once sync.Once
	golden.File
}{}

// Problem is one of the golden problems of label shift.
type Problem struct {
	T    testing.TB
	Name string
}

// Golden returns the problem of the name. The golden values are read once.
func Golden(t testing.TB, name string) Problem {
	t.Helper()
	file.once.Do(func() { file.File = golden.Open(t, "labelshift") })
	return Problem{t, name}
}

// EachGolden runs a test on every golden problem.
func EachGolden(t *testing.T, test func(*testing.T, Problem)) {
	Golden(t, "")
	groups := file.Groups()
	if len(groups) != 9 {
		t.Fatalf("golden problems %v, want nine", groups)
	}
	for _, name := range groups {
		t.Run(name, func(t *testing.T) { test(t, Golden(t, name)) })
	}
}

// Get returns golden values.
func (p Problem) Get(key string) []float64 {
	p.T.Helper()
	return file.Get(p.T, p.Name+"/"+key).Data
}

// Classes returns k.
func (p Problem) Classes() int { return len(p.Get("source_label_distribution")) }

// Labels returns those of the source rows.
func (p Problem) Labels() []int {
	p.T.Helper()
	return file.Get(p.T, p.Name+"/labels").Ints()
}

// Rows returns the problem's probabilities with the labels as the classifier gave them:
// classes, source rows, labels and target rows.
func (p Problem) Rows() (classes int, source []float64, labels []int, target []float64) {
	p.T.Helper()
	k := p.Classes()
	return k, Softmax(p.Get("logits"), k), p.Labels(), Softmax(p.Get("target_logits"), k)
}

// Near reports values that differ from the golden ones by more than the tolerance,
// relative to the largest where that exceeds 1.
func (p Problem) Near(what string, got []float64, key string, tolerance float64) {
	p.T.Helper()
	want := p.Get(key)
	d := LargestDifference(got, want)
	if !(d <= tolerance*max(1, floats.Norm(want, math.Inf(1)))) {
		p.T.Errorf("%s differs from %s by %v: %v, want %v", what, key, d, got, want)
	}
}

// Likelihood returns the mean over rows, row-major m×k, of log Σ_y w_y f_y, and the factors by
// which a step of EM would multiply shares, length k: 0 for a class without prior. Rows count
// that often; nil: once.
func Likelihood(rows []float64, counts []int, w, prior []float64) (mean float64, factors []float64) {
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

// LargestDifference returns the largest |a_i - b_i|, at least the difference of the lengths.
func LargestDifference(a, b []float64) float64 {
	largest := math.Abs(float64(len(a) - len(b)))
	for i := range min(len(a), len(b)) {
		if d := math.Abs(a[i] - b[i]); d > largest || math.IsNaN(d) {
			largest = d
		}
	}
	return largest
}

// CloseTo compares relatively.
func CloseTo(t testing.TB, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*math.Abs(want)) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// Softmax returns the probabilities of logits, both row-major n×k.
func Softmax(logits []float64, k int) []float64 {
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

// Distribution draws the shares of k classes.
func Distribution(r *rand.Rand, k int) []float64 {
	d := make([]float64, k)
	for i := range d {
		d[i] = r.ExpFloat64()
	}
	floats.Scale(1/floats.Sum(d), d)
	return d
}

// ShiftedLogits draws labels and the logits of an over-confident, biased classifier,
// which is right in about two thirds of the rows.
func ShiftedLogits(r *rand.Rand, rows int, distribution []float64) (logits []float64, labels []int) {
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

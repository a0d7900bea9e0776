package shifttest

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/gaussians"
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

// Rows returns the problem's probabilities with the labels as the classifier gave them:
// classes, source rows, labels and target rows.
func (p goldenProblem) Rows() (classes int, source []float64, labels []int, target []float64) {
	p.T.Helper()
	k := p.Classes()
	return k, softmax(p.Get("logits"), k), p.Labels(), softmax(p.Get("target_logits"), k)
}

// closeTo compares relatively.
func closeTo(t testing.TB, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*math.Abs(want)) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
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

// sampleOf returns weightest.SampleOf without an error, to be called with a function's results.
func sampleOf(t testing.TB) func(k int, source []float64, labels []int, target []float64) *weightest.Sample {
	return func(k int, source []float64, labels []int, target []float64) *weightest.Sample {
		t.Helper()
		return must.Have(weightest.SampleOf(k, source, labels, target))(t)
	}
}

// gaussianSample draws n source and m target rows.
func gaussianSample(t testing.TB, p gaussians.Problem, n, m int, seed uint64) *weightest.Sample {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	source, labels := p.SourceRows(n, random)
	return sampleOf(t)(len(p.Source), source, labels, p.TargetRows(m, random))
}

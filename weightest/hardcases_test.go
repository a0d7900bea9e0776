package weightest

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/must"
	"iwda/weightest/internal/weighttest"
)

// estimates returns what every estimator says of a problem, by name.
func estimates(t *testing.T, p Problem) map[string]Estimate {
	t.Helper()
	all := make(map[string]Estimate)
	for _, name := range EstimatorNames() {
		estimator := must.Have(NewEstimator(name))(t)
		got, err := estimator.Estimate(p)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		all[name] = got
	}
	return all
}

// Every estimator has an answer to rows that are degenerate in any way, of few rows as of
// many: weights and shares that are finite, not negative and fit each other.
func TestEveryEstimatorAnswers(t *testing.T) {
	for a, alteration := range rowAlterations {
		t.Run(alteration.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(18, uint64(a)))
			for _, size := range []struct{ k, n, m int }{{1, 3, 4}, {2, 50, 50}, {5, 50, 50}, {10, 50, 60}, {10, 2000, 1}} {
				p := problem(t, alteredSample(t, r, size.k, size.n, size.m, alteration.apply))
				for name, got := range estimates(t, p) {
					source := p.SourceDistribution
					if name == "mlls" {
						source = make([]float64, size.k)
						for i := range source {
							source[i] = floats.Sum(p.Confusion.RawRowView(i))
						}
					}
					checkEstimate(t, name, got, source)
					if name == "qp" {
						checkOptimal(t, p, got.Weights)
					}
				}
				checkMLLSOptimal(t, p.Rows.Probabilities, nil, p)
			}
		})
	}
}

func checkEstimate(t *testing.T, name string, got Estimate, source []float64) {
	t.Helper()
	if j := firstInvalid(got.Weights); j >= 0 || len(got.Weights) != len(source) {
		t.Fatalf("%s: weights %v", name, got.Weights)
	}
	if total := floats.Sum(got.TargetDistribution); math.Abs(total-1) > 1e-9 {
		t.Errorf("%s: shares sum to %v", name, total)
	}
	for j, q := range got.TargetDistribution {
		if d := math.Abs(q - got.Weights[j]*source[j]); !(d < 1e-9) {
			t.Errorf("%s: class %d has share %v, weight %v and source share %v", name, j, q, got.Weights[j], source[j])
		}
	}
}

// Target rows like those of the source give w = 1.
func TestNoShiftGivesOnes(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 1))
	for _, k := range []int{1, 2, 5, 20} {
		s := randomSample(t, r, k, 40*k, 0)
		rows, labels := s.Source()
		s = sampleOf(t)(k, rows, labels, rows)
		for name, got := range estimates(t, problem(t, s)) {
			for j, w := range got.Weights {
				if math.Abs(w-1) > 1e-8 {
					t.Errorf("%s, %d classes: class %d has weight %v", name, k, j, w)
				}
			}
		}
	}
}

// Many rows of a known shift give the true weights.
func TestEstimatorsFindTheShift(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 2))
	const k, rows = 3, 20000
	shares := []float64{0.7, 0.25, 0.05}
	var source, target []float64
	var labels []int
	draw := func(label int) []float64 {
		// A classifier that knows P(x|y): one of k features, of odds 6 to 1 to 1.
		feature := label
		if u := r.Float64(); u > 0.75 {
			feature = (label + 1 + r.IntN(2)) % k
		}
		p := []float64{0.125, 0.125, 0.125}
		p[feature] = 0.75
		return p
	}
	for i := range rows {
		label := i % k
		source, labels = append(source, draw(label)...), append(labels, label)
		u := r.Float64()
		switch {
		case u < shares[0]:
			label = 0
		case u < shares[0]+shares[1]:
			label = 1
		default:
			label = 2
		}
		target = append(target, draw(label)...)
	}
	for name, got := range estimates(t, problem(t, sampleOf(t)(k, source, labels, target))) {
		if d := weighttest.LargestDifference(got.TargetDistribution, shares); !(d < 0.02) {
			t.Errorf("%s: shares %v, want %v", name, got.TargetDistribution, shares)
		}
	}
}

// A class without held-out rows has no answer, and the error names it; MLLS has one, as
// the classifier knows the class, and says what it rests on.
func TestMissingClassIsNamed(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 3))
	full := randomSample(t, r, 4, 400, 300)
	rows, labels := full.Source()
	var kept []float64
	var keptLabels []int
	for i, label := range labels {
		if label != 2 {
			kept, keptLabels = append(kept, rows[i*4:(i+1)*4]...), append(keptLabels, label)
		}
	}
	p := problem(t, sampleOf(t)(4, kept, keptLabels, full.Target()))
	for _, name := range EstimatorNames() {
		if name == "qp" {
			continue
		}
		estimator := must.Have(NewEstimator(name))(t)
		got, err := estimator.Estimate(p)
		if name == "mlls" {
			if err != nil || !strings.Contains(got.Warning, "class 2") {
				t.Errorf("mlls: warning %q, error %v", got.Warning, err)
			}
			continue
		}
		if !errors.Is(err, ErrMissingClass) || !strings.Contains(err.Error(), "class 2") {
			t.Errorf("%s: error %v, want one that names class 2", name, err)
		}
	}
}

func TestHardNeedsHardPredictions(t *testing.T) {
	p := randomProblem(rand.New(rand.NewPCG(19, 4)), 3, 0.7, 0)
	if _, err := (Hard{BBSE{}}).Estimate(p); !errors.Is(err, ErrInvalidProblem) || !strings.Contains(err.Error(), "hard") {
		t.Errorf("error %v", err)
	}
}

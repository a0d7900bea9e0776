package weightest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/must"
	"iwda/weightest/internal/weighttest"
)

// sampleOf returns SampleOf without an error, to be called with a function's results.
func sampleOf(t testing.TB) func(k int, source []float64, labels []int, target []float64) *Sample {
	return func(k int, source []float64, labels []int, target []float64) *Sample {
		t.Helper()
		return must.Have(SampleOf(k, source, labels, target))(t)
	}
}

func TestSampleGolden(t *testing.T) {
	weighttest.EachGolden(t, func(t *testing.T, g weighttest.Problem) {
		p := problem(t, sampleOf(t)(g.Rows()))
		g.Near("C", p.Confusion.RawMatrix().Data, "confusion_soft", 1e-15)
		g.Near("hard C", p.Hard.Confusion.RawMatrix().Data, "confusion_hard", 1e-15)
		g.Near("mu", p.TargetPredictions, "target_mean_soft", 1e-15)
		g.Near("hard mu", p.Hard.TargetPredictions, "target_mean_hard", 1e-15)
		g.Near("D_S", p.SourceDistribution, "source_label_distribution", 1e-15)
	})
}

// warns tests whether a warning says that.
func warns(t *testing.T, warning, of string, want bool) {
	t.Helper()
	if strings.Contains(warning, of) != want {
		t.Errorf("warning %q; it names %q: want %v", warning, of, want)
	}
}

// kinds are the two kinds of predictions, with the problem of each.
func kinds(t *testing.T, p Problem) map[string]Problem {
	t.Helper()
	onHard := must.Have(p.OnHard())(t)
	return map[string]Problem{"hard": onHard, "soft": p}
}

func TestBBSEGolden(t *testing.T) {
	weighttest.EachGolden(t, func(t *testing.T, g weighttest.Problem) {
		full := problem(t, sampleOf(t)(g.Rows()))
		for kind, p := range kinds(t, full) {
			key := "none/bbse-" + kind + "/"
			if g.Name == "missing" {
				_, err := BBSE{}.Estimate(p)
				namesMissingClass(t, err)
				continue
			}
			got := must.Have(BBSE{}.Estimate(p))(t)
			singular := g.Get(key + "status")[0] == 1
			clipped := slices.Clone(got.Raw)
			for j, v := range clipped {
				clipped[j] = max(0, v)
			}
			unscaled := slices.Clone(got.Weights)
			floats.Scale(floats.Dot(clipped, p.SourceDistribution), unscaled)
			if singular {
				warns(t, got.Warning, fmt.Sprintf("C has rank %.0f of %d", g.Get(key + "rank")[0], p.Classes()), true)
				g.Near(kind+": the shortest weights, unscaled", unscaled, key+"weights_pinv", 1e-8)
			} else {
				g.Near(kind+": C⁻¹mu", got.Raw, key+"weights_raw", 1e-8)
				g.Near(kind+": weights, unscaled", unscaled, key+"weights", 1e-8)
				condition := g.Get(key + "condition")[0]
				warns(t, got.Warning, fmt.Sprintf("C has condition number %.3g", condition), condition > illConditioned)
				warns(t, got.Warning, "C has rank", false)
			}
			for j, v := range got.Raw {
				if v < 0 && got.Weights[j] != 0 {
					t.Errorf("%s: class %d was clipped from %v to %v", kind, j, v, got.Weights[j])
				}
			}
			if total := floats.Dot(got.Weights, p.SourceDistribution); math.Abs(total-1) > 1e-14 {
				t.Errorf("%s: w·D_S = %v", kind, total)
			}
		}
	})
}

func TestMLLSGolden(t *testing.T) {
	weighttest.EachGolden(t, func(t *testing.T, g weighttest.Problem) {
		p := problem(t, sampleOf(t)(g.Rows()))
		checkMLLS(g, p, MLLS{}, "none/mlls/")
		if g.Name != "missing" { // a prior of 0
			checkMLLS(g, p, MLLS{Prior: p.SourceDistribution}, "none/mlls-labels/")
		}
	})
}

// checkMLLS compares the optimum with the golden one.
func checkMLLS(g weighttest.Problem, p Problem, settings MLLS, key string) {
	g.T.Helper()
	s, m, err := settings.solve(p)
	if err != nil {
		g.T.Errorf("%s: %v", key, err)
		return
	}
	got := m.estimate(s)
	g.Near("prior", m.prior, key+"prior", 1e-8)
	g.Near("target", got.TargetDistribution, key+"target", 1e-6)
	g.Near("weights", got.Weights, key+"weights", 1e-6)
	likelihood, factors := weighttest.Likelihood(p.Rows.Probabilities, nil, got.Weights, m.prior)
	g.Near("factors", factors, key+"em_factor", 1e-6)
	g.Near("likelihood", []float64{likelihood}, key+"log_likelihood", 1e-12)
	if !(s.violation < 1e-12) {
		g.T.Errorf("%s: violation %v", key, s.violation)
	}
}

// namesMissingClass tests the error of the golden problem "missing".
func namesMissingClass(t *testing.T, err error) {
	t.Helper()
	must.Fail(t, err, ErrMissingClass.Error(), "class 7")
}

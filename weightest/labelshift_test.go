package weightest

import (
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/golden"
)

var labelShift struct {
	once sync.Once
	file golden.File
}

// labelShiftFile returns the golden values of label shift, which are read once.
func labelShiftFile(t testing.TB) golden.File {
	t.Helper()
	labelShift.once.Do(func() { labelShift.file = golden.Open(t, "labelshift") })
	return labelShift.file
}

// shiftProblem is one of the golden problems.
type shiftProblem struct {
	t    testing.TB
	file golden.File
	name string
}

// eachShiftProblem runs a test on every golden problem.
func eachShiftProblem(t *testing.T, test func(*testing.T, shiftProblem)) {
	file := labelShiftFile(t)
	groups := file.Groups()
	if len(groups) != 9 {
		t.Fatalf("golden problems %v, want nine", groups)
	}
	for _, name := range groups {
		t.Run(name, func(t *testing.T) { test(t, shiftProblem{t, file, name}) })
	}
}

func (g shiftProblem) get(key string) []float64 {
	g.t.Helper()
	return g.file.Get(g.t, g.name+"/"+key).Data
}

func (g shiftProblem) classes() int { return len(g.get("source_label_distribution")) }

func (g shiftProblem) labels() []int {
	g.t.Helper()
	return g.file.Get(g.t, g.name+"/labels").Ints()
}

// sample returns the sample of the problem as the classifier gave it.
func (g shiftProblem) sample() *Sample {
	g.t.Helper()
	return g.sampleOf(softmaxRows(g.get("logits"), g.classes()), softmaxRows(g.get("target_logits"), g.classes()))
}

func (g shiftProblem) sampleOf(source, target []float64) *Sample {
	g.t.Helper()
	s := NewSample(g.classes())
	if err := s.AddSource(source, g.labels()); err != nil {
		g.t.Fatal(err)
	}
	if err := s.AddTarget(target); err != nil {
		g.t.Fatal(err)
	}
	return s
}

func softmaxRows(logits []float64, k int) []float64 {
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

// near reports values that differ from the golden ones by more than the tolerance,
// relative to the largest where that exceeds 1.
func (g shiftProblem) near(what string, got []float64, key string, tolerance float64) {
	g.t.Helper()
	want := g.get(key)
	d := largestDifference(got, want)
	if !(d <= tolerance*max(1, floats.Norm(want, math.Inf(1)))) {
		g.t.Errorf("%s differs from %s by %v: %v, want %v", what, key, d, got, want)
	}
}

func TestSampleGolden(t *testing.T) {
	eachShiftProblem(t, func(t *testing.T, g shiftProblem) {
		p := problem(t, g.sample())
		g.near("C", p.Confusion.RawMatrix().Data, "confusion_soft", 1e-15)
		g.near("hard C", p.Hard.Confusion.RawMatrix().Data, "confusion_hard", 1e-15)
		g.near("mu", p.TargetPredictions, "target_mean_soft", 1e-15)
		g.near("hard mu", p.Hard.TargetPredictions, "target_mean_hard", 1e-15)
		g.near("D_S", p.SourceDistribution, "source_label_distribution", 1e-15)
	})
}

// kinds are the two kinds of predictions, with the problem of each.
func kinds(t *testing.T, p Problem) map[string]Problem {
	t.Helper()
	onHard, err := p.OnHard()
	if err != nil {
		t.Fatal(err)
	}
	return map[string]Problem{"hard": onHard, "soft": p}
}

func TestBBSEGolden(t *testing.T) {
	eachShiftProblem(t, func(t *testing.T, g shiftProblem) {
		full := problem(t, g.sample())
		for kind, p := range kinds(t, full) {
			key := "none/bbse-" + kind + "/"
			if g.name == "missing" {
				_, err := BBSE(p, BBSESettings{})
				namesMissingClass(t, err)
				continue
			}
			got, err := BBSE(p, BBSESettings{})
			if err != nil {
				t.Fatal(err)
			}
			singular := g.get(key + "status")[0] == 1
			if singular != (got.Rank < p.Classes()) {
				t.Fatalf("%s: rank %d of %d, singular: %v", kind, got.Rank, p.Classes(), singular)
			}
			unscaled := slices.Clone(got.Weights)
			floats.Scale(1/got.Scale, unscaled)
			if singular {
				if want := g.get(key + "rank")[0]; float64(got.Rank) != want {
					t.Errorf("%s: rank %v, want %v", kind, got.Rank, want)
				}
				g.near(kind+": the shortest weights, unscaled", unscaled, key+"weights_pinv", 1e-8)
			} else {
				g.near(kind+": C⁻¹mu", got.Raw, key+"weights_raw", 1e-8)
				g.near(kind+": weights, unscaled", unscaled, key+"weights", 1e-8)
				g.near(kind+": condition number", []float64{got.ConditionNumber}, key+"condition", 1e-8)
			}
			for _, j := range got.Clipped {
				if !(got.Raw[j] < 0 && got.Weights[j] == 0) {
					t.Errorf("%s: class %d was clipped from %v to %v", kind, j, got.Raw[j], got.Weights[j])
				}
			}
			if total := floats.Dot(got.Weights, p.SourceDistribution); math.Abs(total-1) > 1e-14 {
				t.Errorf("%s: w·D_S = %v", kind, total)
			}
			for name, ridge := range map[string]float64{
				"weights_ridge_rlsbench": 1e-8,
				"weights_ridge_lipton":   1 / float64(min(full.SourceRows, full.TargetRows)),
			} {
				got, err := BBSE(p, BBSESettings{Ridge: ridge})
				if err != nil {
					t.Fatal(err)
				}
				g.near(kind+": ridge weights", got.Raw, key+name, 1e-8)
			}
		}
	})
}

// The golden optima for several ρ, and for the right-hand side with D_S in the place of
// the mean prediction.
func TestConeGolden(t *testing.T) {
	eachShiftProblem(t, func(t *testing.T, g shiftProblem) {
		for kind, p := range kinds(t, problem(t, g.sample())) {
			key := "none/rlls-" + kind + "/weights"
			b, labelled := make([]float64, p.Classes()), make([]float64, p.Classes())
			for i, mu := range p.TargetPredictions {
				b[i] = mu - floats.Sum(p.Confusion.RawRowView(i))
				labelled[i] = mu - p.SourceDistribution[i]
			}
			rho := g.get(key + "_rho")[0]
			for _, test := range []struct {
				variant string
				b       []float64
				rho     float64
			}{
				{"", b, rho}, {"_alpha_0.001", b, rho / 10}, {"_alpha_1", b, rho * 100}, {"_alpha_10", b, rho * 1000},
				{"_rlsbench", labelled, rho},
			} {
				got, err := solveCone(p.Confusion, test.b, test.rho)
				if err != nil {
					t.Fatal(err)
				}
				g.near(kind, got.Weights, key+test.variant, 1e-6)
				g.near(kind+": objective", []float64{got.Objective}, key+test.variant+"_objective", 1e-12)
				if !(math.Abs(got.DualityGap) < 1e-12) {
					t.Errorf("%s%s: duality gap %v", kind, test.variant, got.DualityGap)
				}
			}
		}
	})
}

func TestRLLSGolden(t *testing.T) {
	eachShiftProblem(t, func(t *testing.T, g shiftProblem) {
		for kind, p := range kinds(t, problem(t, g.sample())) {
			got, err := RLLS(p, RLLSSettings{})
			if g.name == "missing" {
				namesMissingClass(t, err)
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			key := "none/rlls-" + kind + "/weights"
			g.near(kind, got.Weights, key, 1e-6)
			g.near(kind+": ρ", []float64{got.Rho}, key+"_rho", 1e-15)
			smaller, err := RLLS(p, RLLSSettings{Alpha: 0.001})
			if err != nil {
				t.Fatal(err)
			}
			g.near(kind, smaller.Weights, key+"_alpha_0.001", 1e-6)
		}
	})
}

func TestMLLSGolden(t *testing.T) {
	eachShiftProblem(t, func(t *testing.T, g shiftProblem) {
		p := problem(t, g.sample())
		g.checkMLLS(p, MLLSSettings{}, "none/mlls/")
		if g.name != "missing" { // a prior of 0
			g.checkMLLS(p, MLLSSettings{Prior: p.SourceDistribution}, "none/mlls-labels/")
		}
	})
}

// checkMLLS compares the optimum with the golden one.
func (g shiftProblem) checkMLLS(p Problem, settings MLLSSettings, key string) {
	g.t.Helper()
	got, err := MLLS(p, settings)
	if err != nil {
		g.t.Errorf("%s: %v", key, err)
		return
	}
	g.near("prior", got.Prior, key+"prior", 1e-8)
	g.near("target", got.TargetDistribution, key+"target", 1e-6)
	g.near("weights", got.Weights, key+"weights", 1e-6)
	g.near("factors", got.Factors, key+"em_factor", 1e-6)
	g.near("likelihood", []float64{got.LogLikelihood}, key+"log_likelihood", 1e-12)
	if !(got.Violation < 1e-12) {
		g.t.Errorf("%s: violation %v after %d steps", key, got.Violation, got.Iterations)
	}
}

func TestCountsGolden(t *testing.T) {
	eachShiftProblem(t, func(t *testing.T, g shiftProblem) {
		p := problem(t, g.sample())
		for _, name := range []string{"cc", "pcc", "acc", "pacc"} {
			estimator, err := NewEstimator(name)
			if err != nil {
				t.Fatal(err)
			}
			got, err := estimator.Estimate(p)
			if g.name == "missing" {
				namesMissingClass(t, err)
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			adjusted := strings.HasSuffix(name, "acc")
			switch {
			case !adjusted:
				g.near(name, got.TargetDistribution, "quapy/"+name, 1e-14)
			case g.get("quapy/" + name + "_status")[0] == 0:
				g.near(name, got.TargetDistribution, "quapy/"+name, 1e-6)
			}
			if adjusted {
				// The reference stops short where there are several optima.
				distance, want := ratesDistance(g, name, got.TargetDistribution), g.get("quapy/" + name + "_distance")[0]
				if !(distance <= want+1e-12) {
					t.Errorf("%s: distance %v, want %v", name, distance, want)
				}
			}
			for j, q := range got.TargetDistribution {
				if math.Abs(got.Weights[j]*p.SourceDistribution[j]-q) > 1e-15 {
					t.Errorf("%s: class %d has weight %v and share %v", name, j, got.Weights[j], q)
				}
			}
		}
	})
}

// ratesDistance is ‖A q - counted‖ with the golden rates A.
func ratesDistance(g shiftProblem, name string, q []float64) float64 {
	k := g.classes()
	rates := g.get("quapy/" + name + "_rates")
	residual := slices.Clone(g.get("quapy/" + strings.Replace(name, "acc", "cc", 1)))
	for i := range residual {
		residual[i] -= floats.Dot(rates[i*k:(i+1)*k], q)
	}
	return floats.Norm(residual, 2)
}

// namesMissingClass tests the error of the golden problem "missing".
func namesMissingClass(t *testing.T, err error) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), ErrMissingClass.Error()) || !strings.Contains(err.Error(), "class 7") {
		t.Errorf("error %v, want one that names class 7", err)
	}
}

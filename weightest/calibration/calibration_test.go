package calibration

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/must"
	"iwda/weightest"
	"iwda/weightest/internal/panels"
	"iwda/weightest/internal/sampletest"
	"iwda/weightest/internal/weighttest"
)

// calibrationKeys are the golden calibrations: a form, and whether the logits are
// centred log-probabilities.
var calibrationKeys = []struct {
	key, form string
	centered  bool
}{
	{"none", "none", false},
	{"ts", "ts", false}, {"bcts", "bcts", false}, {"nbvs", "nbvs", false}, {"vs", "vs", false},
	{"ts", "ts", true}, {"bcts", "bcts", true},
	{"nbvs-centred", "nbvs", true}, {"vs-centred", "vs", true},
}

func TestCalibrateGolden(t *testing.T) {
	weighttest.EachGolden(t, func(t *testing.T, g weighttest.Problem) {
		k := g.Classes()
		for _, c := range calibrationKeys {
			logits, targetLogits := g.Get("logits"), g.Get("target_logits")
			if c.centered {
				logits, targetLogits = CenteredLogs(weighttest.Softmax(logits, k), k, 0), CenteredLogs(weighttest.Softmax(targetLogits, k), k, 0)
			}
			got, err := Calibrate(c.form, logits, g.Labels(), k)
			if g.Name == "missing" && (c.form == "bcts" || c.form == "vs") {
				if !errors.Is(err, weightest.ErrMissingClass) || !strings.Contains(err.Error(), "class 7") {
					t.Errorf("error %v, want one that names class 7", err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", c.key, err)
				continue
			}
			if g.Get(c.key + "/status")[0] == 2 {
				if got.Form == c.form || got.Note == "" {
					t.Errorf("%s has no optimum, but %s was fitted, %q", c.key, got.Form, got.Note)
				}
				t.Log(got.Note)
				continue
			}
			if got.Form != c.form || got.Note != "" {
				t.Errorf("%s: %s was fitted: %s", c.key, got.Form, got.Note)
				continue
			}
			t.Logf("%s: gradient %.2g", c.key, got.Gradient)
			checkCalibration(g, got, meanLogLoss(got, logits, g.Labels()), c.key)
			sample := sampletest.Of(t)(k, got.Probabilities(logits), g.Labels(), got.Probabilities(targetLogits))
			checkCalibrated(g, sample, c.key)
		}
	})
}

// checkCalibration compares the parameters and the loss with the golden ones.
func checkCalibration(g weighttest.Problem, got Calibration, loss float64, key string) {
	g.T.Helper()
	g.Near(key+": log-loss", []float64{loss}, key+"/nll", 1e-12)
	if key == "none" {
		return
	}
	switch got.Form {
	case "ts", "bcts":
		g.Near(key+": temperature", []float64{got.Temperature()}, key+"/temperature", 1e-6)
	default:
		g.Near(key+": scales", got.Scales, key+"/scales", 1e-6)
	}
	if got.Form == "bcts" || got.Form == "vs" {
		g.Near(key+": biases", got.Biases, key+"/biases", 1e-6)
		if sum := floats.Sum(got.Biases); math.Abs(sum) > 1e-12 {
			g.T.Errorf("%s: biases sum to %v", key, sum)
		}
	}
	if !(got.Gradient < 1e-10) {
		g.T.Errorf("%s: gradient %v", key, got.Gradient)
	}
}

// checkCalibrated compares the estimators on calibrated rows with the golden ones.
func checkCalibrated(g weighttest.Problem, s *weightest.Sample, key string) {
	g.T.Helper()
	k := g.Classes()
	p := must.Have(s.Problem())(g.T)
	g.Near(key+": first rows", s.Target()[:5*k], key+"/posterior", 1e-6)
	if g.Name != "missing" {
		if got, err := (weightest.BBSE{}).Estimate(p); err != nil {
			g.T.Errorf("%s: %v", key, err)
		} else {
			g.Near(key+": bbse", got.Raw, key+"/bbse-soft/weights_raw", 1e-6)
		}
	}
	checkMLLS(g, p, weightest.MLLS{}, key+"/mlls/")
	if key == "bcts" {
		checkMLLS(g, p, weightest.MLLS{Prior: p.SourceDistribution}, key+"/mlls-labels/")
	}
	estimate, err := weightest.MLLS{}.Estimate(p)
	if err != nil {
		g.T.Fatal(err)
	}
	corrected, err := weightest.Correct(s.Target()[:5*k], estimate.TargetDistribution, priorOf(weightest.MLLS{}, p))
	if err != nil {
		g.T.Fatal(err)
	}
	g.Near(key+": corrected rows", corrected, key+"/mlls/corrected", 1e-6)
}

// checkMLLS compares the optimum with the golden one.
func checkMLLS(g weighttest.Problem, p weightest.Problem, settings weightest.MLLS, key string) {
	g.T.Helper()
	got, err := settings.Estimate(p)
	if err != nil {
		g.T.Errorf("%s: %v", key, err)
		return
	}
	prior := priorOf(settings, p)
	g.Near("prior", prior, key+"prior", 1e-8)
	g.Near("target", got.TargetDistribution, key+"target", 1e-6)
	g.Near("weights", got.Weights, key+"weights", 1e-6)
	likelihood, factors := weighttest.Likelihood(p.Rows.Probabilities, nil, got.Weights, prior)
	g.Near("factors", factors, key+"em_factor", 1e-6)
	g.Near("likelihood", []float64{likelihood}, key+"log_likelihood", 1e-12)
	for j, q := range got.TargetDistribution {
		if d := math.Abs(q - got.Weights[j]*prior[j]); !(d < 1e-12) {
			g.T.Errorf("%s: class %d has share %v, weight %v and prior %v", key, j, q, got.Weights[j], prior[j])
		}
		if violation := factors[j] - 1; !(violation < 1e-12) || q > 0 && !(violation > -1e-12) {
			g.T.Errorf("%s: class %d with share %v has the factor 1%+.2g", key, j, q, violation)
		}
	}
}

// priorOf returns the prior of MLLS on the problem.
func priorOf(settings weightest.MLLS, p weightest.Problem) []float64 {
	prior := slices.Clone(settings.Prior)
	if prior == nil {
		prior = make([]float64, p.Classes())
		for i := range prior {
			prior[i] = floats.Sum(p.Confusion.RawRowView(i))
		}
	}
	floats.Scale(1/floats.Sum(prior), prior)
	return prior
}

func TestCalibrateErrors(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 1))
	logits, labels := randomLogits(r, 60, 3)
	for i, label := range labels {
		if label == 1 {
			labels[i] = 2
		}
	}
	for _, form := range []string{"bcts", "vs"} {
		if _, err := Calibrate(form, logits, labels, 3); !errors.Is(err, weightest.ErrMissingClass) || !strings.Contains(err.Error(), "class 1") {
			t.Errorf("%s without class 1: error %v", form, err)
		}
	}
	for _, form := range []string{"none", "ts", "nbvs"} {
		if got, err := Calibrate(form, logits, labels, 3); err != nil || got.Form != form {
			t.Errorf("%s without class 1: %s, error %v", form, got.Form, err)
		}
	}
	must.Refuse(Calibrate("platt", logits, labels, 3))(t, "none, ts, bcts, bcts-ridge, nbvs, vs")
	if _, err := Calibrate("ts", nil, nil, 3); !errors.Is(err, weightest.ErrNoStatistics) {
		t.Errorf("no rows: error %v", err)
	}
	labels[5] = 3
	if _, err := Calibrate("ts", logits, labels, 3); !errors.Is(err, weightest.ErrInvalidRow) || !strings.Contains(err.Error(), "row 5") {
		t.Errorf("label 3: error %v", err)
	}
	labels[5], logits[13] = 0, math.Inf(1)
	if _, err := Calibrate("ts", logits, labels, 3); !errors.Is(err, weightest.ErrInvalidRow) || !strings.Contains(err.Error(), "row 4 gives class 1") {
		t.Errorf("an infinite logit: error %v", err)
	}
}

func TestCalibrateOneClass(t *testing.T) {
	for _, form := range Names() {
		got, err := Calibrate(form, []float64{3, -1}, []int{0, 0}, 1)
		if err != nil || !slices.Equal(got.Probabilities([]float64{5}), []float64{1}) {
			t.Errorf("%s: %+v, error %v", form, got, err)
		}
	}
}

func TestCenteredLogs(t *testing.T) {
	got := CenteredLogs([]float64{0.5, 0.5, 1, 0}, 2, 0)
	half := math.Log(probabilityFloor) / 2
	if d := weighttest.LargestDifference(got, []float64{0, 0, -half, half}); d > 1e-13 {
		t.Errorf("logs %v", got)
	}
}

// TestCalibratedSample compares with the softmax of each row by itself: for numbers of rows
// and classes that fill panels and registers, and that do not.
func TestCalibratedSample(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 1))
	for _, k := range []int{1, 2, 3, 7, 12} {
		for _, rows := range []int{1, 5, panels.Height, panels.Height + 3} {
			c := Calibration{Scales: make([]float64, k), Biases: make([]float64, k)}
			for j := range k {
				c.Scales[j], c.Biases[j] = 0.5+r.Float64(), r.NormFloat64()
			}
			source, target, labels := make([]float64, rows*k), make([]float64, rows*k), make([]int, rows)
			for i := range source {
				source[i], target[i] = 20*r.NormFloat64(), 800*r.NormFloat64()
			}
			s := must.Have(weightest.SampleOf(k, c.Probabilities(source), labels, c.Probabilities(target)))(t)
			for domain, logits := range map[string][]float64{"source": source, "target": target} {
				got := s.Target()
				if domain == "source" {
					got, _ = s.Source()
				}
				want := make([]float64, k)
				for i := range rows {
					for j := range k {
						want[j] = c.Scales[j]*logits[i*k+j] + c.Biases[j]
					}
					total := floats.LogSumExp(want)
					for j := range k {
						if p := math.Exp(want[j] - total); !(math.Abs(got[i*k+j]-p) <= 1e-12*p+1e-300) {
							t.Fatalf("%d classes, %s row %d of %d, class %d: %v, want %v", k, domain, i, rows, j, got[i*k+j], p)
						}
					}
				}
			}
			target[len(target)-1] = math.NaN()
			if _, err := weightest.SampleOf(k, c.Probabilities(source), labels, c.Probabilities(target)); !errors.Is(err, weightest.ErrInvalidRow) || !strings.Contains(err.Error(), fmt.Sprintf("target row %d", rows-1)) {
				t.Errorf("%d classes, %d rows, the last with NaN: %v", k, rows, err)
			}
			labels[0] = k
			if _, err := weightest.SampleOf(k, c.Probabilities(source), labels, c.Probabilities(source)); !errors.Is(err, weightest.ErrInvalidRow) {
				t.Errorf("a label beyond %d classes: %v", k, err)
			}
		}
	}
}

package main

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/golden"
	"iwda/weightest"
	"iwda/weightest/calibration"
)

// The golden weights and optima for several ρ, and for the right-hand side with the source's shares in the
// place of the mean prediction.
func TestRLLSGolden(t *testing.T) {
	file := golden.Open(t, "labelshift")
	near := func(what string, got, want []float64, tolerance float64) {
		t.Helper()
		if d := floats.Distance(got, want, math.Inf(1)); !(d <= tolerance*max(1, floats.Norm(want, math.Inf(1)))) {
			t.Errorf("%s differ by %v: %v, want %v", what, d, got, want)
		}
	}
	for _, name := range file.Groups() {
		get := func(key string) []float64 { return file.Get(t, name+"/"+key).Data }
		k := len(get("source_label_distribution"))
		identity := calibration.Identity(k)
		sample, err := weightest.SampleOf(k, identity.Probabilities(get("logits")), file.Get(t, name+"/labels").Ints(), identity.Probabilities(get("target_logits")))
		if err != nil {
			t.Fatal(err)
		}
		soft, err := sample.Problem()
		if err != nil {
			t.Fatal(err)
		}
		hard, err := soft.OnHard()
		if err != nil {
			t.Fatal(err)
		}
		for kind, p := range map[string]weightest.Problem{"soft": soft, "hard": hard} {
			key := "none/rlls-" + kind + "/weights"
			rho := get(key + "_rho")[0]
			labelled := make([]float64, k)
			floats.SubTo(labelled, p.TargetPredictions, p.SourceDistribution)
			for _, test := range []struct {
				variant string
				b       []float64
				rho     float64
			}{
				{"", unexplained(p), rho}, {"_alpha_0.001", unexplained(p), rho / 10}, {"_alpha_1", unexplained(p), rho * 100},
				{"_alpha_10", unexplained(p), rho * 1000}, {"_rlsbench", labelled, rho},
			} {
				got, err := solveCone(p.Confusion, test.b, test.rho)
				if err != nil {
					t.Fatal(err)
				}
				near(name+"/"+key+test.variant, got.raw, get(key+test.variant), 1e-6)
				if !(math.Abs(got.gap) < 1e-12) {
					t.Errorf("%s/%s%s: duality gap %v", name, key, test.variant, got.gap)
				}
			}
			near(name+": ρ", []float64{rllsRho(k, p.SourceRows)}, []float64{rho}, 1e-15)
			got, err := rlls{}.Estimate(p)
			if (err == nil) == (name == "missing") {
				t.Errorf("%s: %v", name, err)
			} else if err == nil {
				near(name+": weights", got.Raw, get(key), 1e-6)
			}
		}
	}
}
